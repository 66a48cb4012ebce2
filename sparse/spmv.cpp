// SparsePlan: checks the caller's operands, packs the matrix, and hands products to an executor.
#include <array>
#include <cstddef>
#include <functional>
#include <lanky/error.hpp>
#include <lanky/sparse.hpp>
#include <string_view>

#include "core/arguments.hpp"
#include "core/plan_types.hpp"
#include "core/text.hpp"
#include "sparse/check_operands.hpp"
#include "sparse/plan.hpp"

namespace lanky::inline v1 {

namespace {

template <class T, class TOut>
void check_apart(VectorView<const T> x, VectorView<TOut> y) {
  const auto* const x_begin = reinterpret_cast<const std::byte*>(x.data);
  const auto* const y_begin = reinterpret_cast<const std::byte*>(y.data);
  const bool overlap = std::less<>{}(x_begin, y_begin + y.size * sizeof(TOut)) &&
                       std::less<>{}(y_begin, x_begin + x.size * sizeof(T));
  if (overlap && x.size > 0 && y.size > 0) {
    throw Error(ErrorCode::invalid_argument,
                concat("x (", x.size, " entries) and y (", y.size,
                       " entries) overlap: y is written while x is read"));
  }
}

template <class T, class TOut>
void check_apart(const MatrixView<T>& x, const MatrixView<TOut>& y) {
  if (!sparse::overlap(sparse::Lines(x), sparse::Lines(y))) return;
  throw Error(ErrorCode::invalid_argument,
              concat("X (", x.rows, " x ", x.cols, ") and Y (", y.rows, " x ", y.cols,
                     ") overlap: Y is written while X is read"));
}

}  // namespace

template <class T, class TOut>
struct SparsePlan<T, TOut>::Impl {
  std::string_view name() const { return plan.op == Op::none ? "A" : "op(A)"; }

  void check(const Stream& s, const Scalar& alpha, VectorView<const T> x, const Scalar& beta,
             VectorView<TOut> y) const {
    check_same_device(plan.stream.device(), s.device());
    if (x.size != plan.matrix->cols()) {
      throw Error(ErrorCode::size_mismatch, concat("x has ", x.size, " entries, ", name(), " has ",
                                                   plan.matrix->cols(), " columns"));
    }
    if (y.size != plan.matrix->rows()) {
      throw Error(ErrorCode::size_mismatch, concat("y has ", y.size, " entries, ", name(), " has ",
                                                   plan.matrix->rows(), " rows"));
    }
    check_on_device(x.data, x.size, plan.stream.device(), "x");
    check_on_device(y.data, y.size, plan.stream.device(), "y");
    check_apart(x, y);
    sparse::check_scalar(alpha, plan.stream.device(), "alpha");
    sparse::check_scalar(beta, plan.stream.device(), "beta");
  }

  void run(const Stream& s, const Scalar& alpha, VectorView<const T> x, const Scalar& beta,
           VectorView<TOut> y, std::byte* memory, sparse::Arrivals arrivals) const {
    check(s, alpha, x, beta, y);
    plan.matrix->run(s, {x.data, y.data, alpha, beta}, memory, arrivals);
  }

  void check(const Stream& s, const Scalar& alpha, const MatrixView<const T>& x, const Scalar& beta,
             const MatrixView<TOut>& y) const {
    const Device device = plan.stream.device();
    check_same_device(device, s.device());
    if (x.rows != plan.matrix->cols()) {
      throw Error(ErrorCode::size_mismatch, concat("X has ", x.rows, " rows, ", name(), " has ",
                                                   plan.matrix->cols(), " columns"));
    }
    if (y.rows != plan.matrix->rows()) {
      throw Error(ErrorCode::size_mismatch, concat("Y has ", y.rows, " rows, ", name(), " has ",
                                                   plan.matrix->rows(), " rows"));
    }
    if (x.cols != y.cols) {
      throw Error(ErrorCode::size_mismatch,
                  concat("X has ", x.cols, " columns, Y has ", y.cols, " columns"));
    }
    sparse::check_matrix(x, device, "X");
    sparse::check_matrix(y, device, "Y");
    check_apart(x, y);
    sparse::check_scalar(alpha, device, "alpha");
    sparse::check_scalar(beta, device, "beta");
  }

