// SpmvPlan: checks the caller's operands, packs the matrix, and hands products to an executor.
#include <array>
#include <cstddef>
#include <functional>
#include <lanky/error.hpp>
#include <lanky/sparse.hpp>
#include <new>
#include <optional>
#include <string_view>
#include <utility>

#include "core/arguments.hpp"
#include "core/plan_types.hpp"
#include "core/runtime.hpp"
#include "core/text.hpp"
#include "sparse/backend.hpp"
#include "sparse/explain.hpp"
#include "sparse/packed.hpp"
#include "sparse/plan_matrix.hpp"
#include "sparse/policy.hpp"
#include "sparse/tune.hpp"

namespace lanky {

std::string_view name(SpmvPath path) noexcept {
  constexpr std::array<std::string_view, 5> kNames = {"auto", "mma", "cuda", "tf32", "tf32x3"};
  return kNames[static_cast<std::size_t>(path)];
}

namespace {

/// f(); where the host's memory ends, the Error that tells so.
template <class F>
auto within_host_memory(std::string_view what, F&& f) {
  try {
    return std::forward<F>(f)();
  } catch (const std::bad_alloc&) {
    throw Error(ErrorCode::out_of_memory, concat("the host has not the memory to ", what));
  }
}

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

template <class Sum>
void check_scalar(const Scalar<Sum>& scalar, Device device, std::string_view what) {
  if (scalar.pointer() != nullptr) check_on_device(scalar.pointer(), 1, device, what);
}

/// What the counters of a workspace hold.
enum class Arrivals : std::uint8_t { zero, unknown };

}  // namespace

template <class T, class TOut>
struct SpmvPlan<T, TOut>::Impl {
  using Sum = Accumulator<T>;

  Impl(const Stream& s, const CsrView<T>& a, const PlanOptions& options)
      : stream(s),
        choice(sparse::choose_path(options.path, kDType<T>, s.device().kind())),
        matrix(s, a, options,
               [&](const sparse::Csr<T>& csr, const sparse::RowFacts& facts) {
                 return packed(csr, facts, options);
               }),
        workspace(s, workspace_bytes(), options.allocator) {
    workspace.fill_zero();
    if (stream.device().is_cuda())
      launches = sparse::cuda::prepare<T, TOut>(stream, choice.path, matrix.header());
    stream.synchronize();  // memory is ready for every stream, not only for this one
  }

  /// In the shape that the model chooses or, where that is asked for, the fastest measured.
  sparse::PackedMatrix<T> packed(const sparse::Csr<T>& a, const sparse::RowFacts& facts,
                                 const PlanOptions& options) {
    sparse::PackedMatrix<T> model =
        sparse::pack_by_model(stream, a, facts, choice.path, options.allocator);
    if (!options.tune) return model;
    tuning.emplace();
    if (!stream.device().is_cuda()) return model;
    auto tuned = sparse::tuned<T, TOut>(a, facts, std::move(model), choice, options);
    choice = tuned.choice;
    *tuning = std::move(tuned.tuning);
    return std::move(tuned.packed);
  }

  std::int64_t arrivals_bytes() const {
    return counters(matrix.header()) * static_cast<std::int64_t>(sizeof(unsigned));
  }

  std::int64_t partials_bytes() const {
    return matrix.header().partials * static_cast<std::int64_t>(sizeof(Sum));
  }

  std::int64_t workspace_bytes() const { return partials_bytes() + arrivals_bytes(); }

  std::int64_t device_bytes() const { return matrix.bytes() + workspace_bytes(); }

  std::string_view name() const { return matrix.op() == Op::none ? "A" : "op(A)"; }

  void check(const Stream& s, const Scalar& alpha, VectorView<const T> x, const Scalar& beta,
             VectorView<TOut> y) const {
    check_same_device(stream.device(), s.device());
    if (x.size != matrix.header().cols) {
      throw Error(ErrorCode::size_mismatch, concat("x has ", x.size, " entries, ", name(), " has ",
                                                   matrix.header().cols, " columns"));
    }
    if (y.size != matrix.header().rows) {
      throw Error(ErrorCode::size_mismatch, concat("y has ", y.size, " entries, ", name(), " has ",
                                                   matrix.header().rows, " rows"));
    }
    check_on_device(x.data, x.size, stream.device(), "x");
    check_on_device(y.data, y.size, stream.device(), "y");
    check_apart(x, y);
    check_scalar(alpha, stream.device(), "alpha");
    check_scalar(beta, stream.device(), "beta");
  }

  void run(const Stream& s, const Scalar& alpha, VectorView<const T> x, const Scalar& beta,
           VectorView<TOut> y, std::byte* memory, Arrivals arrivals) const {
    check(s, alpha, x, beta, y);
    auto* const counters = reinterpret_cast<unsigned*>(memory + partials_bytes());
    if (arrivals == Arrivals::unknown && stream.device().is_cuda() && arrivals_bytes() > 0)
      runtime::zero(counters, arrivals_bytes(), s.native(), s.device().index());
    const sparse::Product<T, TOut> product{
        x.data, y.data, alpha, beta, reinterpret_cast<Sum*>(memory), counters};
    if (stream.device().is_cuda()) {
      sparse::cuda::run(s, launches, matrix.view(), product);
    } else {
      sparse::cpu::run(matrix.view(), product);
    }
  }

