// The cuda executor of a build without CUDA.
#include <lanky/error.hpp>

#include "core/plan_types.hpp"
#include "dense/backend.hpp"
#include "dense/cuda/gram/policy.hpp"
#include "dense/cuda/panel/policy.hpp"

namespace lanky::dense::cuda {

template <class T, class TOut>
std::unique_ptr<Executor<T, TOut>> make(const Stream& /*stream*/, const Problem& /*problem*/,
                                        GemmFamily /*family*/, MeasuredChoices /*measured*/) {
  throw Error(ErrorCode::no_device, "this lanky was built without CUDA; use the cpu device");
}

std::vector<GemmChoice> choices(const GemmQuery& /*query*/, const Problem& /*problem*/,
                                GemmFamily /*family*/, int /*most*/) {
  return {};
}

std::vector<std::string> vendor_algorithms(Device /*device*/, const Problem& /*problem*/,
                                           DType /*in*/, DType /*out*/, int /*most*/) {
  return {};
}

#define LANKY_INSTANTIATE(T, TOut)                                                         \
  template std::unique_ptr<Executor<T, TOut>> make<T, TOut>(const Stream&, const Problem&, \
                                                            GemmFamily, MeasuredChoices);
LANKY_FOR_EACH_SUMMED_TYPE(LANKY_INSTANTIATE)
#undef LANKY_INSTANTIATE

}  // namespace lanky::dense::cuda

namespace lanky::dense {

std::vector<PanelKernel> panel_kernels(DType /*in*/) {
  return {};
}

std::int64_t gram_shared_bytes(const GramLaunch& /*launch*/, const Problem& /*problem*/,
                               Types /*types*/, CodeTarget /*code*/) {
  return 0;
}

}  // namespace lanky::dense
