// The kernels of dense_kernels.hpp by Eigen, for the instruction set that a source is compiled for,
// which defines LANKY_ISA. Eigen's own namespace has another name in each, so that no code of a
// wider set is taken for that of a narrower one.
#pragma once

#include <Eigen/Eigenvalues>
#include <Eigen/QR>
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "solvers/dense_kernels.hpp"

namespace lanky::solvers::LANKY_ISA {

namespace {

template <class W>
using Dense = Eigen::Matrix<W, Eigen::Dynamic, Eigen::Dynamic>;
template <class W>
using MapOf = Eigen::Map<Dense<W>>;
template <class W>
using ConstMapOf = Eigen::Map<const Dense<W>>;

template <class W>
bool self_adjoint(std::int64_t n, const W* h, double* values, W* vectors) {
  // Eigen reads the lower triangle.
  const Eigen::SelfAdjointEigenSolver<Dense<W>> solver(ConstMapOf<W>(h, n, n).adjoint());
  if (solver.info() != Eigen::Success) return false;
  Eigen::Map<Eigen::VectorXd>(values, n) = solver.eigenvalues();
  MapOf<W>(vectors, n, n) = solver.eigenvectors();
  return true;
}

template <class W>
void ritz_step(const RitzOperands<W>& o) {
  const ConstMapOf<W> v(o.vectors, o.size, o.size);
  MapOf<W> x(o.x, o.size, o.b);
  if (o.reversed) {
    x = v.rightCols(o.b).rowwise().reverse();
  } else {
    x = v.leftCols(o.b);
  }
  if (o.p == 0) return;
  const std::int64_t first = o.reversed ? 0 : o.size - o.others;
  const auto rest = v.middleCols(first, o.others);
  Dense<W> wanted(o.b, o.p);
  for (std::int64_t j = 0; j < o.p; ++j)
    wanted.col(j) = x.col(o.active[j]).head(o.b);
  // Columns of V are orthogonal, so that what X's rows leave out is less its product.
  Dense<W> steps = rest.topRows(o.b).adjoint() * wanted;
  for (std::int64_t j = 0; j < o.p; ++j) {
    const double length = steps.col(j).norm();
    if (length > std::numeric_limits<double>::min()) steps.col(j) /= length;
  }
  // Householder reflections make Q orthonormal to rounding, however dependent the steps are.
  const Eigen::HouseholderQR<Dense<W>> qr(steps);
  const Dense<W> q = qr.householderQ() * Dense<W>::Identity(o.others, o.p);
  MapOf<W>(o.steps, o.size, o.p).noalias() = rest * q;
  const Eigen::Map<const Eigen::VectorXd> of_rest(o.values + first, o.others);
  MapOf<W>(o.gram, o.p, o.p) = q.adjoint() * (of_rest.template cast<W>().asDiagonal() * q);
}

template <class W>
void gram_with(const UnmadeBlock<W>& block, W* h) {
  const std::int64_t q = block.size - block.w;
  const ConstMapOf<W> c(block.c, block.size, block.w);
  MapOf<W> all(h, block.size, block.size);
  const auto rest = all.topRightCorner(q, block.w);
  const Dense<W> square =
      all.bottomRightCorner(block.w, block.w).template selfadjointView<Eigen::Upper>();
  const Dense<W> above =
      all.topLeftCorner(q, q).template selfadjointView<Eigen::Upper>() * c.topRows(q) +
      rest * c.bottomRows(block.w);
  const Dense<W> below = rest.adjoint() * c.topRows(q) + square * c.bottomRows(block.w);
  all.topRightCorner(q, block.w) = above;
  all.bottomRightCorner(block.w, block.w) =
      c.topRows(q).adjoint() * above + c.bottomRows(block.w).adjoint() * below;
}

template <class W>
void coefficients_without(const UnmadeBlock<W>& block, std::int64_t cols, W* x) {
  const std::int64_t q = block.size - block.w;
  const ConstMapOf<W> c(block.c, block.size, block.w);
  MapOf<W> all(x, block.size, cols);
  const Dense<W> of_w = all.bottomRows(block.w);
  all.topRows(q).noalias() += c.topRows(q) * of_w;
  all.bottomRows(block.w).noalias() = c.bottomRows(block.w) * of_w;
}

// Eigen's BDCSVD reads beyond its arrays where singular values are equal (Eigen 3.4.0), and the
// rotations of its JacobiSVD are slow and add up to hundreds of roundings.
//
// With V of A^H A = V diag(s^2) V^H, columns of A V are orthogonal to about u s_1^2, and A V = U R
// with a nearly diagonal R: |r_ij| is about u s_1^2 / s_i. So the large singular values are
// accurate. The lower right of R, which belongs to the small ones, is a matrix of its own norm, and
// is treated the same way.
template <class W>
bool svd(std::int64_t n, const W* a, double* values, W* left, W* right) {
  constexpr double kLarge = 1.0 / 16;  // of a matrix' norm, what is taken from its R
  constexpr double kNone = 1e-18;      // of the norm of A, what counts as zero
  Dense<W> rest = ConstMapOf<W>(a, n, n);
  Dense<W> u = Dense<W>::Identity(n, n);
  Dense<W> v = u;
  Eigen::VectorXd found = Eigen::VectorXd::Zero(n);
  double norm = 0;
  for (Eigen::Index first = 0; first < n;) {
    const Eigen::Index size = n - first;
    const double largest = rest.cwiseAbs().maxCoeff();
    norm = std::max(norm, largest);
    if (!(largest > kNone * norm)) break;
    rest /= largest;  // squares neither overflow nor vanish
    const Eigen::SelfAdjointEigenSolver<Dense<W>> squares(rest.adjoint() * rest);
    if (squares.info() != Eigen::Success) return false;
    const Dense<W> turned = squares.eigenvectors().rowwise().reverse();
    const Eigen::HouseholderQR<Dense<W>> qr(rest * turned);
    const Dense<W> r = qr.matrixQR().template triangularView<Eigen::Upper>();
    u.rightCols(size) = u.rightCols(size) * qr.householderQ();
    v.rightCols(size) = (v.rightCols(size) * turned).eval();
    Eigen::Index taken = 0;
    do {
      const double value = std::real(r(taken, taken));
      found(first + taken) = largest * std::abs(value);
      if (value < 0) u.col(first + taken) *= -1;
      ++taken;
    } while (taken < size && std::abs(r(taken, taken)) > kLarge * std::abs(r(0, 0)));
    rest = largest * r.bottomRightCorner(size - taken, size - taken);
    first += taken;
  }
  std::vector<Eigen::Index> order(static_cast<std::size_t>(n));
  std::iota(order.begin(), order.end(), Eigen::Index{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](Eigen::Index i, Eigen::Index j) { return found(i) > found(j); });
  for (Eigen::Index j = 0; j < n; ++j) {
    const Eigen::Index from = order[static_cast<std::size_t>(j)];
    values[j] = found(from);
    MapOf<W>(left, n, n).col(j) = u.col(from);
    MapOf<W>(right, n, n).col(j) = v.col(from);
  }
  return true;
}

}  // namespace

template <class W>
const DenseKernels<W>& dense_kernels() {
  static constexpr DenseKernels<W> kKernels{self_adjoint<W>, ritz_step<W>, gram_with<W>,
                                            coefficients_without<W>, svd<W>};
  return kKernels;
}
template const DenseKernels<double>& dense_kernels();
template const DenseKernels<std::complex<double>>& dense_kernels();

}  // namespace lanky::solvers::LANKY_ISA
