// Gram products of up to 16 columns on tensor cores: C[i, j] = sum over k of A[i, k] B[k, j], k
// adjacent in memory. 16-byte loads go straight into mma fragments, nothing passes through shared
// memory but the sums at the end.
#pragma once

#include "dense/cuda/gram/product.cuh"
#include "dense/cuda/gram/sum.cuh"
#include "dense/cuda/gram/vector.cuh"
#include "device/memory.cuh"

namespace lanky::dense::cuda {

inline constexpr int kGramDirectWarps = 8;

/// A lane's operands: 16 bytes of row lane / 4 of A, of row lane / 4 + 8, and of as many columns of
/// B, in each window of 64 bytes along k. Rows beyond m repeat the last one. In which order the k
/// of a window stand in the fragments does not matter, as long as it is the same on both sides
/// (product.cuh). kSide is 8 or 16.
template <class T, int kSide>
struct DirectTile {
  using E = device::DeviceElement<T>;
  using Acc = device::DeviceAccumulator<T>;
  using Sum = std::conditional_t<std::is_same_v<E, float>, double, Acc>;
  static constexpr int kVector = 16 / sizeof(E);
  static constexpr int kWindow = 4 * kVector;  // elements of k, 64 bytes
  static constexpr int kStep = 2 * kWindow;    // a cache line of each row
  static constexpr int kParts = kSide / 8;
  using Words = uint4[kParts];
  using Sums = Sum[kParts][4];

  const E* a[kParts];
  const E* b[kParts];
  bool same;  // B's columns are A's rows

  /// `stacked`: rows 0 .. m - 1 are A's, the n after them B's columns, and both factors.
  __device__ DirectTile(const GramArguments<T>& g, bool stacked) : same(stacked || g.symmetric) {
    const int lane = static_cast<int>(threadIdx.x) % 32;
#pragma unroll
    for (int r = 0; r < kParts; ++r) {
      a[r] = g.a + min(r * 8 + lane / 4, g.m - 1) * g.a_strides.row + lane % 4 * kVector;
      b[r] = g.b + min(r * 8 + lane / 4, g.n - 1) * g.b_strides.col + lane % 4 * kVector;
    }
    if (stacked) {
      if (lane / 4 >= g.m)
        a[0] = g.b + min(lane / 4 - g.m, g.n - 1) * g.b_strides.col + lane % 4 * kVector;
      b[0] = a[0];
    }
  }

