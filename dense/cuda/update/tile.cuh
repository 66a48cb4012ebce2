// C[m, n] = alpha A[m, k] B[k, n] + beta C on CUDA cores, A and C of one layout, long m, middling
// n: a warp brings a tile of A through shared memory, its threads hold squares of sums.
#pragma once

#include "dense/cuda/update/arguments.cuh"
#include "dense/cuda/update/direct.cuh"

namespace lanky::dense::cuda {

/// How a warp's lanes share out a tile of 32 rows of A and its squares of sums. Lines of A and C
/// are their rows or columns; V elements are 16 bytes, a word.
///
///   by rows:    32 lines of kWords words. Lane (r, c) = (lane / 4, lane % 4) has rows r + 8 i.
///               Lines are padded to an odd number of words, so that eight of them are read
///               without conflict. k and n are multiples of V.
///   by columns: kDeep lines of 8 words. Lane (r, c) = (lane % 8, lane / 8) has the V rows of word
///               r of each line. m is a multiple of V.
template <class T, class TOut, bool kByColumns>
struct UpdateTileSide {
  using Acc = device::DeviceAccumulator<T>;
  using Element = device::DeviceElement<T>;
  static constexpr int V = kWide<Element>;
  static constexpr int kWords = UpdateTile::kWords;
  static constexpr int kRows = 4;  // of a lane
  static_assert(V == kRows);
  static constexpr int kDeep = kWords * V;
  static constexpr int kLineWords = kByColumns ? 8 : kWords;
  static constexpr int kPitch = kLineWords | (kByColumns ? 0 : 1);
  static constexpr int kTile = (kByColumns ? kDeep : 32) * kPitch;  // words
  static constexpr int kStep = 32 / kLineWords;                     // that the warp loads
  static constexpr int kLoads = kTile / kPitch / kStep;

  static __device__ int column_lane(int lane) { return kByColumns ? lane / 8 : lane % 4; }
  static __device__ void load(uint4 (&words)[kLoads], const UpdateArguments<T, TOut>& g, int k,
                              std::int64_t first, int k0, int lane) {
    const int line = lane / kLineWords;
    const int in_line = lane % kLineWords * V;
    const std::int64_t i = first + (kByColumns ? in_line : line);
    const int p = k0 + (kByColumns ? line : in_line);
    const std::int64_t ld = device::opaque(kByColumns ? g.a_strides.col : g.a_strides.row);
    const Element* const a = g.a + (kByColumns ? i + p * ld : i * ld + p);
#pragma unroll
    for (int x = 0; x < kLoads; ++x) {
      const int by = x * kStep;
      const bool exists = p + (kByColumns ? by : 0) < k && i + (kByColumns ? 0 : by) < g.m;
      words[x] = device::load_word<uint4>(a + by * ld, exists);
    }
  }
  static __device__ void keep(uint4* tile, const uint4 (&words)[kLoads], int lane) {
#pragma unroll
    for (int x = 0; x < kLoads; ++x)
      tile[(lane / kLineWords + x * kStep) * kPitch + lane % kLineWords] = words[x];
  }
  /// values[i][e] = A of row i of the lane, column w V + e of the tile.
  static __device__ void read(Element (&values)[kRows][V], const uint4* tile, int w, int lane) {
#pragma unroll
    for (int x = 0; x < kRows; ++x) {
      const uint4 word =
          tile[kByColumns ? (w * V + x) * kPitch + lane % 8 : (lane / 4 + 8 * x) * kPitch + w];
      Element line[V];
      memcpy(line, &word, sizeof(word));
#pragma unroll
      for (int e = 0; e < V; ++e)
        (kByColumns ? values[e][x] : values[x][e]) = line[e];
    }
  }
  template <bool kAdds, int kParts>
  static __device__ void store(const Acc (&sums)[kRows][kParts][V],
                               const UpdateArguments<T, TOut>& g, const Factors<Acc>& factors,
                               std::int64_t first, int lane) {
    constexpr int kAcross = kByColumns ? 1 : kParts;  // words of a lane in a line
    constexpr int kLines = kByColumns ? kParts * V : kRows;
    constexpr int kBatch = kLinesAtOnce<kAdds, kLines, kAcross>;
    const std::int64_t ld = device::opaque(kByColumns ? g.c_strides.col : g.c_strides.row);
#pragma unroll
    for (int l0 = 0; l0 < kLines; l0 += kBatch) {
      const auto line = [&](int w) { return l0 + w / kAcross; };
      const auto i = [&](int w) {
        return first + (kByColumns ? lane % 8 * V : lane / 4 + 8 * line(w));
      };
      const auto j = [&](int w) {
        return kByColumns ? (line(w) / V * 4 + lane / 8) * V + line(w) % V
                          : (w % kAcross * 4 + lane % 4) * V;
      };
      if (i(0) >= g.m || (kByColumns && j(0) >= g.n)) break;
      leave_words<kAdds, kBatch * kAcross, V>(
          factors, [&](int w) { return (kByColumns || i(w) < g.m) && j(w) < g.n; },
          [&](int w) { return g.c + (kByColumns ? i(w) + j(w) * ld : i(w) * ld + j(w)); },
          [&](int w, int e) {
            return kByColumns ? sums[e][line(w) / V][line(w) % V] : sums[line(w)][w % kAcross][e];
          });
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
  using Side = UpdateTileSide<T, TOut, kShape.by_columns>;
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
      for (int w = 0; w < Side::kWords; ++w) {
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
