#include "solvers/dense_eigen.hpp"

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <Eigen/QR>
#include <algorithm>
#include <cmath>
#include <complex>
#include <lanky/error.hpp>
#include <limits>

#include "core/text.hpp"
#include "solvers/dense_kernels.hpp"

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
  if (solver.info() != Eigen::Success) refuse_no_convergence();
  const auto& values = solver.eigenvalues();
  return {{values.data(), values.data() + values.size()}, small<W>(solver.eigenvectors())};
}

/// The spectrum of H x = lambda B x, from that of B x = mu H x: lambda is infinite where mu is 0.
template <class W>
Spectrum<W> reversed_eigen(const Dense<W>& h, const Dense<W>& b) {
  if (Eigen::LLT<Dense<W>>(h).info() != Eigen::Success) {
    throw Error(ErrorCode::invalid_argument,
                "B is not positive definite but singular, and A is not positive definite");
  }
  const Eigen::GeneralizedSelfAdjointEigenSolver<Dense<W>> solver(b, h);
  Spectrum<W> turned = spectrum<W>(solver);
  std::reverse(turned.values.begin(), turned.values.end());
  Dense<W> vectors = map(turned.vectors).rowwise().reverse();
  const double least = static_cast<double>(h.rows()) * std::numeric_limits<double>::epsilon() *
                       std::abs(turned.values.front());
  for (std::size_t j = 0; j < turned.values.size(); ++j) {
    double& value = turned.values[j];
    if (value > least) vectors.col(static_cast<Eigen::Index>(j)) /= std::sqrt(value);
    value = value > least ? 1 / value : std::numeric_limits<double>::infinity();
  }
  turned.vectors = small<W>(vectors);
  return turned;
}

/// The spectrum of H x = lambda B x, B positive definite, or H so and B semidefinite.
template <class W>
Spectrum<W> pencil_eigen(const Dense<W>& h, const Dense<W>& b) {
  if (Eigen::LLT<Dense<W>>(b).info() == Eigen::Success)
    return spectrum<W>(Eigen::GeneralizedSelfAdjointEigenSolver<Dense<W>>(h, b));
  const auto values =
      Eigen::SelfAdjointEigenSolver<Dense<W>>(b, Eigen::EigenvaluesOnly).eigenvalues();
  const double least = values(0);
  const double rounding = static_cast<double>(b.rows()) * std::numeric_limits<double>::epsilon() *
                          std::abs(values(b.rows() - 1));
  if (!(least >= -rounding)) {
    throw Error(ErrorCode::invalid_argument,
                concat("B is not positive definite: its least eigenvalue is ", least));
  }
  return reversed_eigen<W>(h, b);
}

}  // namespace

template <class W>
Spectrum<W> self_adjoint_eigen(const SmallMatrix<W>& h) {
  const std::int64_t n = h.rows();
  Spectrum<W> spectrum{std::vector<double>(static_cast<std::size_t>(n)), {n, n}};
  if (n == 0) return spectrum;
  if (!dense_kernels<W>().self_adjoint(n, h.data(), spectrum.values.data(),
                                       spectrum.vectors.data())) {
    refuse_no_convergence();
  }
  return spectrum;
}

template <class W>
void check_self_adjoint(const SmallMatrix<W>& h, double roundoff, const char* name, double norm) {
  constexpr double kFarBelow = 0.01;
  double largest = kFarBelow * norm;
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
RitzStep<W> ritz_step(const Spectrum<W>& all, std::int64_t b, std::int64_t others, EigenEnd end,
                      std::span<const std::int32_t> active) {
  const auto size = static_cast<std::int64_t>(all.values.size());
  const auto p = static_cast<std::int64_t>(active.size());
  RitzStep<W> step{{size, b}, {size, p}, {p, p}};
  dense_kernels<W>().ritz_step({.size = size,
                                .b = b,
                                .others = others,
                                .p = p,
                                .reversed = end == EigenEnd::largest,
                                .active = active.data(),
                                .values = all.values.data(),
                                .vectors = all.vectors.data(),
                                .x = step.x.data(),
                                .steps = step.p.data(),
                                .gram = step.p_gram.data()});
  return step;
}

template <class W>
void gram_with(const SmallMatrix<W>& c, SmallMatrix<W>& h) {
  dense_kernels<W>().gram_with({c.rows(), c.cols(), c.data()}, h.data());
}

template <class W>
void coefficients_without(const SmallMatrix<W>& c, SmallMatrix<W>& x) {
  dense_kernels<W>().coefficients_without({c.rows(), c.cols(), c.data()}, x.cols(), x.data());
}

#define LANKY_INSTANTIATE(W)                                                               \
  template Spectrum<W> self_adjoint_eigen(const SmallMatrix<W>&);                          \
  template void check_self_adjoint(const SmallMatrix<W>&, double, const char*, double);    \
  template Spectrum<W> constrained_eigen(const SmallMatrix<W>&, const SmallMatrix<W>&,     \
                                         const SmallMatrix<W>&);                           \
  template RitzStep<W> ritz_step(const Spectrum<W>&, std::int64_t, std::int64_t, EigenEnd, \
                                 std::span<const std::int32_t>);                           \
  template void gram_with(const SmallMatrix<W>&, SmallMatrix<W>&);                         \
  template void coefficients_without(const SmallMatrix<W>&, SmallMatrix<W>&);
LANKY_INSTANTIATE(double)
LANKY_INSTANTIATE(std::complex<double>)
#undef LANKY_INSTANTIATE

}  // namespace lanky::solvers
