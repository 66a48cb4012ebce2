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

template <int kVariant>
inline constexpr bool kDirectAhead = kUpdateDirect[kVariant].ahead();
template <int kVariant>
inline constexpr int kDirectRound = kUpdateDirect[kVariant].round();

/// A and C column-major and wide; m a multiple of the rows of a thread. Block: blockDim.x times 16
/// bytes of rows a pass, kColumns columns for each threadIdx.y. Thread: 16 bytes of adjacent rows x
/// kColumns sums. From 16 columns on, the next kDepth columns of A, or those of the next pass, are
/// in flight while these are multiplied. Shared memory: B as [blockDim.y][k][kColumns], k rounded
/// up to 2 kDepth.
template <int kVariant, class T, class TOut>
__global__ void __launch_bounds__(256) update_direct_kernel(UpdateArguments<T, TOut> g) {
  using Acc = device::DeviceAccumulator<T>;
  using Element = device::DeviceElement<T>;
  constexpr int kRows = kWide<Element>;
  constexpr int kColumns = kUpdateDirect[kVariant].columns;
  constexpr int kDepth = kUpdateDirect[kVariant].depth;
  constexpr bool kAhead = kDirectAhead<kVariant>;
  constexpr int kRound = kDirectRound<kVariant>;
  extern __shared__ __align__(16) char staged[];
  device::let_next_kernel_start();
  const int deep = (g.k + kRound - 1) / kRound * kRound;
  Acc* const b_rows = reinterpret_cast<Acc*>(staged) + threadIdx.y * deep * kColumns;
  const int j0 = static_cast<int>(threadIdx.y) * kColumns;
  const int passes = kAhead ? g.passes : 1;
  std::int64_t i0 =
      (static_cast<std::int64_t>(blockIdx.x) * passes * blockDim.x + threadIdx.x) * kRows;
  device::wait_for_kernel_ahead();
  const Factors<Acc> factors(g);
  const int k = factors.k;

  using Values = Element[kDepth][kRows];
  const auto load = [&](Values& values, std::int64_t i, int p0) {
    const std::int64_t ld = device::opaque(g.a_strides.col);
    const Element* const a = g.a + i + p0 * ld;
    const bool there = i < g.m;
#pragma unroll
    for (int p = 0; p < kDepth; ++p) {
      if (there && p0 + p < k) {
        device::load_constant(values[p], a + p * ld);
      } else {
        memset(values[p], 0, sizeof(values[p]));
      }
    }
  };
  Acc sums[kRows][kColumns];
  const auto multiply = [&](const Values& values, int p0) {
#pragma unroll
    for (int p = 0; p < kDepth; ++p) {
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
  };
  Values values;
  load(values, i0, 0);  // in flight while B is staged
  stage_b<kColumns>(b_rows, g, k, deep, j0);
  __syncthreads();  // B is written before it is read
  for (int pass = 0; pass < passes && i0 < g.m; ++pass) {
    const std::int64_t next_i0 = i0 + static_cast<int>(blockDim.x) * kRows;
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
#pragma unroll
      for (int j = 0; j < kColumns; ++j)
        sums[r][j] = Acc(0);
    }
    for (int p0 = 0; p0 < k; p0 += kRound) {
      if constexpr (kAhead) {
        Values next;
        load(next, i0, p0 + kDepth);
        multiply(values, p0);
        if (p0 + kRound < k) {
          load(values, i0, p0 + kRound);
        } else if (pass + 1 < passes) {
          load(values, next_i0, 0);
        }
        multiply(next, p0 + kDepth);
      } else {
        if (p0 > 0) load(values, i0, p0);
        multiply(values, p0);
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
