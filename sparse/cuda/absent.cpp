// Stands in for the kernels in a build without CUDA. No CUDA device is ever found there, so that
// these are out of reach of a caller.
#include <lanky/error.hpp>

#include "core/plan_types.hpp"
#include "sparse/backend.hpp"

namespace lanky::sparse::cuda {

template <class T, class TOut>
void run(const Stream& /*stream*/, SpmvPath /*path*/, const PackedView<T>& /*a*/,
         const Product<T, TOut>& /*product*/) {
  throw Error(ErrorCode::no_device, "spmv on a GPU: this lanky was built without CUDA");
}

#define LANKY_INSTANTIATE(T, TOut) \
  template void run(const Stream&, SpmvPath, const PackedView<T>&, const Product<T, TOut>&);
LANKY_FOR_EACH_PLAN_TYPE(LANKY_INSTANTIATE)
#undef LANKY_INSTANTIATE

}  // namespace lanky::sparse::cuda
