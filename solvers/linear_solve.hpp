// The common part of the linear solvers: right-hand sides are iterated, verified by their true
// residuals where they claim to be solved, and begin anew where rounding has led them astray.
#pragma once

#include <chrono>
#include <cstdint>
#include <lanky/buffer.hpp>
#include <lanky/linear_operator.hpp>
#include <lanky/linear_solver.hpp>
#include <memory>
#include <optional>
#include <vector>

#include "core/graph.hpp"
#include "solvers/linear_work.hpp"

namespace lanky::solvers {

template <class T>
struct LinearProblem {
  const Stream& stream;
  const LinearOperator<T>& a;
  const LinearOperator<T>& m;  // the preconditioner, or none
  MatrixView<const T> b;
  MatrixView<T> x;
  const LinearOptions& options;
};

/// Throws Error, as the public functions say, for operands that do not fit.
template <class T>
void check_problem(const LinearProblem<T>& problem);

/// The result where there are no equations or no right-hand sides, for which no kernel is launched.
template <class T>
std::optional<LinearResult> nothing_to_solve(const LinearProblem<T>& problem) {
  if (problem.b.rows > 0 && problem.b.cols > 0) return std::nullopt;
  LinearResult result;
  result.converged = problem.b.cols;
  result.residuals.resize(static_cast<std::size_t>(problem.b.cols));
  return result;
}

/// One solution, from start to end. Methods derive from it.
template <class T>
class LinearSolve {
 public:
  explicit LinearSolve(const LinearProblem<T>& problem);
  virtual ~LinearSolve() = default;

  LinearResult run();

 protected:
  using Real = RealOf<T>;

  /// Gives an iteration to the stream, without waiting. An even number of iterations leaves all
  /// buffers in their places, so that it can be replayed.
  virtual void iterate() = 0;
  /// Columns whose state is `starting` begin from their residuals, which rest() holds, and z(),
  /// their products with the preconditioner.
  virtual void restart() = 0;
  /// Whether LinearColumn::estimate is of the residual's Euclidean norm, or sqrt(r^H M r).
  virtual bool estimates_euclidean() const = 0;
  /// Memory [n, c] that is free between two iterations; `z` differs from `rest` where there is a
  /// preconditioner.
  virtual MatrixView<T> rest() = 0;
  virtual MatrixView<T> z() = 0;

  Matrix<T> tall(bool needed = true) const {
    return Matrix<T>(stream_, needed ? n_ : 0, c_, Layout::row, 0, options_.allocator);
  }
  LinearColumn* columns() noexcept { return device_columns_.data(); }

  Stream stream_;
  const LinearOperator<T>& a_;
  const LinearOperator<T>& m_;
  MatrixView<const T> b_;
  MatrixView<T> x_;
  const LinearOptions& options_;
  std::int64_t n_;
  std::int64_t c_;
  double tolerance_;
  std::unique_ptr<LinearWork<T>> work_;

 private:
  void measure();
  void upload();
  void multiply_rest();
  bool verify();
  void judge(std::size_t j, double weighed);
  void keep();
  void take_back();
  void advance(int count);
  void read_columns();
  bool tell();
  bool any(ColumnState state) const;
  double target(std::size_t j) const;
  LinearResult result();

  Buffer<LinearColumn> device_columns_;  // [c]
  Buffer<double> sums_;                  // [c, 3]
  Buffer<double> squares_;               // [c, 2]: |r|^2 and r^H z of the true residuals
  Matrix<T> kept_;  // [n, c] X, where it is a least-squares solution to the root of the roundoff
  std::vector<LinearColumn> columns_;
  std::vector<double> sizes_;           // [c] |b|
  std::vector<double> residuals_;       // [c] true ones, as they were last computed
  std::vector<double> last_start_;      // [c] from which a column began the last time
  std::vector<double> last_slope_;      // [c] of |A r| over |r|, for which one began the last time
  std::vector<double> kept_residuals_;  // [c] of kept_, infinite where it holds nothing
  std::vector<bool> is_solved_;         // [c]
  std::vector<bool> is_stagnated_;      // [c]
  std::unique_ptr<runtime::Graph> graph_;
  int most_iterations_;
  int iteration_ = 0;
  int verified_iteration_ = 0;
  bool stopped_ = false;
  std::vector<SolverProgress> history_;
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
};

}  // namespace lanky::solvers
