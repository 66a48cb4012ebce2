#include "solvers/dense_eigen.hpp"

// Small matrices are not worth a team of threads.
#define EIGEN_DONT_PARALLELIZE
#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <Eigen/QR>
#include <algorithm>
#include <cmath>
#include <complex>
#include <lanky/error.hpp>
#include <limits>

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

/// The spectrum of H x = lambda B x, B positive definite.
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
RitzStep<W> ritz_step(const Spectrum<W>& all, std::int64_t b, EigenEnd end,
                      const std::vector<std::int32_t>& active) {
  const auto size = static_cast<std::int64_t>(all.values.size());
  Dense<W> v = map(all.vectors);
  std::vector<double> values = all.values;
  if (end == EigenEnd::largest) {
    v = v.rowwise().reverse().eval();
    std::reverse(values.begin(), values.end());
  }
  const auto p = std::min<std::int64_t>(static_cast<std::int64_t>(active.size()), size - b);
  RitzStep<W> step;
  step.x = small<W>(v.leftCols(b));
  if (p == 0) return step;
  const auto rest = v.rightCols(size - b);
  Dense<W> steps(size - b, p);
  for (std::int64_t j = 0; j < p; ++j) {
    const std::int32_t column = active[static_cast<std::size_t>(j)];
    // Columns of V are orthogonal, so that what X's rows leave out is less its product.
    steps.col(j).noalias() = rest.topRows(b).adjoint() * v.col(column).head(b);
    const double length = steps.col(j).norm();
    if (length > std::numeric_limits<double>::min()) steps.col(j) /= length;
  }
  // Householder reflections make Q orthonormal to rounding, however dependent the steps are.
  const Eigen::HouseholderQR<Dense<W>> qr(steps);
  const Dense<W> q = qr.householderQ() * Dense<W>::Identity(size - b, p);
  step.p = small<W>(rest * q);
  const Eigen::Map<const Eigen::VectorXd> others(values.data() + b, size - b);
  step.p_gram = small<W>(q.adjoint() * (others.template cast<W>().asDiagonal() * q));
  return step;
}

#define LANKY_INSTANTIATE(W)                                                           \
  template Spectrum<W> self_adjoint_eigen(const SmallMatrix<W>&);                      \
  template void check_self_adjoint(const SmallMatrix<W>&, double, const char*);        \
  template Spectrum<W> constrained_eigen(const SmallMatrix<W>&, const SmallMatrix<W>&, \
                                         const SmallMatrix<W>&);                       \
  template RitzStep<W> ritz_step(const Spectrum<W>&, std::int64_t, EigenEnd,           \
                                 const std::vector<std::int32_t>&);
LANKY_INSTANTIATE(double)
LANKY_INSTANTIATE(std::complex<double>)
#undef LANKY_INSTANTIATE

}  // namespace lanky::solvers
