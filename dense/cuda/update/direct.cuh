// C[m, n] = alpha A[m, k] B[k, n] + beta C on CUDA cores, A column-major, long m, few columns n: a
// thread keeps 16 bytes of rows times all columns as sums; B is read from shared memory, the same
// address for the whole warp.
#pragma once

#include "dense/cuda/update/arguments.cuh"

namespace lanky::dense::cuda {

/// b_rows[p][j] = B(p, j0 + j) for p < depth, j < kColumns, zero from k and n on; by the threads of
/// a row of the block. Ends without a barrier.
template <int kColumns, class T, class TOut>
__device__ void stage_b(device::DeviceAccumulator<T>* b_rows, const UpdateArguments<T, TOut>& g,
                        int k, int depth, int j0) {
  using Acc = device::DeviceAccumulator<T>;
  stage<kColumns <= 4   ? 1
        : kColumns <= 8 ? 2
                        : 4>(
      depth * kColumns,
      [&](int slot) {
        const int p = slot / kColumns;
        const int j = j0 + slot % kColumns;
        if (p >= k || j >= g.n) return Acc(0);
        return device::conjugate_if(
            g.conj_b, device::factor<Acc>(g.b[p * g.b_strides.row + j * g.b_strides.col]));
      },
      [&](int slot, Acc value) { b_rows[slot] = value; });
}

/// A and C column-major and wide; m a multiple of the rows of a thread. Block: blockDim.x times 16
/// bytes of rows. Thread: 16 bytes of adjacent rows x kColumns sums. Shared memory: B as
/// [k rounded up to kDepth][kColumns].
template <int kVariant, bool kAdds, class T, class TOut>
__global__ void __launch_bounds__(256, kUpdateDirect[kVariant].resident)
    update_direct_kernel(UpdateArguments<T, TOut> g) {
  using Acc = device::DeviceAccumulator<T>;
  using Element = device::DeviceElement<T>;
  constexpr int kRows = kWide<Element>;
  constexpr int kColumns = kUpdateDirect[kVariant].columns;
  constexpr int kPitch = kUpdateDirect[kVariant].pitch();
  constexpr int kDepth = kUpdateDirect[kVariant].depth;
  extern __shared__ __align__(16) char staged[];
  device::let_next_kernel_start();
  Acc* const b_rows = reinterpret_cast<Acc*>(staged);
  const std::int64_t i0 =
      (static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x) * kRows;
  device::wait_for_kernel_ahead();
  const Factors<Acc> factors(g);
  const int k = factors.k;

  Element values[kDepth][kRows];
  const auto load = [&](int p0) {
    if (i0 >= g.m) return;
    const std::int64_t ld = device::opaque(g.a_strides.col);
    const Element* const a = g.a + i0;
#pragma unroll
    for (int p = 0; p < kDepth; ++p)
      if (p0 + p < k) device::load_constant(values[p], a + (p0 + p) * ld);
  };
  load(0);  // in flight while B is staged
  if constexpr (kAdds)
    prefetch_c(g, factors, i0 - static_cast<int>(threadIdx.x) % 32 * kRows, 32 * kRows, 0, g.n);
  stage_b<kPitch>(b_rows, g, k, k, 0);
  __syncthreads();  // B is written before it is read
  if (i0 >= g.m) return;
  Acc sums[kRows][kColumns] = {};
  for (int p0 = 0; p0 < k; p0 += kDepth) {
#pragma unroll
    for (int p = 0; p < kDepth; ++p) {
      if (p0 + p >= k) break;
      Acc column[kPitch];
      device::load_words(column, b_rows + (p0 + p) * kPitch);
#pragma unroll
      for (int r = 0; r < kRows; ++r) {
        const Acc value = device::conjugate_if(g.conj_a, device::widen(values[p][r]));
#pragma unroll
        for (int j = 0; j < kColumns; ++j)
          sums[r][j] = fma(value, column[j], sums[r][j]);
      }
    }
    if (p0 + kDepth < k) load(p0 + kDepth);
  }
  const std::int64_t ld = device::opaque(g.c_strides.col);
  constexpr int kBatch = kLinesAtOnce<kAdds, kColumns>;
#pragma unroll
  for (int j0 = 0; j0 < kColumns; j0 += kBatch) {
    if (j0 >= g.n) break;
    leave_words<kAdds, kBatch, kRows>(
        factors, [&](int j) { return j0 + j < g.n; },
        [&](int j) { return g.c + i0 + (j0 + j) * ld; },
        [&](int j, int r) { return sums[r][j0 + j]; });
  }
}

}  // namespace lanky::dense::cuda
