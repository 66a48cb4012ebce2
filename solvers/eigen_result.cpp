#include "solvers/eigen_result.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <lanky/dtype.hpp>
#include <limits>
#include <utility>

#include "solvers/products.hpp"

namespace lanky::solvers {

template <class T>
double tolerance_of(const EigenOptions& options) {
  if (options.tolerance > 0) return options.tolerance;
  return sizeof(RealOf<T>) == sizeof(double) ? 1e-8 : 1e-4;
}

template <class T>
EigenResult<T> make_result(const Stream& stream, const EigenProblem<T>& problem,
                           const EigenOptions& options, BlockWork<T>& work,
                           Constraints<T>& constraints, const std::vector<double>& values,
                           MatrixView<const T> vectors, double norm) {
  const std::int64_t n = vectors.rows;
  const std::int64_t k = vectors.cols;
  EigenResult<T> result(stream, n, k, options.allocator);
  result.values.assign(values.begin(), values.begin() + k);
  result.norm = norm;
  work.prepare(k);
  const MatrixView<T> x = result.vectors.view();
  work.combine(1, vectors, 0, x);
  Matrix<T> ax(stream, n, k, Layout::row, 0, options.allocator);
  problem.a.apply(stream, x, ax);
  constraints.project(ax.view());
  Matrix<T> bx(stream, problem.b ? n : 0, k, Layout::row, 0, options.allocator);
  if (problem.b) problem.b.apply(stream, x, bx);
  auto theta = Buffer<double>::from(stream, result.values, options.allocator);
  auto nowhere = Buffer<std::int32_t>::from(
      stream, std::vector<std::int32_t>(static_cast<std::size_t>(k), -1), options.allocator);
  Buffer<double> squares(stream, k, options.allocator);
  work.residual(read_only(ax.view()), read_only(problem.b ? bx.view() : x), theta.data(),
                nowhere.data(), {}, squares.data());
  const std::vector<double> rests = squares.to_host();
  work.dots(read_only(x), read_only(x), squares.data());
  const std::vector<double> lengths = squares.to_host();
  if (problem.b) work.dots(read_only(bx.view()), read_only(bx.view()), squares.data());
  const std::vector<double> masses = squares.to_host();
  const double hidden = kRoundings * unit_roundoff(kDType<T>) * norm;
  const double tolerance = tolerance_of<T>(options);
  bool all_before = true;
  for (std::size_t j = 0; j < static_cast<std::size_t>(k); ++j) {
    const double residual = std::sqrt(rests[j] / lengths[j]);
    result.residuals.push_back(residual);
    result.bounds.push_back(problem.b ? std::numeric_limits<double>::infinity()
                                      : residual + hidden);
    all_before =
        all_before &&
        residual <=
            std::max(tolerance * std::abs(values[j]) * std::sqrt(masses[j] / lengths[j]), hidden);
    if (all_before) ++result.converged;
  }
  return result;
}

#define LANKY_INSTANTIATE(T)                                                                      \
  template double tolerance_of<T>(const EigenOptions&);                                           \
  template EigenResult<T> make_result(const Stream&, const EigenProblem<T>&, const EigenOptions&, \
                                      BlockWork<T>&, Constraints<T>&, const std::vector<double>&, \
                                      MatrixView<const T>, double);
LANKY_FOR_EACH_VECTOR_TYPE(LANKY_INSTANTIATE)
#undef LANKY_INSTANTIATE

}  // namespace lanky::solvers
