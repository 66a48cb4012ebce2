// C[m, n] = alpha A[m, k] B[k, n] + beta C on CUDA cores, A column-major, long m, few columns n: a
// thread keeps 16 bytes of rows times all columns as sums; B is read from shared memory, the same
// address for the whole warp.
#pragma once

#include "dense/cuda/update_arguments.cuh"

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
        return device::conjugate_if(g.conj_b,
                                    device::widen(g.b[p * g.b_strides.row + j * g.b_strides.col]));
      },
      [&](int slot, Acc value) { b_rows[slot] = value; });
}

/// A and C column-major and wide; m a multiple of the rows of a thread. Block: blockDim.x times 16
/// bytes of rows a pass, kColumns columns for each threadIdx.y. Thread: 16 bytes of adjacent rows x
/// kColumns sums. From 16 columns on, the next kDepth columns of A, or those of the next pass, are
/// in flight while these are multiplied: H200, f32 1e6 x 16 x 16: .935 of the floor; loading each
/// column's successor as soon as it is used .68, two buffers in turn without copies .88.
/// Shared memory: B as [blockDim.y][k][kColumns].
template <int kVariant, class T, class TOut>
__global__ void __launch_bounds__(256) update_direct_kernel(UpdateArguments<T, TOut> g) {
  using Acc = device::DeviceAccumulator<T>;
  using Element = device::DeviceElement<T>;
  constexpr int kRows = kWide<Element>;
  constexpr int kColumns = kUpdateDirect[kVariant].columns;
  constexpr int kDepth = kUpdateDirect[kVariant].depth;
  constexpr bool kAhead = kColumns >= 16;
  extern __shared__ __align__(16) char staged[];
  device::let_next_kernel_start();
  Acc* const b_rows = reinterpret_cast<Acc*>(staged) + threadIdx.y * g.k * kColumns;
  const int j0 = static_cast<int>(threadIdx.y) * kColumns;
  const int passes = kAhead ? g.passes : 1;
  std::int64_t i0 =
      (static_cast<std::int64_t>(blockIdx.x) * passes * blockDim.x + threadIdx.x) * kRows;
  device::wait_for_kernel_ahead();
  const Factors<Acc> factors(g);
  const int k = factors.k;

  using Values = Element[kDepth][kRows];
  const auto load = [&](Values& values, std::int64_t i, int p0) {
    if (i >= g.m) return;
    const std::int64_t ld = device::opaque(g.a_strides.col);
    const Element* const a = g.a + i;
#pragma unroll
    for (int p = 0; p < kDepth; ++p)
      if (p0 + p < k) device::load_constant(values[p], a + (p0 + p) * ld);
  };
  Values values;
  load(values, i0, 0);  // in flight while B is staged
  stage_b<kColumns>(b_rows, g, k, k, j0);
  __syncthreads();  // B is written before it is read
  for (int pass = 0; pass < passes && i0 < g.m; ++pass) {
    const std::int64_t next_i0 = i0 + static_cast<int>(blockDim.x) * kRows;
    Acc sums[kRows][kColumns] = {};
    for (int p0 = 0; p0 < k; p0 += kDepth) {
      Values next;
      const bool last = p0 + kDepth >= k;
      if constexpr (kAhead) {
        if (!last) {
          load(next, i0, p0 + kDepth);
        } else if (pass + 1 < passes) {
          load(next, next_i0, 0);
        }
      }
#pragma unroll
      for (int p = 0; p < kDepth; ++p) {
        if (p0 + p >= k) break;
        Acc column[kColumns];
        device::load_words(column, b_rows + (p0 + p) * kColumns);
#pragma unroll
        for (int r = 0; r < kRows; ++r) {
          const Acc value = device::conjugate_if(g.conj_a, device::widen(values[p][r]));
#pragma unroll
          for (int j = 0; j < kColumns; ++j)
            sums[r][j] = fma(value, column[j], sums[r][j]);
        }
      }
      if constexpr (kAhead) {
        memcpy(&values, &next, sizeof(values));
      } else if (!last) {
        load(values, i0, p0 + kDepth);
      }
    }
    const std::int64_t ld = device::opaque(g.c_strides.col);
#pragma unroll
    for (int j = 0; j < kColumns; ++j) {
      if (j0 + j >= g.n) break;
      Acc column[kRows];
#pragma unroll
      for (int r = 0; r < kRows; ++r)
        column[r] = sums[r][j];
      finish(g.c + i0 + (j0 + j) * ld, column, factors);
    }
    i0 = next_i0;
  }
}

}  // namespace lanky::dense::cuda
