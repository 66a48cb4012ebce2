// C[m, n] = alpha A[m, k] B[k, n] + beta C on CUDA cores, A and C row-major, long m, middling n: a
// warp brings a tile of A through shared memory, its threads hold squares of sums.
#pragma once

#include "dense/cuda/update_arguments.cuh"
#include "dense/cuda/update_direct.cuh"

namespace lanky::dense::cuda {

/// Thread (r, c) = (lane / 4, lane % 4) of a warp: rows r + 8 i, i < kRows; columns c V + 4 V h +
/// {0 ... V - 1}, V elements being 16 bytes, h < kParts. A passes in tiles of 8 kRows rows x kWords
/// V of k, rows padded to an odd number of 16-byte words so that eight of them are read without
/// conflict. k and n are multiples of V.
template <int kVariant, class T, class TOut>
__global__ void __launch_bounds__(128) update_tile_kernel(UpdateArguments<T, TOut> g) {
  using Acc = device::DeviceAccumulator<T>;
  using Element = device::DeviceElement<T>;
  constexpr int kRows = kUpdateTile[kVariant].rows;
  constexpr int kParts = kUpdateTile[kVariant].parts;
  constexpr int kWords = kUpdateTile[kVariant].words;
  constexpr int V = kWide<Element>;
  constexpr int kPitch = kWords | 1;
  constexpr int kWidth = 4 * V * kParts;
  constexpr int kLoads = 8 * kRows * kWords / 32;
  extern __shared__ __align__(16) char staged[];
  auto* const b_rows = reinterpret_cast<Acc*>(staged);  // [k][kWidth]
  device::let_next_kernel_start();
  device::wait_for_kernel_ahead();
  const Factors<Acc> factors(g);
  const int k = factors.k;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const int pass_rows = static_cast<int>(blockDim.x) / 4 * kRows;
  auto* const tile = reinterpret_cast<uint4*>(b_rows + g.k * kWidth) + warp * (8 * kRows * kPitch);
  std::int64_t first =
      static_cast<std::int64_t>(blockIdx.x) * g.passes * pass_rows + warp * (8 * kRows);
  const int load_row = lane / kWords;
  const int load_word = lane % kWords;

  uint4 words[kLoads];
  const auto load = [&](std::int64_t i0, int k0) {
    const std::int64_t ld = device::opaque(g.a_strides.row);
    const Element* const a = g.a + (i0 + load_row) * ld + load_word * V + k0;
#pragma unroll
    for (int x = 0; x < kLoads; ++x) {
      const int row = x * (32 / kWords);
      if (k0 + load_word * V < k && i0 + load_row + row < g.m) {
        words[x] = __ldg(reinterpret_cast<const uint4*>(a + row * ld));
      } else {
        words[x] = make_uint4(0, 0, 0, 0);
      }
    }
  };
  load(first, 0);  // in flight while B is staged
  stage_b<kWidth>(b_rows, g, k, k, 0);
  __syncthreads();  // B is written before it is read
  for (int pass = 0; pass < g.passes; ++pass) {
    Acc sums[kRows][kParts][V] = {};
    for (int k0 = 0; k0 < k; k0 += kWords * V) {
      __syncwarp();  // the last tile is read before this one overwrites it
#pragma unroll
      for (int x = 0; x < kLoads; ++x)
        tile[(load_row + x * (32 / kWords)) * kPitch + load_word] = words[x];
      __syncwarp();  // the tile is written before it is read
      if (k0 + kWords * V < k) {
        load(first, k0 + kWords * V);
      } else if (pass + 1 < g.passes) {
        load(first + pass_rows, 0);
      }
#pragma unroll
      for (int w = 0; w < kWords; ++w) {
        if (k0 + w * V >= k) break;
        Element values[kRows][V];
#pragma unroll
        for (int r = 0; r < kRows; ++r)
          device::load_wide(
              values[r], reinterpret_cast<const Element*>(tile + (lane / 4 + 8 * r) * kPitch + w));
#pragma unroll
        for (int e = 0; e < V; ++e) {
#pragma unroll
          for (int h = 0; h < kParts; ++h) {
            Acc column[V];
            device::load_words(column, b_rows + (k0 + w * V + e) * kWidth + (h * 4 + lane % 4) * V);
#pragma unroll
            for (int r = 0; r < kRows; ++r) {
              const Acc value = device::widen(values[r][e]);
#pragma unroll
              for (int q = 0; q < V; ++q)
                sums[r][h][q] = fma(value, column[q], sums[r][h][q]);
            }
          }
        }
      }
    }
    const std::int64_t ld = device::opaque(g.c_strides.row);
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      const std::int64_t i = first + lane / 4 + 8 * r;
      if (i >= g.m) break;
#pragma unroll
      for (int h = 0; h < kParts; ++h) {
        const int j = (h * 4 + lane % 4) * V;
        if (j < g.n) finish(g.c + i * ld + j, sums[r][h], factors);
      }
    }
    first += pass_rows;
  }
}

}  // namespace lanky::dense::cuda
