// y = alpha A x + beta y on a packed matrix: the kernels. A block is 4 warps, each with a unit of
// work of its own (spmv_warp.cuh); no shared memory, no barrier, no atomics.
#pragma once

#include "sparse/cuda/spmv_warp.cuh"

namespace lanky::sparse::cuda {

inline constexpr int kWarpsPerBlock = 4;
inline constexpr int kFinishThreads = 256;

__device__ inline std::int64_t unit_of_warp() {
  return static_cast<std::int64_t>(blockIdx.x) * kWarpsPerBlock + threadIdx.x / 32;
}

/// Tensor cores: every class through the diagonal of MMA products (row_sum.cuh draws them).
template <class E, class EOut, class Sum>
__global__ void __launch_bounds__(kWarpsPerBlock * 32)
    spmv_mma_kernel(const __grid_constant__ PackedView<E> a,
                    const __grid_constant__ DeviceProduct<E, EOut, Sum> product) {
  run_unit<MmaSum>(a, product, unit_of_warp(), static_cast<int>(threadIdx.x % 32));
}

/// CUDA cores: fused multiply-adds in IEEE arithmetic of the accumulator type.
template <class E, class EOut, class Sum>
__global__ void __launch_bounds__(kWarpsPerBlock * 32)
    spmv_cuda_kernel(const __grid_constant__ PackedView<E> a,
                     const __grid_constant__ DeviceProduct<E, EOut, Sum> product) {
  run_unit<CudaSum>(a, product, unit_of_warp(), static_cast<int>(threadIdx.x % 32));
}

/// Sums the pieces of split rows and writes their y; kThreads (32 or all 256 of the block) share a
/// row. Thread i adds partials i, i + kThreads, ...; then lanes, then warps, in a fixed order.
/// Shared memory: one sum a warp.
template <int kThreads, class E, class EOut, class Sum>
__global__ void __launch_bounds__(kFinishThreads)
    spmv_finish_kernel(const __grid_constant__ PackedView<E> a,
                       const __grid_constant__ DeviceProduct<E, EOut, Sum> product) {
  static_assert(kThreads == 32 || kThreads == kFinishThreads);
  constexpr int kRowsPerBlock = kFinishThreads / kThreads;
  const std::int64_t split_row =
      static_cast<std::int64_t>(blockIdx.x) * kRowsPerBlock + threadIdx.x / kThreads;
  if (split_row >= a.header.split_rows) return;  // whole warps; whole blocks where they share a row
  const std::int64_t end = a.split_starts[split_row + 1];
  Sum sum = 0;
#pragma unroll 8
  for (std::int64_t piece = a.split_starts[split_row] + threadIdx.x % kThreads; piece < end;
       piece += kThreads) {
    sum += product.partials[piece];
  }
#pragma unroll
  for (int mask = 1; mask < 32; mask *= 2)
    sum += __shfl_xor_sync(kWholeWarp, sum, mask);
  if constexpr (kThreads > 32) {
    __shared__ Sum warp_sums[kThreads / 32];
    if (threadIdx.x % 32 == 0) warp_sums[threadIdx.x / 32] = sum;
    __syncthreads();  // every warp's sum is stored before thread 0 reads it
    if (threadIdx.x == 0) {
      for (int warp = 1; warp < kThreads / 32; ++warp)
        sum += warp_sums[warp];
    }
  }
  if (threadIdx.x % kThreads == 0) {
    RowWriter<EOut, Sum>(product).write(a.long_rows[split_row], sum);
  }
}

}  // namespace lanky::sparse::cuda
