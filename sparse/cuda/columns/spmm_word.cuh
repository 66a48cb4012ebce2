// Y = alpha A X + beta Y on a packed matrix, where rows of X are one word of a few columns: the
// kernels of one vector (multiply/spmv_window.cuh), whose lanes gather a word in place of an
// element and have a sum for each of its columns. Column j has the bits of one vector.
#pragma once

#include "sparse/cuda/multiply/spmv_window.cuh"

namespace lanky::sparse::cuda {

template <int kWide, Slices kSlices, class Product>
__global__ void __launch_bounds__(kThreadsBound<kWide, kSlices, typename Product::Factor>,
                                  kBlocks<kWide, kSlices, typename Product::Factor>)
    spmm_word_kernel(
        const __grid_constant__ Product product,
        const __grid_constant__ DeviceMatrix<device::DeviceElement<typename Product::Element>> a,
        const __grid_constant__ DeviceWorkspace<typename Product::Element> workspace) {
  run_window<ByCudaCores, kWide, kSlices>(a, product, workspace);
}

}  // namespace lanky::sparse::cuda
