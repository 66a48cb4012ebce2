// Y = alpha A X + beta Y on a packed matrix, where rows of X are one word or two of a few columns:
// the kernels of one vector (multiply/spmv_window.cuh), whose lanes gather these in place of an
// element and have a sum for each column. Column j has the bits of one vector.
#pragma once

#include "sparse/cuda/multiply/spmv_window.cuh"

namespace lanky::sparse::cuda {

/// Threads and blocks of a multiprocessor, which limit registers: where the sums of a row are two
/// words, half as many threads have twice as many.
template <int kWide, Slices kSlices, class Product>
struct WordBounds {
  using Factor = typename Product::Factor;
  static constexpr bool kTwoWords = sizeof(Cell<Factor>) > kWordBytes;
  static constexpr int kThreads =
      kTwoWords && kWide > 1 ? kWideWordThreads : kThreadsBound<kWide, kSlices, Factor>;
  static constexpr int kLeastBlocks = !kTwoWords || kWide > 1 ? kBlocks<kWide, kSlices, Factor>
                                      : one_a_warp(kSlices)   ? 2
                                                              : 5;
};

template <int kWide, Slices kSlices, class Product>
__global__ void __launch_bounds__(WordBounds<kWide, kSlices, Product>::kThreads,
                                  WordBounds<kWide, kSlices, Product>::kLeastBlocks)
    spmm_word_kernel(
        const __grid_constant__ Product product,
        const __grid_constant__ DeviceMatrix<device::DeviceElement<typename Product::Element>> a,
        const __grid_constant__ DeviceWorkspace<typename Product::Element> workspace) {
  run_window<ByCudaCores, kWide, kSlices>(a, product, workspace);
}

}  // namespace lanky::sparse::cuda
