#include "solvers/dense_solution.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <lanky/error.hpp>
#include <vector>

#include "core/text.hpp"
#include "solvers/block_work.hpp"
#include "solvers/dense_eigen.hpp"
#include "solvers/eigen_result.hpp"
#include "solvers/products.hpp"

namespace lanky::solvers {

namespace {

/// The operator's own matrix.
template <class T>
SmallMatrix<Wide<T>> matrix_of(const Stream& stream, const LinearOperator<T>& op,
                               const char* name) {
  const std::int64_t n = op.rows();
  std::vector<T> identity(static_cast<std::size_t>(n * n));
  for (std::int64_t i = 0; i < n; ++i)
    identity[static_cast<std::size_t>(i * n + i)] = T{1};
  Matrix<T> x(stream, n, n, Layout::row);
  Matrix<T> y(stream, n, n, Layout::row);
  x.buffer().copy_from(identity);
  op.apply(stream, x, y);
  SmallMatrix<Wide<T>> matrix = from_rows(y.buffer().to_host().data(), n, n);
  check_self_adjoint(matrix, unit_roundoff(kDType<T>), name, 0);
  return matrix;
}

/// No less than |A|.
template <class W>
double largest_row_sum(const SmallMatrix<W>& a) {
  double largest = 0;
  for (std::int64_t i = 0; i < a.rows(); ++i) {
    double sum = 0;
    for (std::int64_t j = 0; j < a.cols(); ++j)
      sum += std::abs(a(i, j));
    largest = std::max(largest, sum);
  }
  return largest;
}

}  // namespace

template <class T>
EigenResult<T> dense_solution(const Stream& stream, const EigenProblem<T>& problem,
                              const EigenOptions& options) {
  using W = Wide<T>;
  const std::int64_t n = problem.a.rows();
  constexpr std::int64_t kMost = 16384;  // 2 GiB a matrix of doubles, and hours
  if (n > kMost) {
    throw Error(ErrorCode::unsupported, concat(options.k, " eigenpairs of ", n,
                                               " rows need a dense solution, which has at most ",
                                               kMost, " rows; ask for fewer than ", n / 5));
  }
  const SmallMatrix<W> a = matrix_of(stream, problem.a, "A");
  const SmallMatrix<W> b = problem.b ? matrix_of(stream, problem.b, "B") : SmallMatrix<W>();
  const auto work = make_block_work<T>(stream);
  SmallMatrix<W> y;
  if (problem.constraints.cols > 0) {
    Matrix<T> copy(stream, n, problem.constraints.cols, Layout::row);
    work->combine(1, problem.constraints, 0, copy.view());
    y = from_rows(copy.buffer().to_host().data(), n, problem.constraints.cols);
  }
  const Spectrum<W> all = constrained_eigen(a, b, y);
  const auto size = static_cast<std::int64_t>(all.values.size());
  std::vector<double> values;
  std::vector<T> rows(static_cast<std::size_t>(n * options.k));
  for (std::int64_t j = 0; j < options.k; ++j) {
    const std::int64_t from = options.end == EigenEnd::smallest ? j : size - 1 - j;
    values.push_back(all.values[static_cast<std::size_t>(from)]);
    if (!std::isfinite(values.back())) {
      throw Error(ErrorCode::invalid_argument,
                  concat("B is singular: of ", size, " eigenvalues, infinite ones are among the ",
                         options.k, " that are asked for"));
    }
    for (std::int64_t i = 0; i < n; ++i)
      rows[static_cast<std::size_t>(i * options.k + j)] = static_cast<T>(all.vectors(i, from));
  }
  Matrix<T> vectors(stream, n, options.k, Layout::row);
  vectors.buffer().copy_from(rows);
  const double norm = problem.b
                          ? largest_row_sum(a)
                          : std::max(std::abs(all.values.front()), std::abs(all.values.back()));
  Products<T> products(stream, options.allocator);
  Constraints<T> constraints(stream, problem, *work, products, options.k, options.allocator);
  EigenResult<T> result = make_result<T>(stream, problem, options, *work, constraints, values,
                                         read_only(vectors.view()), norm);
  result.status = result.converged == options.k ? SolverStatus::converged : SolverStatus::stagnated;
  return result;
}

#define LANKY_INSTANTIATE(T)                                                    \
  template EigenResult<T> dense_solution(const Stream&, const EigenProblem<T>&, \
                                         const EigenOptions&);
LANKY_FOR_EACH_VECTOR_TYPE(LANKY_INSTANTIATE)
#undef LANKY_INSTANTIATE

}  // namespace lanky::solvers
