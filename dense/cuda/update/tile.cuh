// C[m, n] = alpha A[m, k] B[k, n] + beta C on CUDA cores, A and C of one layout, long m, middling
// n: a warp brings a tile of A through shared memory, its threads hold squares of sums.
#pragma once

#include "dense/cuda/update/arguments.cuh"
#include "dense/cuda/update/direct.cuh"

namespace lanky::dense::cuda {

/// How a warp's lanes share out a tile of 32 rows of A, kWords words along k (by rows) or kDeep
/// columns (by columns), and the squares of sums. V elements are 16 bytes.
template <class T, class TOut, bool kByColumns, int kWords>
struct UpdateTileSide;

/// By rows: lane (r, c) = (lane / 4, lane % 4) has rows r + 8 i. Rows of the tile are padded to an
/// odd number of words, so that eight of them are read without conflict. k and n are multiples of
/// V.
template <class T, class TOut, int kWords>
struct UpdateTileSide<T, TOut, false, kWords> {
  using Acc = device::DeviceAccumulator<T>;
  using Element = device::DeviceElement<T>;
  static constexpr int V = kWide<Element>;
  static constexpr int kRows = 4;  // of a lane
  static constexpr int kDeep = kWords * V;
  static constexpr int kPitch = kWords | 1;
  static constexpr int kTile = 8 * kRows * kPitch;  // words
  static constexpr int kLoads = kRows * kWords / 4;

  static __device__ int row_lane(int lane) { return lane / 4; }
  static __device__ int column_lane(int lane) { return lane % 4; }
  static __device__ std::int64_t row(int lane, int i) { return lane / 4 + 8 * i; }
  static __device__ void load(uint4 (&words)[kLoads], const UpdateArguments<T, TOut>& g, int k,
                              std::int64_t first, int k0, int lane) {
    const std::int64_t i = first + lane / kWords;
    const int p = k0 + lane % kWords * V;
    const std::int64_t ld = device::opaque(g.a_strides.row);
    const Element* const a = g.a + i * ld + p;
#pragma unroll
    for (int x = 0; x < kLoads; ++x) {
      const int down = x * (32 / kWords);
      words[x] = p < k && i + down < g.m ? __ldg(reinterpret_cast<const uint4*>(a + down * ld))
                                         : make_uint4(0, 0, 0, 0);
    }
  }
  static __device__ void keep(uint4* tile, const uint4 (&words)[kLoads], int lane) {
#pragma unroll
    for (int x = 0; x < kLoads; ++x)
      tile[(lane / kWords + x * (32 / kWords)) * kPitch + lane % kWords] = words[x];
  }
  /// values[i][e] = A of row i of the lane, column w V + e of the tile.
  static __device__ void read(Element (&values)[kRows][V], const uint4* tile, int w, int lane) {
#pragma unroll
    for (int i = 0; i < kRows; ++i) {
      const uint4 word = tile[(lane / 4 + 8 * i) * kPitch + w];
      memcpy(values[i], &word, sizeof(word));
    }
  }
  template <bool kAdds, int kParts>
  static __device__ void store(const Acc (&sums)[kRows][kParts][V],
                               const UpdateArguments<T, TOut>& g, const Factors<Acc>& factors,
                               std::int64_t first, int lane) {
    const std::int64_t ld = device::opaque(g.c_strides.row);
    constexpr int kLines = kLinesAtOnce<kAdds, kRows, kParts>;
#pragma unroll
    for (int i0 = 0; i0 < kRows; i0 += kLines) {
      const std::int64_t row = first + lane / 4 + 8 * i0;
      if (row >= g.m) break;
      const auto i = [&](int w) { return row + w / kParts * 8; };
      const auto j = [&](int w) { return (w % kParts * 4 + lane % 4) * V; };
      leave_words<kAdds, kLines * kParts, V>(
          factors, [&](int w) { return i(w) < g.m && j(w) < g.n; },
          [&](int w) { return g.c + i(w) * ld + j(w); },
          [&](int w, int e) { return sums[i0 + w / kParts][w % kParts][e]; });
    }
  }
};

/// By columns: lane (r, c) = (lane % 8, lane / 8) has the V rows of word r of each column. m is a
/// multiple of V.
template <class T, class TOut, int kWords>
struct UpdateTileSide<T, TOut, true, kWords> {
  using Acc = device::DeviceAccumulator<T>;
  using Element = device::DeviceElement<T>;
  static constexpr int V = kWide<Element>;
  static constexpr int kRows = V;
  static constexpr int kDeep = kWords * V;
  static constexpr int kTile = 8 * kDeep;
  static constexpr int kLoads = kDeep / 4;

