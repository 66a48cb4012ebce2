// C[m, n] = alpha (sum of partials[chunk][n][m] over the chunks) + beta C, in an order that depends
// on the number of chunks only.
#pragma once

#include "dense/cuda/tiled/tile.cuh"

namespace lanky::dense::cuda {

inline constexpr int kReduceElements = 32;  // of C, per block
inline constexpr int kReduceSlices = 16;    // threads that share an element's chunks

/// Block: 32 neighbouring elements of [n][m]. Warp `slice`: one element a lane, every 16th chunk
/// from `slice` on; warp 0 then adds the slices in order. 2 or 4 KiB of shared memory.
template <class T, class TOut>
__global__ __launch_bounds__(kReduceElements* kReduceSlices) void gemm_reduce_kernel(
    TileArguments<T, TOut> g) {
  using Acc = device::DeviceAccumulator<T>;
  __shared__ Acc slices[kReduceSlices][kReduceElements];
  const int lane = static_cast<int>(threadIdx.x) % kReduceElements;
  const int slice = static_cast<int>(threadIdx.x) / kReduceElements;
  const std::int64_t elements = g.problem.m * g.problem.n;
  const std::int64_t stride = std::int64_t{gridDim.x} * kReduceElements;

  for (std::int64_t first = std::int64_t{blockIdx.x} * kReduceElements; first < elements;
       first += stride) {
    const std::int64_t element = first + lane;
    Acc sum = 0;
    if (element < elements) {
#pragma unroll 4
      for (std::int64_t chunk = slice; chunk < g.split.count; chunk += kReduceSlices)
        sum += g.partials[chunk * elements + element];
    }
    slices[slice][lane] = sum;
    __syncthreads();  // every slice is written before warp 0 reads them
    if (slice == 0 && element < elements) {
      for (int other = 1; other < kReduceSlices; ++other)
        sum += slices[other][lane];
      finish(g, element % g.problem.m, element / g.problem.m, sum);
    }
    __syncthreads();  // they are read before the next elements overwrite them
  }
}

}  // namespace lanky::dense::cuda
