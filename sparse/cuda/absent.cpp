// Stands in for the kernels in a build without CUDA. No CUDA device is ever found there, so that
// these are out of reach of a caller.
#include <lanky/error.hpp>

#include "sparse/backend.hpp"

namespace lanky::sparse::cuda {

template <class T, class TOut>
void run(const Stream& /*stream*/, SpmvPath /*path*/, const PackedView<T>& /*a*/,
         const Product<T, TOut>& /*product*/) {
  throw Error(ErrorCode::no_device, "spmv on a GPU: this lanky was built without CUDA");
}

#define LANKY_INSTANTIATE(T, TOut) \
  template void run(const Stream&, SpmvPath, const PackedView<T>&, const Product<T, TOut>&);
LANKY_INSTANTIATE(double, double)
LANKY_INSTANTIATE(float, float)
LANKY_INSTANTIATE(half, half)
LANKY_INSTANTIATE(half, float)
LANKY_INSTANTIATE(bfloat16, bfloat16)
LANKY_INSTANTIATE(bfloat16, float)
#undef LANKY_INSTANTIATE

}  // namespace lanky::sparse::cuda