  /// Adds the product of a window.
  __device__ static void add(const Words& x, const Words& y, Sums& sums) {
#pragma unroll
    for (int j = 0; j < kParts; ++j)
      multiply_units<E>(sums[j], x[0], kParts == 2 ? x[kParts - 1] : make_uint4(0, 0, 0, 0), y[j]);
  }
  /// B's words, which are A's where operands are one.
  __device__ void select(const Words& x, Words& y) const {
#pragma unroll
    for (int r = 0; r < kParts; ++r)
      y[r] = device::select(same, x[r], y[r]);
  }
};

/// kWindows windows from element p of k on, all in flight at once.
template <int kWindows, class Tile>
__device__ void add_windows(const Tile& tile, std::int64_t p, typename Tile::Sums& sums) {
  typename Tile::Words x[kWindows];
  typename Tile::Words y[kWindows] = {};
#pragma unroll
  for (int u = 0; u < kWindows; ++u) {
#pragma unroll
    for (int r = 0; r < Tile::kParts; ++r)
      x[u][r] = __ldg(reinterpret_cast<const uint4*>(tile.a[r] + p + u * Tile::kWindow));
  }
  if (!tile.same) {
#pragma unroll
    for (int u = 0; u < kWindows; ++u) {
#pragma unroll
      for (int r = 0; r < Tile::kParts; ++r)
        y[u][r] = __ldg(reinterpret_cast<const uint4*>(tile.b[r] + p + u * Tile::kWindow));
    }
  }
#pragma unroll
  for (int u = 0; u < kWindows; ++u) {
    tile.select(x[u], y[u]);
    tile.add(x[u], y[u], sums);
  }
}

/// Spans of kUnroll windows: what is loaded next takes the place of what was multiplied, two
/// windows at a time, so that loads are in flight meanwhile (H200, 8 columns, k = 1e7: f16 .90 of
/// the floor to .94, f64 .943 to .973). A branch around the loads costs f32 n = 16 7 %.
template <int kUnroll, class Tile>
__device__ void add_spans(const Tile& tile, std::int64_t spans, WarpTurns turns,
                          typename Tile::Sums& sums) {
  constexpr int kSpan = kUnroll * Tile::kWindow;
  typename Tile::Words x[kUnroll];
  typename Tile::Words y[kUnroll];
  const auto load_windows = [&](int first, std::int64_t span) {
#pragma unroll
    for (int u = first; u < first + 2; ++u) {
#pragma unroll
      for (int r = 0; r < Tile::kParts; ++r) {
        const std::int64_t q = span * kSpan + u * Tile::kWindow;
        x[u][r] = device::load_word_if(tile.a[r] + q, span < spans);
        y[u][r] = device::load_word_if(tile.b[r] + q, span < spans && !tile.same);
      }
    }
  };
#pragma unroll
  for (int u = 0; u < kUnroll; u += 2)
    load_windows(u, turns.own);
  for (std::int64_t span = turns.own; span < spans; span += turns.warps) {
#pragma unroll
    for (int u = 0; u < kUnroll; u += 2) {
#pragma unroll
      for (int w = u; w < u + 2; ++w) {
        tile.select(x[w], y[w]);
        tile.add(x[w], y[w], sums);
      }
      load_windows(u, span + turns.warps);
    }
  }
}

/// As add_windows(), from the aligned words that hold a window: two of each operand's.
template <int kWindows, class Tile>
__device__ void add_unaligned_windows(const Tile& tile, std::int64_t p, typename Tile::Sums& sums) {
  device::UnalignedUnit<uint4> x[kWindows][Tile::kParts];
  device::UnalignedUnit<uint4> y[kWindows][Tile::kParts];
#pragma unroll
  for (int u = 0; u < kWindows; ++u) {
#pragma unroll
    for (int r = 0; r < Tile::kParts; ++r) {
      x[u][r].load(tile.a[r] + p + u * Tile::kWindow);
      y[u][r].load(tile.b[r] + p + u * Tile::kWindow);
    }
  }
#pragma unroll
  for (int u = 0; u < kWindows; ++u) {
    typename Tile::Words left;
    typename Tile::Words right;
#pragma unroll
    for (int r = 0; r < Tile::kParts; ++r) {
      left[r] = x[u][r].unit(tile.a[r]);
      right[r] = y[u][r].unit(tile.b[r]);
    }
    tile.add(left, right, sums);
  }
}

/// Spans, and the steps of two windows that remain, which are all where `spread`. The loads of a
/// span are neighbours: f64 n = 16, k = 1e7 took .77 of the floor with spans spread over the grid,
/// .98 so.
template <int kUnroll, class Tile>
__device__ void add_aligned(const Tile& tile, std::int64_t whole, bool spread, WarpTurns turns,
                            typename Tile::Sums& sums) {
  constexpr int kSpan = kUnroll * Tile::kWindow;
  const std::int64_t spans = spread ? 0 : whole / kSpan;
  if (spans <= turns.warps) {
    if (turns.own < spans) add_windows<kUnroll>(tile, turns.own * kSpan, sums);
  } else {
    add_spans<kUnroll>(tile, spans, turns, sums);
  }
  for (std::int64_t p = spans * kSpan + turns.own * Tile::kStep; p < whole;
       p += turns.warps * Tile::kStep)
    add_windows<2>(tile, p, sums);
}

/// What remains of k behind `whole`, element by element, by whoever has the least to do.
template <class Tile>
__device__ void add_remaining(const Tile& tile, std::int64_t whole, std::int64_t k, WarpTurns turns,
                              typename Tile::Sums& sums) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  std::int64_t p = whole + (turns.warps - 1 - turns.own) * Tile::kWindow;
  for (; p < k; p += turns.warps * Tile::kWindow) {
    const std::int64_t count = k - p - lane % 4 * Tile::kVector;
    typename Tile::Words x;
    typename Tile::Words y;
#pragma unroll
    for (int r = 0; r < Tile::kParts; ++r) {
      x[r] = load_partly(tile.a[r] + p, count);
      y[r] = load_partly(tile.b[r] + p, count);
    }
    tile.add(x, y, sums);
  }
}