  Stream stream;
  sparse::PathChoice choice;
  std::optional<sparse::Tuning> tuning;  // before the matrix, whose packing sets both
  sparse::PlanMatrix<T> matrix;
  sparse::Launches launches;    // of a GPU
  Buffer<std::byte> workspace;  // partial sums, then arrivals
};

template <class T, class TOut>
SpmvPlan<T, TOut>::SpmvPlan(const Stream& stream, const CsrView<T>& a, const PlanOptions& options)
    : impl_(within_host_memory(concat("pack ", a.rows, " rows of ", a.nnz, " entries"),
                               [&] { return std::make_unique<Impl>(stream, a, options); })) {}

template <class T, class TOut>
SpmvPlan<T, TOut>::SpmvPlan(SpmvPlan&&) noexcept = default;
template <class T, class TOut>
SpmvPlan<T, TOut>& SpmvPlan<T, TOut>::operator=(SpmvPlan&&) noexcept = default;
template <class T, class TOut>
SpmvPlan<T, TOut>::~SpmvPlan() = default;

template <class T, class TOut>
void SpmvPlan<T, TOut>::run(const Stream& stream, VectorView<const T> x, VectorView<TOut> y) const {
  run(stream, Accumulator<T>{1}, x, Accumulator<T>{0}, y);
}

template <class T, class TOut>
void SpmvPlan<T, TOut>::run(const Stream& stream, Scalar alpha, VectorView<const T> x, Scalar beta,
                            VectorView<TOut> y) const {
  impl_->run(stream, alpha, x, beta, y, impl_->workspace.data(), Arrivals::zero);
}

template <class T, class TOut>
void SpmvPlan<T, TOut>::run(const Stream& stream, Scalar alpha, VectorView<const T> x, Scalar beta,
                            VectorView<TOut> y, Workspace workspace) const {
  using Sum = Accumulator<T>;
  check_workspace(workspace.data, workspace.bytes, workspace_bytes(), device());
  if (reinterpret_cast<std::uintptr_t>(workspace.data) % alignof(Sum) != 0) {
    throw Error(ErrorCode::invalid_argument, concat("the workspace at ", workspace.data,
                                                    " is not aligned to ", alignof(Sum), " bytes"));
  }
  impl_->run(stream, alpha, x, beta, y, static_cast<std::byte*>(workspace.data), Arrivals::unknown);
}

template <class T, class TOut>
void SpmvPlan<T, TOut>::update_values(VectorView<const T> values) {
  Impl& plan = *impl_;
  if (values.size != nnz()) {
    throw Error(ErrorCode::size_mismatch,
                concat(values.size, " new values for a matrix of ", nnz(), " entries"));
  }
  within_host_memory(concat("pack ", nnz(), " new values"),
                     [&] { plan.matrix.update_values(values); });
}

template <class T, class TOut>
std::int64_t SpmvPlan<T, TOut>::rows() const noexcept {
  return impl_->matrix.header().rows;
}

template <class T, class TOut>
std::int64_t SpmvPlan<T, TOut>::cols() const noexcept {
  return impl_->matrix.header().cols;
}

template <class T, class TOut>
std::int64_t SpmvPlan<T, TOut>::nnz() const noexcept {
  return impl_->matrix.given_entries();
}

template <class T, class TOut>
Device SpmvPlan<T, TOut>::device() const noexcept {
  return impl_->stream.device();
}

template <class T, class TOut>
std::int64_t SpmvPlan<T, TOut>::workspace_bytes() const noexcept {
  return impl_->workspace_bytes();
}

template <class T, class TOut>
std::int64_t SpmvPlan<T, TOut>::device_bytes() const noexcept {
  return impl_->device_bytes();
}

template <class T, class TOut>
std::string SpmvPlan<T, TOut>::explain() const {
  return sparse::explain(
      {device(), kDType<T>, kDType<TOut>, impl_->matrix.symmetry(), nnz(), impl_->matrix.op(),
       impl_->choice, workspace_bytes(), device_bytes(), impl_->tuning ? &*impl_->tuning : nullptr},
      impl_->matrix.header());
}

template <class T, class TOut>
void spmv(const Stream& stream, Accumulator<T> alpha, const CsrView<T>& a,
          std::type_identity_t<VectorView<const T>> x, Accumulator<T> beta, VectorView<TOut> y) {
  const SpmvPlan<T, TOut> plan(stream, a);
  plan.run(stream, alpha, x, beta, y);
  stream.synchronize();
}

#define LANKY_INSTANTIATE(T, TOut)                                                          \
  template class SpmvPlan<T, TOut>;                                                         \
  template void spmv(const Stream&, Accumulator<T>, const CsrView<T>&, VectorView<const T>, \
                     Accumulator<T>, VectorView<TOut>);
LANKY_FOR_EACH_PLAN_TYPE(LANKY_INSTANTIATE)
#undef LANKY_INSTANTIATE

}  // namespace lanky
