#include "solvers/linear_solve.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <lanky/dtype.hpp>
#include <lanky/error.hpp>
#include <limits>
#include <type_traits>
#include <utility>

#include "core/arguments.hpp"
#include "core/graph.hpp"
#include "core/text.hpp"
#include "solvers/block_work.hpp"
#include "solvers/products.hpp"

namespace lanky::solvers {

namespace {

/// Iterations between two looks of the host, at most, and of a CUDA graph.
constexpr int kMostUnseen = 16;

template <class... Parts>
[[noreturn]] void refuse(const Parts&... parts) {
  throw Error(ErrorCode::invalid_argument, concat(parts...));
}

void check_column(const LinearColumn& column, std::size_t j) {
  switch (column.state) {
    case ColumnState::a_broken:
      refuse("A is not positive definite, or not beyond rounding: p^H A p = ", column.value,
             " at iteration ", column.iterations + 1, " of right-hand side ", j);
    case ColumnState::m_broken:
      refuse("the preconditioner is not positive definite: r^H M r = ", column.value,
             " after iteration ", column.iterations, " of right-hand side ", j);
    case ColumnState::not_finite:
      refuse(
          "products with A or the preconditioner have elements that are NaN or Inf, after "
          "iteration ",
          column.iterations, " of right-hand side ", j);
    default:
      break;
  }
}

}  // namespace

template <class T>
void check_problem(const LinearProblem<T>& problem) {
  if (!problem.a) refuse("a linear system without A");
  const std::int64_t n = problem.a.rows();
  if (problem.a.cols() != n) refuse("A is ", n, " x ", problem.a.cols(), "; it must be square");
  if (problem.m && (problem.m.rows() != n || problem.m.cols() != n)) {
    refuse("the preconditioner is ", problem.m.rows(), " x ", problem.m.cols(), "; ", n, " x ", n,
           " is needed");
  }
  const auto tall = [&](MatrixView<const T> x, const char* name) {
    if (x.rows != n || x.cols != problem.b.cols) {
      refuse(name, " is ", x.rows, " x ", x.cols, "; A has ", n, " rows, and B ", problem.b.cols,
             " columns");
    }
    if (x.layout != Layout::row) refuse(name, " stands by columns; rows are needed");
    if (x.ld < x.cols) refuse(name, " has ", x.cols, " columns and a leading dimension of ", x.ld);
    check_on_device(x.data, n * x.cols, problem.stream.device(), name);
  };
  tall(problem.b, "B");
  tall(read_only(problem.x), "X");
  const LinearOptions& options = problem.options;
  if (!(options.tolerance >= 0)) refuse("the tolerance is ", options.tolerance);
  if (!(options.absolute_tolerance >= 0))
    refuse("the absolute tolerance is ", options.absolute_tolerance);
  if (options.max_iterations < 0) refuse("max_iterations is ", options.max_iterations);
  if (problem.stream.is_capturing()) {
    refuse("the stream is captured for a CUDA graph; solvers wait for their work");
  }
}

template <class T>
LinearSolve<T>::LinearSolve(const LinearProblem<T>& problem)
    : stream_(problem.stream),
      a_(problem.a),
      m_(problem.m),
      b_(problem.b),
      x_(problem.x),
      options_(problem.options),
      n_(problem.a.rows()),
      c_(problem.b.cols),
      tolerance_(options_.tolerance > 0              ? options_.tolerance
                 : std::is_same_v<RealOf<T>, double> ? 1e-8
                                                     : 1e-4),
      work_(make_linear_work<T>(stream_, n_, c_, options_.allocator)),
      device_columns_(stream_, c_, options_.allocator),
      sums_(stream_, 3 * c_, options_.allocator),
      squares_(stream_, 2 * c_, options_.allocator),
      kept_(stream_, 0, c_, Layout::row),
      columns_(static_cast<std::size_t>(c_)),
      sizes_(static_cast<std::size_t>(c_)),
      residuals_(static_cast<std::size_t>(c_)),
      last_start_(static_cast<std::size_t>(c_)),
      last_slope_(static_cast<std::size_t>(c_)),
      kept_residuals_(static_cast<std::size_t>(c_)),
      is_solved_(static_cast<std::size_t>(c_)),
      is_stagnated_(static_cast<std::size_t>(c_)),
      most_iterations_(options_.max_iterations > 0
                           ? options_.max_iterations
                           : static_cast<int>(std::min<std::int64_t>(10 * n_, 100'000))) {}

template <class T>
double LinearSolve<T>::target(std::size_t j) const {
  return std::max(tolerance_ * sizes_[j], options_.absolute_tolerance);
}

template <class T>
bool LinearSolve<T>::any(ColumnState state) const {
  return std::any_of(columns_.begin(), columns_.end(),
                     [state](const LinearColumn& column) { return column.state == state; });
}

template <class T>
void LinearSolve<T>::upload() {
  device_columns_.copy_from(columns_);
}

/// Sizes of right-hand sides; X = 0 where b = 0.
template <class T>
void LinearSolve<T>::measure() {
  work_->run(SizePass<Real>{real_rows(b_), sums_.data()});
  const std::vector<double> sums = sums_.to_host();
  for (std::size_t j = 0; j < columns_.size(); ++j) {
    const double square = sums[3 * j];
    if (sums[3 * j + 2] > 0) {
      refuse("right-hand side ", j, " has ", sums[3 * j + 2], " elements that are NaN or Inf");
    }
    constexpr double kLeast = 1e-290;  // squares of less have lost digits
    if (!is_finite(square) || (square < kLeast && sums[3 * j + 1] > 0)) {
      refuse("the sum of the squares of right-hand side ", j, " is ", square,
             ", beyond what double holds: scale it");
    }
    sizes_[j] = std::sqrt(square);
    last_start_[j] = last_slope_[j] = kept_residuals_[j] = std::numeric_limits<double>::infinity();
    const bool zero = sums[3 * j + 1] == 0;
    is_solved_[j] = zero;
    columns_[j] = {-1, target(j), 0, zero ? ColumnState::zero : ColumnState::claimed, 0, 0, 0};
  }
  upload();
  if (any(ColumnState::zero)) work_->run(ClearPass<Real>{columns(), real_rows(x_)});
}

/// rest = B - A X and z = M rest, with |rest|^2 and rest^H z.
template <class T>
void LinearSolve<T>::multiply_rest() {
  a_.apply(stream_, read_only(x_), rest());
  work_->run(RestPass<Real>{real_rows(b_), real_rows(rest()), squares_.data()});
  if (m_) m_.apply(stream_, read_only(rest()), z());
  const MatrixView<T> weighed = m_ ? z() : rest();
  work_->run(ProductPass<Real, Store>{
      real_rows(read_only(rest())), real_rows(read_only(weighed)), {squares_.data() + c_}});
}

/// Compares right-hand sides that claim to be solved with their true residuals, all of them now and
/// then: where the recurrence has left the true residual, iterations are of no use. Returns whether
/// some are to be iterated.
template <class T>
bool LinearSolve<T>::verify() {
  constexpr int kMostUnverified = 256;  // iterations
  const bool claims = any(ColumnState::claimed) || any(ColumnState::least_squares);
  if (!claims && iteration_ < verified_iteration_ + kMostUnverified)
    return any(ColumnState::running);
  multiply_rest();
  const std::vector<double> squares = squares_.to_host();
  verified_iteration_ = iteration_;
  for (std::size_t j = 0; j < columns_.size(); ++j) {
    if (columns_[j].state == ColumnState::zero) continue;
    residuals_[j] = std::sqrt(squares[j]);
    if (!is_finite(residuals_[j])) columns_[j].fail(ColumnState::not_finite, residuals_[j]);
    if (columns_[j].state != ColumnState::resting) judge(j, squares[j + columns_.size()]);
    check_column(columns_[j], j);
  }
  upload();
  if (std::any_of(columns_.begin(), columns_.end(),
                  [](auto& column) { return column.copied != 0; }))
    keep();
  if (any(ColumnState::starting)) {
    restart();
    read_columns();
  }
  return any(ColumnState::running);
}

/// Decides how a right-hand side goes on whose true residual r is known; `weighed` is r^H M r.
template <class T>
void LinearSolve<T>::judge(std::size_t j, double weighed) {
  LinearColumn& column = columns_[j];
  const double residual = residuals_[j];
  if (column.state == ColumnState::not_finite) return;
  is_solved_[j] = residual <= target(j);
  if (is_solved_[j]) {
    column.state = ColumnState::resting;
    return;
  }
  if (!(weighed > 0)) {
    column.fail(is_finite(weighed) ? ColumnState::m_broken : ColumnState::not_finite, weighed);
    return;
  }
  const double in_norm = estimates_euclidean() ? residual : std::sqrt(weighed);
  const bool least_squares = column.state == ColumnState::least_squares;
  if (!least_squares && in_norm <= 2 * column.estimate) {
    // The recurrence is right; its norm is another one, or it is right up to rounding.
    if (column.state == ColumnState::claimed)
      column.claim = 0.5 * column.estimate * (target(j) / residual);
    column.state = ColumnState::running;
    return;
  }
  // Progress since it began the last time: of the residual, or of |A r|.
  bool gained = residual <= 0.7 * last_start_[j];
  if (least_squares) gained = column.value > 0 && (gained || column.value <= 0.7 * last_slope_[j]);
  is_stagnated_[j] = !gained;
  if (!gained) {
    column.state = ColumnState::resting;
    return;
  }
  if (least_squares) {
    last_slope_[j] = column.value;
    kept_residuals_[j] = residual;
    column.copied = 1;
  }
  last_start_[j] = residual;
  column.state = ColumnState::starting;
  column.claim = target(j) * (in_norm / residual);
  column.estimate = in_norm;
}

/// Least-squares solutions as far as they were told, before their columns begin anew. Where these
/// find no better ones, they only have moved along the null space.
template <class T>
void LinearSolve<T>::keep() {
  if (kept_.buffer().size() == 0) kept_ = tall();
  work_->run(CopyColumnsPass<Real>{columns(), real_rows(read_only(x_)), real_rows(kept_.view())});
  for (LinearColumn& column : columns_)
    column.copied = 0;
  upload();
}

template <class T>
void LinearSolve<T>::take_back() {
  for (std::size_t j = 0; j < columns_.size(); ++j) {
    const bool none_better = !is_solved_[j] && kept_residuals_[j] < 1.5 * residuals_[j];
    columns_[j].copied = none_better ? 1 : 0;
    if (none_better) residuals_[j] = kept_residuals_[j];
  }
  upload();
  work_->run(CopyColumnsPass<Real>{columns(), real_rows(read_only(kept_.view())), real_rows(x_)});
}

/// So many iterations, as one CUDA graph where they are as many as it has.
template <class T>
void LinearSolve<T>::advance(int count) {
  const auto iterate_all = [&] {
    for (int i = 0; i < count; ++i)
      iterate();
  };
  const bool capturable =
      a_.capturable() && (!m_ || m_.capturable()) && runtime::can_capture(stream_);
  if (count == kMostUnseen && capturable) {
    if (graph_ == nullptr) graph_ = std::make_unique<runtime::Graph>(stream_, iterate_all);
    graph_->launch(stream_);
  } else {
    iterate_all();
  }
  iteration_ += count;
}

template <class T>
void LinearSolve<T>::read_columns() {
  columns_ = device_columns_.to_host();
  for (std::size_t j = 0; j < columns_.size(); ++j)
    check_column(columns_[j], j);
}

/// Writes history; false where the caller ends the solver.
template <class T>
bool LinearSolve<T>::tell() {
  SolverProgress progress{.iteration = iteration_, .wanted = c_, .tolerance = tolerance_};
  for (std::size_t j = 0; j < columns_.size(); ++j) {
    if (is_solved_[j]) {
      ++progress.converged;
      continue;
    }
    const LinearColumn& column = columns_[j];
    const double share =
        is_stagnated_[j] ? residuals_[j] / target(j) : column.estimate / column.claim;
    progress.residual = std::max(progress.residual, share * tolerance_);
  }
  progress.seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - began_).count();
  history_.push_back(progress);
  return !options_.progress || options_.progress(progress);
}

template <class T>
LinearResult LinearSolve<T>::run() {
  if (n_ == 0 || c_ == 0) {
    LinearResult nothing;
    nothing.converged = c_;
    nothing.residuals = residuals_;
    return nothing;
  }
  measure();
  int unseen = 1;
  bool goes_on = verify();
  while (goes_on && iteration_ < most_iterations_) {
    advance(std::min(unseen, most_iterations_ - iteration_));
    if (iteration_ >= 2 * unseen) unseen = std::min(2 * unseen, kMostUnseen);
    read_columns();
    goes_on = verify();
    stopped_ = !tell();
    if (stopped_) break;
  }
  return result();
}

template <class T>
LinearResult LinearSolve<T>::result() {
  if (verified_iteration_ != iteration_ && iteration_ > 0) {
    multiply_rest();
    const std::vector<double> squares = squares_.to_host();
    for (std::size_t j = 0; j < columns_.size(); ++j)
      residuals_[j] = columns_[j].state == ColumnState::zero ? 0 : std::sqrt(squares[j]);
  }
  if (kept_.buffer().size() > 0) take_back();
  LinearResult result;
  bool stagnated = true;
  for (std::size_t j = 0; j < columns_.size(); ++j) {
    const bool solved = is_solved_[j] || residuals_[j] <= target(j);
    result.converged += solved ? 1 : 0;
    stagnated = stagnated && (solved || is_stagnated_[j]);
    result.iterations = std::max(result.iterations, columns_[j].iterations);
    result.residuals.push_back(sizes_[j] > 0 ? residuals_[j] / sizes_[j] : 0);
  }
  result.status = result.converged == c_ ? SolverStatus::converged
                  : stopped_             ? SolverStatus::stopped
                  : stagnated            ? SolverStatus::stagnated
                                         : SolverStatus::iterations_exhausted;
  result.history = std::move(history_);
  return result;
}

#define LANKY_INSTANTIATE(T)                            \
  template void check_problem(const LinearProblem<T>&); \
  template class LinearSolve<T>;
LANKY_FOR_EACH_VECTOR_TYPE(LANKY_INSTANTIATE)
#undef LANKY_INSTANTIATE

}  // namespace lanky::solvers
