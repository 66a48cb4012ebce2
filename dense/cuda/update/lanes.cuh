// C[m, n] = alpha A[m, k] B[k, n] + beta C on CUDA cores, A and C row-major, long m, short rows:
// the lanes of a row hold its elements 16 bytes each and B's rows of them in registers; partial
// sums are scattered and added by shuffles, so that every access is wide and coalesced.
#pragma once

#include "dense/cuda/update/arguments.cuh"

namespace lanky::dense::cuda {

template <int kVariant, bool kAdds, class T, class TOut>
__global__ void __launch_bounds__(256) update_lanes_kernel(UpdateArguments<T, TOut> g) {
  using Acc = device::DeviceAccumulator<T>;
  using Element = device::DeviceElement<T>;
  constexpr UpdateLanes kShape = kUpdateLanes[kVariant];
  constexpr int kLanes = kShape.lanes;
  constexpr int kSpan = kShape.span;
  constexpr int kColumns = kShape.columns;
  constexpr int kRowsOfWarp = 32 / kLanes;
  static_assert(kLanes <= 2);  // partial sums are exchanged once
  device::let_next_kernel_start();
  device::wait_for_kernel_ahead();
  const Factors<Acc> factors(g);
  const int k = factors.k;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int in_row = lane % kLanes;
  const std::int64_t warp =
      static_cast<std::int64_t>(blockIdx.x) * (blockDim.x / 32) + threadIdx.x / 32;
  const std::int64_t i0 = warp * (kRowsOfWarp * kShape.unroll) + lane / kLanes;
  const int p0 = in_row * kSpan;

  Element values[kShape.unroll][kSpan];
#pragma unroll
  for (int u = 0; u < kShape.unroll; ++u) {
    const std::int64_t i = i0 + u * kRowsOfWarp;
    if (i < g.m && p0 < k) {
      device::load_constant(values[u], g.a + i * g.a_strides.row + p0);
    } else {
      const Element zeros[kSpan] = {};
      memcpy(values[u], zeros, sizeof(zeros));
    }
  }
  constexpr int kWidth = kLanes * kColumns;
  constexpr int kPitch = kSpan * kWidth + kWide<Acc>;  // lanes of a row read other banks
  __shared__ __align__(16) Acc b_rows[kLanes * kPitch];
  stage<2>(
      kLanes * kSpan * kWidth,
      [&](int slot) {
        const int p = slot / kWidth;
        const int y = slot % kWidth / kColumns;
        const int j = (p / kSpan ^ y) * kColumns + slot % kColumns;
        return p < k && j < g.n ? device::widen(g.b[p * g.b_strides.row + j * g.b_strides.col])
                                : Acc(0);
      },
      [&](int slot, Acc value) { b_rows[slot + slot / (kSpan * kWidth) * kWide<Acc>] = value; });
  __syncthreads();  // B is written before it is read
  // Slot y holds the columns that end in lane in_row ^ y of the row.
  Acc sums[kShape.unroll][kLanes][kColumns] = {};
#pragma unroll
  for (int e = 0; e < kSpan; ++e) {
#pragma unroll
    for (int y = 0; y < kLanes; ++y) {
      Acc column[kColumns];
      device::load_words(column, b_rows + in_row * kPitch + e * kWidth + y * kColumns);
#pragma unroll
      for (int u = 0; u < kShape.unroll; ++u) {
        const Acc value = device::widen(values[u][e]);
#pragma unroll
        for (int q = 0; q < kColumns; ++q)
          sums[u][y][q] = fma(value, column[q], sums[u][y][q]);
      }
    }
  }
  constexpr int kBatch = kLinesAtOnce<kAdds, kShape.unroll>;
#pragma unroll
  for (int u0 = 0; u0 < kShape.unroll; u0 += kBatch) {
    if constexpr (kLanes == 2) {
#pragma unroll
      for (int u = u0; u < u0 + kBatch; ++u) {
#pragma unroll
        for (int q = 0; q < kColumns; ++q)
          sums[u][0][q] += device::shuffle_xor(sums[u][1][q], 1);
      }
    }
    const int j = in_row * kColumns;
    const auto i = [&](int u) { return i0 + (u0 + u) * kRowsOfWarp; };
    leave_words<kAdds, kBatch, kColumns>(
        factors, [&](int u) { return i(u) < g.m && j < g.n; },
        [&](int u) { return g.c + i(u) * g.c_strides.row + j; },
        [&](int u, int q) { return sums[u0 + u][0][q]; });
  }
}

}  // namespace lanky::dense::cuda