/// Of a multiprocessor: widened operands take the registers of two.
template <class T>
inline constexpr int kGramDirectBlocks = std::is_same_v<T, float> || kIsWidened<T> ? 1 : 2;

/// Warp: of the spans of kUnroll windows every (8 gridDim.x)-th, then of the steps of two windows
/// (a cache line of each row) that remain, which are all where k is short (g.spread); then, element
/// by element, of what remains of k. !kAligned: operands off 16 bytes, half as many windows in
/// flight. g.stacked: A and B are one operand, and C is the block beside the diagonal. Floats, and
/// halves of sums in double, are widened to double, which is exact.
template <class T, int kSide, int kUnroll, bool kAligned>
__global__ __launch_bounds__(kGramDirectWarps * 32,
                             kGramDirectBlocks<T>) void gram_direct_kernel(GramArguments<T> g) {
  using Tile = DirectTile<T, kSide>;
  using Sum = typename Tile::Sum;
  constexpr int kSpan = kUnroll * Tile::kWindow;
  __shared__ union {
    Sum warps[kGramDirectWarps][kSide][kSide];
    GramWarpTotals<T> totals;
  } shared;

  device::let_next_kernel_start();
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const bool stacked = kSide == 8 && g.stacked && !g.symmetric;
  const Tile tile(g, stacked);
  if (kAligned && g.prefetch) {
    constexpr int kBytes = kGramDirectWarps * static_cast<int>(sizeof(typename Tile::E));
    if (g.spread) {
      prefetch_columns<2>(g, Tile::kStep * kBytes);
    } else {
      prefetch_columns<1>(g, kSpan * kBytes);
    }
  }
  device::wait_for_kernel_ahead();

  typename Tile::Sums sums = {};
  const std::int64_t k = g.alpha.load() == typename Tile::Acc(0) ? 0 : g.k;
  const WarpTurns turns{std::int64_t{blockIdx.x} * kGramDirectWarps + warp,
                        std::int64_t{gridDim.x} * kGramDirectWarps};
  std::int64_t whole = 0;
  if constexpr (kAligned) {
    whole = k - k % Tile::kStep;
    add_aligned<kUnroll>(tile, whole, g.spread, turns, sums);
  } else {
    // The word behind the last window begins within the column.
    constexpr int kShort = kSpan / 2;
    whole = (k - Tile::kVector) / kShort * kShort;
    for (std::int64_t p = turns.own * kShort; p < whole; p += turns.warps * kShort)
      add_unaligned_windows<kUnroll / 2>(tile, p, sums);
  }
  add_remaining(tile, whole, k, turns, sums);

#pragma unroll
  for (int j = 0; j < Tile::kParts; ++j) {
#pragma unroll
    for (int e = 0; e < 2 * Tile::kParts; ++e)
      shared.warps[warp][j * 8 + lane % 4 * 2 + e % 2][e / 2 * 8 + lane / 4] = sums[j][e];
  }
  __syncthreads();  // every warp's sums are written before they are read
  const int s = static_cast<int>(threadIdx.x);
  const int i = s % kSide;
  const int j = s / kSide;
  if (i < g.m && j < g.n) {  // a thread each: 256 is the most
    Sum sum = 0;
#pragma unroll
    for (int w = 0; w < kGramDirectWarps; ++w)
      sum += shared.warps[w][stacked ? g.m + j : j][i];
    g.partials[(std::int64_t{blockIdx.x} * g.n + j) * g.m + i] =
        static_cast<typename Tile::Acc>(sum);
  }
  sum_in_last_block(g, shared.totals);
}

}  // namespace lanky::dense::cuda
