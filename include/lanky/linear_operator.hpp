// A linear map that solvers apply to several vectors at once, Y = A X: a sparse plan, or a function
// of the caller's.
#pragma once

#include <complex>
#include <cstdint>
#include <functional>
#include <lanky/error.hpp>
#include <lanky/sparse.hpp>
#include <lanky/stream.hpp>
#include <lanky/view.hpp>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

namespace lanky::inline v1 {

/// A [rows, cols], or nothing. A copy shares what it applies. T: double, float, complex<float>,
/// complex<double>.
template <class T>
class LinearOperator {
 public:
  /// Y = A X: X [cols, c] and Y [rows, c], both by rows and in the memory of the stream's device,
  /// of any c >= 1 and with leading dimensions of their own; they do not overlap. The work is given
  /// to the stream. An exception ends the solver and reaches its caller.
  using Apply = std::function<void(const Stream&, MatrixView<const T> x, MatrixView<T> y)>;

  LinearOperator() = default;
  /// The plan must outlive the operator and its copies.
  LinearOperator(const SparsePlan<T>& plan)  // NOLINT: implicit
      : LinearOperator(plan.rows(), plan.cols(), product(&plan)) {
    take_plan(plan);
  }
  /// The same with A^H, a plan of Op::conj_trans. Throws Error(size_mismatch) where its extents are
  /// not those of A^H.
  LinearOperator(const SparsePlan<T>& plan, const SparsePlan<T>& adjoint)
      : LinearOperator(plan.rows(), plan.cols(), product(&plan), product(&adjoint)) {
    check_adjoint(plan, adjoint);
    take_plan(plan);
  }
  /// Plans that live as long as the operator; `adjoint` may be null.
  explicit LinearOperator(const std::shared_ptr<const SparsePlan<T>>& plan,
                          const std::shared_ptr<const SparsePlan<T>>& adjoint = nullptr)
      : LinearOperator(plan->rows(), plan->cols(), product(plan),
                       adjoint == nullptr ? Apply() : product(adjoint)) {
    if (adjoint != nullptr) check_adjoint(*plan, *adjoint);
    take_plan(*plan);
  }
  /// The caller's functions; `adjoint` is needed by svds() alone. Throws Error(invalid_argument)
  /// for negative extents and an empty `apply`.
  LinearOperator(std::int64_t rows, std::int64_t cols, Apply apply, Apply adjoint = {})
      : rows_(rows),
        cols_(cols),
        apply_(std::move(apply)),
        adjoint_(std::move(adjoint)),
        bytes_(10.0 * static_cast<double>(rows) * (sizeof(T) + sizeof(std::int32_t))) {
    if (rows < 0 || cols < 0 || !apply_) {
      throw Error(ErrorCode::invalid_argument,
                  "a linear operator of " + std::to_string(rows) + " x " + std::to_string(cols) +
                      (apply_ ? "" : " without a function that applies it"));
    }
  }

  explicit operator bool() const noexcept { return static_cast<bool>(apply_); }
  std::int64_t rows() const noexcept { return rows_; }
  std::int64_t cols() const noexcept { return cols_; }
  bool has_adjoint() const noexcept { return static_cast<bool>(adjoint_); }
  /// Whether solvers may capture the operator in a CUDA graph: always the same work on the stream,
  /// and nothing else. True for plans.
  bool capturable() const noexcept { return capturable_; }
  LinearOperator& set_capturable(bool capturable) noexcept {
    capturable_ = capturable;
    return *this;
  }

  /// Bytes that a product moves beside X and Y, by which solvers weigh products against their own
  /// work: those of a plan are its values and column indices. A function of the caller's counts as
  /// ten entries a row, unless set_bytes() has told more exactly.
  double bytes() const noexcept { return bytes_; }
  LinearOperator& set_bytes(double bytes) noexcept {
    bytes_ = bytes;
    return *this;
  }

  void apply(const Stream& stream, MatrixView<const T> x, MatrixView<T> y) const {
    apply_(stream, x, y);
  }
  /// Y = A^H X: X [rows, c], Y [cols, c]. Throws Error(invalid_argument) without an adjoint.
  void apply_adjoint(const Stream& stream, MatrixView<const T> x, MatrixView<T> y) const {
    if (!adjoint_) throw Error(ErrorCode::invalid_argument, "the operator has no adjoint");
    adjoint_(stream, x, y);
  }

 private:
  static void check_adjoint(const SparsePlan<T>& plan, const SparsePlan<T>& adjoint) {
    if (adjoint.rows() == plan.cols() && adjoint.cols() == plan.rows()) return;
    throw Error(ErrorCode::size_mismatch, "the adjoint is " + std::to_string(adjoint.rows()) +
                                              " x " + std::to_string(adjoint.cols()) +
                                              ", and A is " + std::to_string(plan.rows()) + " x " +
                                              std::to_string(plan.cols()));
  }
  void take_plan(const SparsePlan<T>& plan) {
    capturable_ = true;
    bytes_ = static_cast<double>(plan.nnz()) * (sizeof(T) + sizeof(std::int32_t));
  }
  /// `plan`: a pointer, shared or not.
  template <class Plan>
  static Apply product(Plan plan) {
    return [plan](const Stream& stream, MatrixView<const T> x, MatrixView<T> y) {
      plan->run(stream, x, y);
    };
  }

  std::int64_t rows_ = 0;
  std::int64_t cols_ = 0;
  Apply apply_;
  Apply adjoint_;
  bool capturable_ = false;
  double bytes_ = 0;
};

/// The type of single precision beside T: float for double, complex<float> for complex<double>,
/// else T itself.
template <class T>
using SingleOf = std::conditional_t<
    std::is_same_v<T, double>, float,
    std::conditional_t<std::is_same_v<T, std::complex<double>>, std::complex<float>, T>>;

/// An operator that owns its plan of A, which expects `columns` vectors by rows.
template <class T>
LinearOperator<T> make_operator(const Stream& stream, const CsrView<T>& a, std::int64_t columns,
                                SparseOptions options = {}) {
  options.expected_columns = columns;
  options.expected_layout = Layout::row;
  return LinearOperator<T>(std::make_shared<const SparsePlan<T>>(stream, a, options));
}

/// The same with a second plan, of A^H, which svds() needs. `options.op` may be trans for real
/// types alone. Throws Error: unsupported (trans of a complex type, whose adjoint no plan holds),
/// and as SparsePlan's constructor.
template <class T>
LinearOperator<T> make_operator_with_adjoint(const Stream& stream, const CsrView<T>& a,
                                             std::int64_t columns, SparseOptions options = {}) {
  if (options.op == Op::trans && !std::is_floating_point_v<T>) {
    throw Error(ErrorCode::unsupported,
                "the adjoint of a complex matrix's transpose; Op::none and Op::conj_trans have "
                "adjoints");
  }
  options.expected_columns = columns;
  options.expected_layout = Layout::row;
  auto plan = std::make_shared<const SparsePlan<T>>(stream, a, options);
  options.op = options.op == Op::none ? Op::conj_trans : Op::none;
  auto adjoint = std::make_shared<const SparsePlan<T>>(stream, a, options);
  return LinearOperator<T>(std::move(plan), std::move(adjoint));
}

}  // namespace lanky::inline v1
