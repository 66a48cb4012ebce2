// The kernels of dense_kernels.hpp by Eigen, for the instruction set that a source is compiled for,
// which defines LANKY_ISA. Eigen's own namespace has another name in each, so that no code of a
// wider set is taken for that of a narrower one.
#pragma once

#define EIGEN_DONT_PARALLELIZE
#include <Eigen/Eigenvalues>
#include <Eigen/QR>
#include <limits>

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
  const std::int64_t others = o.size - o.b;
  const ConstMapOf<W> v(o.vectors, o.size, o.size);
  MapOf<W> x(o.x, o.size, o.b);
  if (o.reversed) {
    x = v.rightCols(o.b).rowwise().reverse();
  } else {
    x = v.leftCols(o.b);
  }
  if (o.p == 0) return;
  const auto rest = v.middleCols(o.reversed ? 0 : o.b, others);
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
  const Dense<W> q = qr.householderQ() * Dense<W>::Identity(others, o.p);
  MapOf<W>(o.steps, o.size, o.p).noalias() = rest * q;
  const Eigen::Map<const Eigen::VectorXd> of_rest(o.values + (o.reversed ? 0 : o.b), others);
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

}  // namespace

template <class W>
const DenseKernels<W>& dense_kernels() {
  static constexpr DenseKernels<W> kKernels{self_adjoint<W>, ritz_step<W>, gram_with<W>,
                                            coefficients_without<W>};
  return kKernels;
}
template const DenseKernels<double>& dense_kernels();
template const DenseKernels<std::complex<double>>& dense_kernels();

}  // namespace lanky::solvers::LANKY_ISA
