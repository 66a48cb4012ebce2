#include "solvers/dense_eigen.hpp"

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <Eigen/QR>
#include <algorithm>
#include <cmath>
#include <complex>
#include <lanky/error.hpp>

#include "core/text.hpp"

namespace lanky::solvers {

namespace {

template <class W>
using Dense = Eigen::Matrix<W, Eigen::Dynamic, Eigen::Dynamic>;

template <class W>
Eigen::Map<const Dense<W>> map(const SmallMatrix<W>& matrix) {
  return {matrix.data(), matrix.rows(), matrix.cols()};
}

template <class W>
SmallMatrix<W> small(const Dense<W>& dense) {
  SmallMatrix<W> matrix(dense.rows(), dense.cols());
  std::copy_n(dense.data(), dense.size(), matrix.data());
  return matrix;
}

/// Eigen reads the lower triangle.
template <class W>
Spectrum<W> spectrum(const Eigen::SelfAdjointEigenSolver<Dense<W>>& solver) {
  if (solver.info() != Eigen::Success) {
    throw Error(ErrorCode::device, "the QR iteration of a small eigenproblem did not converge");
  }
  const auto& values = solver.eigenvalues();
  return {{values.data(), values.data() + values.size()}, small<W>(solver.eigenvectors())};
}

/// Of H x = lambda B x, B positive definite.
template <class W>
Spectrum<W> pencil_eigen(const Dense<W>& h, const Dense<W>& b) {
  const Eigen::GeneralizedSelfAdjointEigenSolver<Dense<W>> solver(h, b);
  return spectrum<W>(solver);
}

}  // namespace

template <class W>
Spectrum<W> self_adjoint_eigen(const SmallMatrix<W>& h) {
  if (h.rows() == 0) return {};
  return spectrum<W>(Eigen::SelfAdjointEigenSolver<Dense<W>>(map(h).adjoint()));
}

template <class W>
void check_self_adjoint(const SmallMatrix<W>& h, double roundoff, const char* name) {
  double largest = 0;
  for (std::int64_t j = 0; j < h.cols(); ++j) {
    for (std::int64_t i = 0; i < h.rows(); ++i) {
      const double size = std::abs(h(i, j));
      if (!std::isfinite(size)) {
        throw Error(ErrorCode::invalid_argument,
                    concat("products with ", name, " have elements that are NaN or Inf"));
      }
      largest = std::max(largest, size);
    }
  }
  for (std::int64_t j = 0; j < h.cols(); ++j) {
    for (std::int64_t i = 0; i < j; ++i) {
      if (std::abs(h(i, j) - Eigen::numext::conj(h(j, i))) <= std::sqrt(roundoff) * largest)
        continue;
      throw Error(ErrorCode::invalid_argument,
                  concat(name, " is not self-adjoint (symmetric, Hermitian): x^H ", name, " y is ",
                         h(i, j), ", and y^H ", name, " x is ", h(j, i)));
    }
  }
}

template <class W>
Spectrum<W> constrained_eigen(const SmallMatrix<W>& a, const SmallMatrix<W>& b,
                              const SmallMatrix<W>& y) {
  if (b.rows() > 0 && Eigen::LLT<Dense<W>>(map(b)).info() != Eigen::Success) {
    const double least = self_adjoint_eigen(b).values.front();
    throw Error(ErrorCode::invalid_argument,
                concat("B is not positive definite: its least eigenvalue is ", least));
  }
  if (y.cols() == 0) return b.rows() == 0 ? self_adjoint_eigen(a) : pencil_eigen<W>(map(a), map(b));
  // Z spans what is orthogonal to B Y.
  const Dense<W> by = b.rows() == 0 ? Dense<W>(map(y)) : Dense<W>(map(b) * map(y));
  const Eigen::ColPivHouseholderQR<Dense<W>> qr(by);
  const std::int64_t rest = a.rows() - qr.rank();
  const Dense<W> q = qr.householderQ();
  const Dense<W> z = q.rightCols(rest);
  const Dense<W> reduced = z.adjoint() * map(a) * z;
  const Dense<W> mass =
      b.rows() == 0 ? Dense<W>(Dense<W>::Identity(rest, rest)) : Dense<W>(z.adjoint() * map(b) * z);
  Spectrum<W> spectrum = pencil_eigen<W>(reduced, mass);
  spectrum.vectors = small<W>(z * map(spectrum.vectors));
  return spectrum;
}

template <class W>
RitzStep<W> ritz_step(const SmallMatrix<W>& h, std::int64_t b, EigenEnd end) {
  const Spectrum<W> all = self_adjoint_eigen(h);
  const auto size = static_cast<std::int64_t>(all.values.size());
  RitzStep<W> step;
  step.norm = std::max(std::abs(all.values.front()), std::abs(all.values.back()));
  step.x = SmallMatrix<W>(size, b);
  for (std::int64_t j = 0; j < b; ++j) {
    const std::int64_t from = end == EigenEnd::smallest ? j : size - 1 - j;
    step.values.push_back(all.values[static_cast<std::size_t>(from)]);
    std::copy_n(&all.vectors(0, from), size, &step.x(0, j));
  }
  return step;
}

template <class W>
void add_directions(const SmallMatrix<W>& h, const std::vector<std::int32_t>& active,
                    RitzStep<W>& step) {
  const std::int64_t size = step.x.rows();
  const std::int64_t b = step.x.cols();
  const auto count = std::min<std::int64_t>(static_cast<std::int64_t>(active.size()), size - b);
  // Householder reflections make Q orthonormal to rounding, however short or dependent the
  // directions are; where they are dependent, Q has others of the basis.
  Dense<W> columns(size, b + count);
  columns.leftCols(b) = map(step.x);
  for (std::int64_t j = 0; j < count; ++j) {
    auto direction = columns.col(b + j);
    direction = columns.col(active[static_cast<std::size_t>(j)]);
    direction.head(b).setZero();
    const double length = direction.norm();
    if (length > 0) direction /= length;
  }
  const Eigen::HouseholderQR<Dense<W>> qr(columns);
  Dense<W> q = qr.householderQ() * Dense<W>::Identity(size, b + count);
  const Dense<W> p = q.rightCols(count);
  step.p = small<W>(p);
  const Dense<W> full = map(h).template selfadjointView<Eigen::Upper>();
  step.p_gram = small<W>(p.adjoint() * (full * p));
}

#define LANKY_INSTANTIATE(W)                                                            \
  template Spectrum<W> self_adjoint_eigen(const SmallMatrix<W>&);                       \
  template void check_self_adjoint(const SmallMatrix<W>&, double, const char*);         \
  template Spectrum<W> constrained_eigen(const SmallMatrix<W>&, const SmallMatrix<W>&,  \
                                         const SmallMatrix<W>&);                        \
  template RitzStep<W> ritz_step(const SmallMatrix<W>&, std::int64_t, EigenEnd);        \
  template void add_directions(const SmallMatrix<W>&, const std::vector<std::int32_t>&, \
                               RitzStep<W>&);
LANKY_INSTANTIATE(double)
LANKY_INSTANTIATE(std::complex<double>)
#undef LANKY_INSTANTIATE

}  // namespace lanky::solvers