  void run(const Stream& s, const Scalar& alpha, const MatrixView<const T>& x, const Scalar& beta,
           const MatrixView<TOut>& y, std::byte* memory, sparse::Arrivals arrivals) const {
    check(s, alpha, x, beta, y);
    if (y.cols == 0) return;
    const sparse::Strides of_x = sparse::strides_of(x);
    const sparse::Strides of_y = sparse::strides_of(y);
    const bool contiguous = y.cols == 1 && of_x.row == 1 && of_y.row == 1;
    if (contiguous && plan.matrix->columns_are_vectors())
      return plan.matrix->run(s, {x.data, y.data, alpha, beta}, memory, arrivals);
    plan.matrix->run_columns(s, {x.data, of_x, y.data, of_y, y.cols, alpha, beta}, memory,
                             arrivals);
  }

  /// In the plan's own workspace, whose counters stand at zero.
  template <class X, class Y>
  void run(const Stream& s, const Scalar& alpha, const X& x, const Scalar& beta, const Y& y) const {
    const OwnWorkspace::Turn turn = plan.workspace.take(s);
    run(s, alpha, x, beta, y, turn.data(), sparse::Arrivals::zero);
  }

  /// In a caller's.
  template <class X, class Y>
  void run(const Stream& s, const Scalar& alpha, const X& x, const Scalar& beta, const Y& y,
           const Workspace& workspace) const {
    std::byte* const memory = sparse::checked_workspace<Accumulator<T>>(
        workspace, plan.matrix->workspace_bytes(), plan.stream.device());
    run(s, alpha, x, beta, y, memory, sparse::Arrivals::unknown);
  }

