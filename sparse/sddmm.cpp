// SddmmPlan: checks the caller's operands, and hands products to the sampler of the device.
#include <lanky/error.hpp>
#include <lanky/sddmm.hpp>

#include "core/arguments.hpp"
#include "core/fingerprint.hpp"
#include "core/own_workspace.hpp"
#include "core/plan_types.hpp"
#include "core/text.hpp"
#include "sparse/check_operands.hpp"
#include "sparse/sampler.hpp"

namespace lanky::inline v1 {

template <class T, class TOut>
struct SddmmPlan<T, TOut>::Impl {
  Impl(const Stream& the_stream, const CsrView<T>& a, const SddmmOptions& options)
      : stream(the_stream),
        rows(a.rows),
        cols(a.cols),
        nnz(a.nnz),
        conjugates(options.conjugate_y),
        columns_most(options.expected_columns),
        sampler(make(the_stream, a, options)),
        workspace(the_stream, sampler->workspace_bytes(), options.allocator) {}

  static std::unique_ptr<const sparse::Sampler<T, TOut>> make(const Stream& stream,
                                                              const CsrView<T>& a,
                                                              const SddmmOptions& options) {
    refuse_capture(stream, "a plan's constructor");
    if (options.expected_columns < 0) {
      throw Error(ErrorCode::invalid_argument,
                  concat("a plan for ", options.expected_columns, " columns; at least 0"));
    }
    if (stream.device().is_cuda()) return sparse::cuda::make_sampler<T, TOut>(stream, a, options);
    return sparse::cpu::make_sampler<T, TOut>(stream, a, options);
  }

  void check_rows(const MatrixView<const T>& view, std::int64_t expected, std::string_view what,
                  std::string_view of_a) const {
    if (view.rows == expected) return;
    throw Error(ErrorCode::size_mismatch,
                concat(what, " has ", view.rows, " rows, A has ", expected, " ", of_a));
  }

  void check_apart(const MatrixView<const T>& view, const VectorView<TOut>& values,
                   std::string_view what) const {
    if (!sparse::overlap(sparse::Lines(view), sparse::Lines(values))) return;
    throw Error(ErrorCode::invalid_argument,
                concat(what, " (", view.rows, " x ", view.cols, ") and the values (", values.size,
                       " entries) overlap: values are written while ", what, " is read"));
  }

  void check(const Stream& s, const Scalar& alpha, const MatrixView<const T>& x,
             const MatrixView<const T>& y, const Scalar& beta,
             const VectorView<TOut>& values) const {
    const Device device = stream.device();
    check_same_device(device, s.device());
    check_rows(x, rows, "X", "rows");
    check_rows(y, cols, "Y", "columns");
    if (x.cols != y.cols) {
      throw Error(ErrorCode::size_mismatch,
                  concat("X has ", x.cols, " columns, Y has ", y.cols, " columns"));
    }
    if (values.size != nnz) {
      throw Error(ErrorCode::size_mismatch,
                  concat(values.size, " values for a pattern of ", nnz, " entries"));
    }
    sparse::check_matrix(x, device, "X");
    sparse::check_matrix(y, device, "Y");
    check_on_device(values.data, values.size, device, "the array of values");
    sparse::check_alignment(x.data, device, "X");
    sparse::check_alignment(y.data, device, "Y");
    sparse::check_alignment(values.data, device, "the array of values");
    check_apart(x, values, "X");
    check_apart(y, values, "Y");
    sparse::check_scalar(alpha, device, "alpha");
    sparse::check_scalar(beta, device, "beta");
  }

  void run(const Stream& s, const Scalar& alpha, const MatrixView<const T>& x,
           const MatrixView<const T>& y, const Scalar& beta, const VectorView<TOut>& values,
           std::byte* memory) const {
    check(s, alpha, x, y, beta, values);
    if (nnz == 0) return;
    sampler->run(s,
                 {x.data, strides_of(x), y.data, strides_of(y), x.cols, values.data, alpha, beta},
                 memory);
  }

  /// Elements of a single column are adjacent in their rows, however they stand.
  static sparse::Strides strides_of(const MatrixView<const T>& view) {
    sparse::Strides strides = sparse::strides_of(view);
    if (view.cols == 1) strides.column = 1;
    return strides;
  }

  std::string explain() const {
    std::string text = concat("SDDMM of ", to_string(kDType<T>));
    if (kDType<T> != kDType<TOut>) text += concat(", values of ", to_string(kDType<TOut>));
    if (conjugates) text += ", Y conjugated";
    text += concat(" on ", stream.device().name(), "\nA: ", rows, " x ", cols, " with ", nnz,
                   " entries, ", sampler->bytes(), " bytes: ", sampler->tell(),
                   "\nworkspace: ", sampler->workspace_bytes(), " bytes");
    if (sampler->workspace_bytes() > 0)
      text += concat(", for row-major copies of X and Y of up to ", columns_most, " columns");
    return text + "\n";
  }