  static __device__ int column_lane(int lane) { return lane / 8; }
  static __device__ void load(uint4 (&words)[kLoads], const UpdateArguments<T, TOut>& g, int k,
                              std::int64_t first, int k0, int lane) {
    const std::int64_t i = first + lane % 8 * V;
    const int p = k0 + lane / 8;
    const std::int64_t ld = device::opaque(g.a_strides.col);
    const Element* const a = g.a + i + p * ld;
#pragma unroll
    for (int x = 0; x < kLoads; ++x)
      words[x] = p + 4 * x < k && i < g.m ? __ldg(reinterpret_cast<const uint4*>(a + 4 * x * ld))
                                          : make_uint4(0, 0, 0, 0);
  }
  static __device__ void keep(uint4* tile, const uint4 (&words)[kLoads], int lane) {
#pragma unroll
    for (int x = 0; x < kLoads; ++x)
      tile[32 * x + lane] = words[x];
  }
  static __device__ void read(Element (&values)[kRows][V], const uint4* tile, int w, int lane) {
#pragma unroll
    for (int e = 0; e < V; ++e) {
      Element column[kRows];
      const uint4 word = tile[(w * V + e) * 8 + lane % 8];
      memcpy(column, &word, sizeof(word));
#pragma unroll
      for (int i = 0; i < kRows; ++i)
        values[i][e] = column[i];
    }
  }
  template <bool kAdds, int kParts>
  static __device__ void store(const Acc (&sums)[kRows][kParts][V],
                               const UpdateArguments<T, TOut>& g, const Factors<Acc>& factors,
                               std::int64_t first, int lane) {
    const std::int64_t i = first + lane % 8 * V;
    if (i >= g.m) return;
    const std::int64_t ld = device::opaque(g.c_strides.col);
    constexpr int kBatch = kLinesAtOnce<kAdds, kParts * V>;
#pragma unroll
    for (int q0 = 0; q0 < kParts * V; q0 += kBatch) {
      const auto column = [&](int q) { return (q / V * 4 + lane / 8) * V + q % V; };
      if (column(q0) >= g.n) break;
      leave_words<kAdds, kBatch, kRows>(
          factors, [&](int q) { return column(q0 + q) < g.n; },
          [&](int q) { return g.c + i + column(q0 + q) * ld; },
          [&](int q, int r) { return sums[r][(q0 + q) / V][(q0 + q) % V]; });
    }
  }
};

/// Warp: 32 rows a pass. Lane: kRows rows; columns c V + 4 V h + {0 ... V - 1}, h < kParts, of its
/// column lane c. The next tile of A is on its way in registers while this one is multiplied.
/// Shared memory: B as [k rounded up to the depth of a tile][4 V kParts], a tile for each warp.
template <int kVariant, bool kAdds, class T, class TOut>
__global__ void __launch_bounds__(128, kUpdateTile[kVariant].resident)
    update_tile_kernel(UpdateArguments<T, TOut> g) {
  using Acc = device::DeviceAccumulator<T>;
  using Element = device::DeviceElement<T>;
  constexpr UpdateTile kShape = kUpdateTile[kVariant];
  constexpr int kParts = kShape.parts;
  using Side = UpdateTileSide<T, TOut, kShape.by_columns, kShape.words>;
  constexpr int V = kWide<Element>;
  constexpr int kWidth = 4 * V * kParts;
  extern __shared__ __align__(16) char staged[];
  auto* const b_rows = reinterpret_cast<Acc*>(staged);
  device::let_next_kernel_start();
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const int pass_rows = static_cast<int>(blockDim.x);
  const int deep = (g.k + Side::kDeep - 1) / Side::kDeep * Side::kDeep;
  auto* const tile = reinterpret_cast<uint4*>(b_rows + deep * kWidth) + warp * Side::kTile;
  std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * g.passes * pass_rows + warp * 32;
  device::wait_for_kernel_ahead();
  const Factors<Acc> factors(g);
  const int k = factors.k;

  uint4 words[Side::kLoads];
  Side::load(words, g, k, first, 0, lane);  // in flight while B is staged
  stage_b<kWidth>(b_rows, g, k, deep, 0);
  __syncthreads();  // B is written before it is read
  for (int pass = 0; pass < g.passes; ++pass) {
    if constexpr (kAdds) prefetch_c(g, factors, first, 32, 0, g.n);
    Acc sums[Side::kRows][kParts][V] = {};
    for (int k0 = 0; k0 < k; k0 += Side::kDeep) {
      __syncwarp();  // the last tile is read before this one overwrites it
      Side::keep(tile, words, lane);
      __syncwarp();  // the tile is written before it is read
      if (k0 + Side::kDeep < k) {
        Side::load(words, g, k, first, k0 + Side::kDeep, lane);
      } else if (pass + 1 < g.passes) {
        Side::load(words, g, k, first + pass_rows, 0, lane);
      }
#pragma unroll
      for (int w = 0; w < kShape.words; ++w) {
        if (k0 + w * V >= k) break;
        Element values[Side::kRows][V];
        Side::read(values, tile, w, lane);
#pragma unroll
        for (int e = 0; e < V; ++e) {
#pragma unroll
          for (int h = 0; h < kParts; ++h) {
            Acc column[V];
            device::load_words(
                column, b_rows + (k0 + w * V + e) * kWidth + (h * 4 + Side::column_lane(lane)) * V);
#pragma unroll
            for (int r = 0; r < Side::kRows; ++r) {
              const Acc value = device::conjugate_if(g.conj_a, device::widen(values[r][e]));
#pragma unroll
              for (int q = 0; q < V; ++q)
                sums[r][h][q] = fma(value, column[q], sums[r][h][q]);
            }
          }
        }
      }
    }
    Side::template store<kAdds>(sums, g, factors, first, lane);
    first += pass_rows;
  }
}

}  // namespace lanky::dense::cuda