  sparse::Plan<T, TOut> plan;
};

template <class T, class TOut>
SparsePlan<T, TOut>::SparsePlan(const Stream& stream, const CsrView<T>& a,
                                const SparseOptions& options)
    : impl_(
          sparse::within_host_memory(concat("pack ", a.rows, " rows of ", a.nnz, " entries"), [&] {
            return std::make_unique<Impl>(Impl{sparse::build_plan<T, TOut>(stream, a, options)});
          })) {}

template <class T, class TOut>
SparsePlan<T, TOut>::SparsePlan(SparsePlan&&) noexcept = default;
template <class T, class TOut>
SparsePlan<T, TOut>& SparsePlan<T, TOut>::operator=(SparsePlan&&) noexcept = default;
template <class T, class TOut>
SparsePlan<T, TOut>::~SparsePlan() = default;

template <class T, class TOut>
void SparsePlan<T, TOut>::run(const Stream& stream, VectorView<const T> x,
                              VectorView<TOut> y) const {
  run(stream, Accumulator<T>{1}, x, Accumulator<T>{0}, y);
}
template <class T, class TOut>
void SparsePlan<T, TOut>::run(const Stream& stream, Scalar alpha, VectorView<const T> x,
                              Scalar beta, VectorView<TOut> y) const {
  impl_->run(stream, alpha, x, beta, y);
}
template <class T, class TOut>
void SparsePlan<T, TOut>::run(const Stream& stream, Scalar alpha, VectorView<const T> x,
                              Scalar beta, VectorView<TOut> y, Workspace workspace) const {
  impl_->run(stream, alpha, x, beta, y, workspace);
}

template <class T, class TOut>
void SparsePlan<T, TOut>::run(const Stream& stream, MatrixView<const T> x,
                              MatrixView<TOut> y) const {
  run(stream, Accumulator<T>{1}, x, Accumulator<T>{0}, y);
}
template <class T, class TOut>
void SparsePlan<T, TOut>::run(const Stream& stream, Scalar alpha, MatrixView<const T> x,
                              Scalar beta, MatrixView<TOut> y) const {
  impl_->run(stream, alpha, x, beta, y);
}
template <class T, class TOut>
void SparsePlan<T, TOut>::run(const Stream& stream, Scalar alpha, MatrixView<const T> x,
                              Scalar beta, MatrixView<TOut> y, Workspace workspace) const {
  impl_->run(stream, alpha, x, beta, y, workspace);
}

template <class T, class TOut>
void SparsePlan<T, TOut>::update_values(VectorView<const T> values) {
  update_values(impl_->plan.stream, values);
}

template <class T, class TOut>
void SparsePlan<T, TOut>::update_values(const Stream& stream, VectorView<const T> values) {
  check_same_device(device(), stream.device());
  if (values.size != nnz()) {
    throw Error(ErrorCode::size_mismatch,
                concat(values.size, " new values for a matrix of ", nnz(), " entries"));
  }
  sparse::within_host_memory(concat("pack ", nnz(), " new values"),
                             [&] { sparse::update_values(impl_->plan, stream, values); });
}

template <class T, class TOut>
std::int64_t SparsePlan<T, TOut>::rows() const noexcept {
  return impl_->plan.matrix->rows();
}

template <class T, class TOut>
std::int64_t SparsePlan<T, TOut>::cols() const noexcept {
  return impl_->plan.matrix->cols();
}

template <class T, class TOut>
std::int64_t SparsePlan<T, TOut>::nnz() const noexcept {
  return impl_->plan.given_entries;
}

template <class T, class TOut>
Device SparsePlan<T, TOut>::device() const noexcept {
  return impl_->plan.stream.device();
}

template <class T, class TOut>
std::int64_t SparsePlan<T, TOut>::workspace_bytes() const noexcept {
  return impl_->plan.matrix->workspace_bytes();
}

template <class T, class TOut>
std::int64_t SparsePlan<T, TOut>::device_bytes() const noexcept {
  return sparse::device_bytes(impl_->plan);
}

template <class T, class TOut>
SparseInfo SparsePlan<T, TOut>::info() const {
  return sparse::summary(sparse::info_of(impl_->plan));
}

template <class T, class TOut>
std::string SparsePlan<T, TOut>::explain() const {
  return sparse::explain(sparse::info_of(impl_->plan));
}

template <class T, class TOut>
std::uint64_t SparsePlan<T, TOut>::fingerprint() const {
  return sparse::fingerprint(sparse::info_of(impl_->plan));
}

template <class T, class TOut>
void spmv(const Stream& stream, Accumulator<T> alpha, const CsrView<T>& a,
          std::type_identity_t<VectorView<const T>> x, Accumulator<T> beta, VectorView<TOut> y) {
  const SparsePlan<T, TOut> plan(stream, a);
  plan.run(stream, alpha, x, beta, y);
  stream.synchronize();
}

template <class T, class TOut>
void spmm(const Stream& stream, Accumulator<T> alpha, const CsrView<T>& a,
          std::type_identity_t<MatrixView<const T>> x, Accumulator<T> beta, MatrixView<TOut> y) {
  const SparsePlan<T, TOut> plan(
      stream, a, {.expected_columns = y.cols > 0 ? y.cols : 1, .expected_layout = x.layout});
  plan.run(stream, alpha, x, beta, y);
  stream.synchronize();
}

#define LANKY_INSTANTIATE(T, TOut)                                                          \
  template class SparsePlan<T, TOut>;                                                       \
  template void spmv(const Stream&, Accumulator<T>, const CsrView<T>&, VectorView<const T>, \
                     Accumulator<T>, VectorView<TOut>);                                     \
  template void spmm(const Stream&, Accumulator<T>, const CsrView<T>&, MatrixView<const T>, \
                     Accumulator<T>, MatrixView<TOut>);
LANKY_FOR_EACH_PLAN_TYPE(LANKY_INSTANTIATE)
#undef LANKY_INSTANTIATE

}  // namespace lanky::inline v1