  Stream stream;
  std::int64_t rows;
  std::int64_t cols;
  std::int64_t nnz;
  bool conjugates;
  std::int64_t columns_most;
  std::unique_ptr<const sparse::Sampler<T, TOut>> sampler;
  OwnWorkspace workspace;
};

template <class T, class TOut>
SddmmPlan<T, TOut>::SddmmPlan(const Stream& stream, const CsrView<T>& a,
                              const SddmmOptions& options)
    : impl_(sparse::within_host_memory(
          concat("hold a pattern of ", a.rows, " rows and ", a.nnz, " entries"),
          [&] { return std::make_unique<Impl>(stream, a, options); })) {}

template <class T, class TOut>
SddmmPlan<T, TOut>::SddmmPlan(SddmmPlan&&) noexcept = default;
template <class T, class TOut>
SddmmPlan<T, TOut>& SddmmPlan<T, TOut>::operator=(SddmmPlan&&) noexcept = default;
template <class T, class TOut>
SddmmPlan<T, TOut>::~SddmmPlan() = default;

template <class T, class TOut>
void SddmmPlan<T, TOut>::run(const Stream& stream, MatrixView<const T> x, MatrixView<const T> y,
                             VectorView<TOut> values) const {
  run(stream, Accumulator<T>{1}, x, y, Accumulator<T>{0}, values);
}

template <class T, class TOut>
void SddmmPlan<T, TOut>::run(const Stream& stream, Scalar alpha, MatrixView<const T> x,
                             MatrixView<const T> y, Scalar beta, VectorView<TOut> values) const {
  const OwnWorkspace::Turn turn = impl_->workspace.take(stream);
  impl_->run(stream, alpha, x, y, beta, values, turn.data());
}

template <class T, class TOut>
void SddmmPlan<T, TOut>::run(const Stream& stream, Scalar alpha, MatrixView<const T> x,
                             MatrixView<const T> y, Scalar beta, VectorView<TOut> values,
                             Workspace workspace) const {
  struct alignas(16) Word {};
  impl_->run(stream, alpha, x, y, beta, values,
             sparse::checked_workspace<Word>(workspace, workspace_bytes(), device()));
}

template <class T, class TOut>
std::int64_t SddmmPlan<T, TOut>::rows() const noexcept {
  return impl_->rows;
}

template <class T, class TOut>
std::int64_t SddmmPlan<T, TOut>::cols() const noexcept {
  return impl_->cols;
}

template <class T, class TOut>
std::int64_t SddmmPlan<T, TOut>::nnz() const noexcept {
  return impl_->nnz;
}

template <class T, class TOut>
Device SddmmPlan<T, TOut>::device() const noexcept {
  return impl_->stream.device();
}

template <class T, class TOut>
std::int64_t SddmmPlan<T, TOut>::workspace_bytes() const noexcept {
  return impl_->sampler->workspace_bytes();
}

template <class T, class TOut>
std::int64_t SddmmPlan<T, TOut>::device_bytes() const noexcept {
  return impl_->sampler->bytes() + impl_->sampler->workspace_bytes();
}

template <class T, class TOut>
std::string SddmmPlan<T, TOut>::explain() const {
  return impl_->explain();
}

template <class T, class TOut>
std::uint64_t SddmmPlan<T, TOut>::fingerprint() const {
  Fingerprint print(device());
  print.add("sddmm", to_string(kDType<T>), to_string(kDType<TOut>), impl_->conjugates);
  return print.value();
}

template <class T, class TOut>
void sddmm(const Stream& stream, Accumulator<T> alpha, const CsrView<T>& a,
           std::type_identity_t<MatrixView<const T>> x, std::type_identity_t<MatrixView<const T>> y,
           Accumulator<T> beta, VectorView<TOut> values) {
  const SddmmPlan<T, TOut> plan(stream, a);
  plan.run(stream, alpha, x, y, beta, values);
  stream.synchronize();
}

#define LANKY_INSTANTIATE(T, TOut)                                                           \
  template class SddmmPlan<T, TOut>;                                                         \
  template void sddmm(const Stream&, Accumulator<T>, const CsrView<T>&, MatrixView<const T>, \
                      MatrixView<const T>, Accumulator<T>, VectorView<TOut>);
LANKY_FOR_EACH_PLAN_TYPE(LANKY_INSTANTIATE)
#undef LANKY_INSTANTIATE

}  // namespace lanky::inline v1
