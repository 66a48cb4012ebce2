// Stands in for the GPU's side in a build without CUDA. No CUDA device is ever found there, so that
// this is out of reach of a caller.
#include <lanky/error.hpp>

#include "core/plan_types.hpp"
#include "sparse/backend.hpp"
#include "sparse/sampler.hpp"

namespace lanky::sparse::cuda {

template <class T, class TOut>
std::unique_ptr<const Executor<T, TOut>> make(const Stream& /*stream*/) {
  throw Error(ErrorCode::no_device, "spmv on a GPU: this lanky was built without CUDA");
}

template <class T, class TOut>
std::unique_ptr<const Sampler<T, TOut>> make_sampler(const Stream& /*stream*/,
                                                     const CsrView<T>& /*a*/,
                                                     const SddmmOptions& /*options*/) {
  throw Error(ErrorCode::no_device, "sddmm on a GPU: this lanky was built without CUDA");
}

#define LANKY_INSTANTIATE(T, TOut)                                                                \
  template std::unique_ptr<const Executor<T, TOut>> make(const Stream&);                          \
  template std::unique_ptr<const Sampler<T, TOut>> make_sampler(const Stream&, const CsrView<T>&, \
                                                                const SddmmOptions&);
LANKY_FOR_EACH_PLAN_TYPE(LANKY_INSTANTIATE)
#undef LANKY_INSTANTIATE

}  // namespace lanky::sparse::cuda
