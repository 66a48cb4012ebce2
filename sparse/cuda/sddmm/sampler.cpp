// Sampled products on a GPU.
#include <lanky/dtype.hpp>

#include "core/plan_types.hpp"
#include "core/text.hpp"
#include "sparse/cuda/sddmm/steps.hpp"
#include "sparse/cuda/steps.hpp"
#include "sparse/launch.hpp"
#include "sparse/load_pattern.hpp"
#include "sparse/sampler.hpp"

namespace lanky::sparse::cuda {

namespace {

template <class T, class TOut>
class CudaSampler final : public Sampler<T, TOut> {
 public:
  CudaSampler(const Stream& stream, const CsrView<T>& a, const SddmmOptions& options)
      : conjugates_(options.conjugate_y && is_complex(kDType<T>)),
        pattern_(make_quads(
            stream,
            load_pattern(stream, extents_of(a), a.row_offsets, a.col_indices, cuda::kExamination),
            options.allocator)),
        room_(a.rows, a.cols, options.expected_columns, word_columns(sizeof(T))) {
    load_sddmm<T>(stream);
  }

  std::int64_t bytes() const noexcept override { return pattern_.bytes(); }
  std::int64_t workspace_bytes() const noexcept override {
    return room_.elements() * static_cast<std::int64_t>(sizeof(T));
  }
  std::string tell() const override {
    return concat("quads of ", kQuad, " entries, shared out to groups of lanes");
  }
  void run(const Stream& stream, const SampleOperands<T, TOut>& operands,
           std::byte* workspace) const override {
    run_sddmm(stream, pattern_, room_, operands, conjugates_, reinterpret_cast<T*>(workspace));
  }

 private:
  bool conjugates_;
  Quads pattern_;
  CopiesRoom room_;
};

}  // namespace

template <class T, class TOut>
std::unique_ptr<const Sampler<T, TOut>> make_sampler(const Stream& stream, const CsrView<T>& a,
                                                     const SddmmOptions& options) {
  return std::make_unique<const CudaSampler<T, TOut>>(stream, a, options);
}

#define LANKY_INSTANTIATE(T, TOut)                                                                \
  template std::unique_ptr<const Sampler<T, TOut>> make_sampler(const Stream&, const CsrView<T>&, \
                                                                const SddmmOptions&);
LANKY_FOR_EACH_PLAN_TYPE(LANKY_INSTANTIATE)
#undef LANKY_INSTANTIATE

}  // namespace lanky::sparse::cuda
