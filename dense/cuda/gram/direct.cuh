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

/// Lane g * 4 + t holds 16 bytes (unit t of the 64 that a window has) of row g of A, of row g + 8,
/// and of columns g and g + 8 of B: in which order the k of a window stand in the fragments does
/// not matter, as long as it is the same on both sides (gram_product.cuh). kSide is 8 or 16. Warp:
/// of the spans of kUnroll windows every (8 gridDim.x)-th, then of the steps of two windows (a
/// cache line of each row) that remain, which are all where k is short (g.spread); then, element by
/// element, of what remains of k, and of operands off 16 bytes. Rows beyond m repeat the last one.
/// g.stacked: rows 0 .. m - 1 are A's, the n after them B's columns, and both factors; C is the
/// block beside the diagonal. Floats are widened to double, which is exact.
/// The loads of a span are neighbours: f64 n = 16, k = 1e7 took .77 of the floor with spans spread
/// over the grid, .98 so.
template <class T, int kSide, int kUnroll, bool kAligned>
__global__ __launch_bounds__(kGramDirectWarps * 32,
                             std::is_same_v<T, float>
                                 ? 1
                                 : 2) void gram_direct_kernel(GramArguments<T> g) {
#if __CUDA_ARCH__ >= 900
  using E = device::DeviceElement<T>;
  using Acc = device::DeviceAccumulator<T>;
  using Sum = std::conditional_t<std::is_same_v<E, float>, double, Acc>;
  constexpr int kVector = 16 / sizeof(E);
  constexpr int kWindow = 4 * kVector;  // elements of k, 64 bytes
  constexpr int kStep = 2 * kWindow;    // a cache line of each row
  constexpr int kSpan = kUnroll * kWindow;
  constexpr int kParts = kSide / 8;
  __shared__ union {
    Sum warps[kGramDirectWarps][kSide][kSide];
    GramWarpTotals<T> totals;
  } shared;

  device::let_next_kernel_start();
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const bool stacked = kSide == 8 && g.stacked && !g.symmetric;
  const bool same = stacked || g.symmetric;
  const E* a[kParts];
  const E* b[kParts];
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

  if (kAligned && g.prefetch) {
    constexpr int kBytes = kGramDirectWarps * static_cast<int>(sizeof(E));
    if (g.spread) {
      prefetch_columns<2>(g, kStep * kBytes);
    } else {
      prefetch_columns<1>(g, kSpan * kBytes);
    }
  }
  device::wait_for_kernel_ahead();

  Sum sums[kParts][4] = {};
  const auto add = [&](const uint4(&x)[kParts], const uint4(&y)[kParts]) {
#pragma unroll
    for (int j = 0; j < kParts; ++j)
      multiply_units<E>(sums[j], x[0], kParts == 2 ? x[kParts - 1] : make_uint4(0, 0, 0, 0), y[j]);
  };
  [[maybe_unused]] const auto add_windows = [&](std::int64_t p, auto count) {
    constexpr int kWindows = decltype(count)::value;
    uint4 x[kWindows][kParts];
    uint4 y[kWindows][kParts] = {};
#pragma unroll
    for (int u = 0; u < kWindows; ++u) {
#pragma unroll
      for (int r = 0; r < kParts; ++r)
        x[u][r] = __ldg(reinterpret_cast<const uint4*>(a[r] + p + u * kWindow));
    }
    if (!same) {
#pragma unroll
      for (int u = 0; u < kWindows; ++u) {
#pragma unroll
        for (int r = 0; r < kParts; ++r)
          y[u][r] = __ldg(reinterpret_cast<const uint4*>(b[r] + p + u * kWindow));
      }
    }
#pragma unroll
    for (int u = 0; u < kWindows; ++u) {
#pragma unroll
      for (int r = 0; r < kParts; ++r)
        y[u][r] = device::select(same, x[u][r], y[u][r]);
      add(x[u], y[u]);
    }
  };
  // Spans own, own + warps, ...: what is loaded next takes the place of what was multiplied, two
  // windows at a time, so that loads are in flight meanwhile (H200, 8 columns, k = 1e7: f16 .90 of
  // the floor to .94, f64 .943 to .973). A branch around the loads costs f32 n = 16 7 %.
  [[maybe_unused]] const auto add_spans = [&](std::int64_t own, std::int64_t spans,
                                              std::int64_t warps) {
    uint4 x[kUnroll][kParts];
    uint4 y[kUnroll][kParts];
    const auto load_windows = [&](int first, std::int64_t span) {
#pragma unroll
      for (int u = first; u < first + 2; ++u) {
#pragma unroll
        for (int r = 0; r < kParts; ++r) {
          const std::int64_t q = span * kSpan + u * kWindow;
          x[u][r] = device::load_word_if(a[r] + q, span < spans);
          y[u][r] = device::load_word_if(b[r] + q, span < spans && !same);
        }
      }
    };
#pragma unroll
    for (int u = 0; u < kUnroll; u += 2)
      load_windows(u, own);
    for (std::int64_t span = own; span < spans; span += warps) {
#pragma unroll
      for (int u = 0; u < kUnroll; u += 2) {
#pragma unroll
        for (int w = u; w < u + 2; ++w) {
#pragma unroll
          for (int r = 0; r < kParts; ++r)
            y[w][r] = device::select(same, x[w][r], y[w][r]);
          add(x[w], y[w]);
        }
        load_windows(u, span + warps);
      }
    }
  };
  // The same from the aligned words that hold a window: two of each operand's, half as many
  // windows.
  [[maybe_unused]] const auto add_unaligned_windows = [&](std::int64_t p) {
    constexpr int kWindows = kUnroll / 2;
    device::UnalignedUnit<uint4> x[kWindows][kParts];
    device::UnalignedUnit<uint4> y[kWindows][kParts];
#pragma unroll
    for (int u = 0; u < kWindows; ++u) {
#pragma unroll
      for (int r = 0; r < kParts; ++r) {
        x[u][r].load(a[r] + p + u * kWindow);
        y[u][r].load(b[r] + p + u * kWindow);
      }
    }
#pragma unroll
    for (int u = 0; u < kWindows; ++u) {
      uint4 left[kParts];
      uint4 right[kParts];
#pragma unroll
      for (int r = 0; r < kParts; ++r) {
        left[r] = x[u][r].unit(a[r]);
        right[r] = y[u][r].unit(b[r]);
      }
      add(left, right);
    }
  };
  const std::int64_t k = g.alpha.load() == Acc(0) ? 0 : g.k;
  const std::int64_t warps = std::int64_t{gridDim.x} * kGramDirectWarps;
  const std::int64_t own = std::int64_t{blockIdx.x} * kGramDirectWarps + warp;
  std::int64_t whole = 0;
  std::int64_t p = 0;
  if constexpr (kAligned) {
    whole = k - k % kStep;
    const std::int64_t spans = g.spread ? 0 : whole / kSpan;
    if (spans <= warps) {
      if (own < spans) add_windows(own * kSpan, std::integral_constant<int, kUnroll>());
    } else {
      add_spans(own, spans, warps);
    }
    for (p = spans * kSpan + own * kStep; p < whole; p += warps * kStep)
      add_windows(p, std::integral_constant<int, 2>());
  } else {
    // The word behind the last window begins within the column.
    constexpr int kShort = kSpan / 2;
    whole = (k - kVector) / kShort * kShort;
    for (p = own * kShort; p < whole; p += warps * kShort)
      add_unaligned_windows(p);
  }
  // Whoever has the least to do takes what remains.
  for (p = whole + (warps - 1 - own) * kWindow; p < k; p += warps * kWindow) {
    const std::int64_t count = k - p - lane % 4 * kVector;
    uint4 x[kParts];
    uint4 y[kParts];
#pragma unroll
    for (int r = 0; r < kParts; ++r) {
      x[r] = load_partly(a[r] + p, count);
      y[r] = load_partly(b[r] + p, count);
    }
    add(x, y);
  }

#pragma unroll
  for (int j = 0; j < kParts; ++j) {
#pragma unroll
    for (int e = 0; e < 2 * kParts; ++e)
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
    g.partials[(std::int64_t{blockIdx.x} * g.n + j) * g.m + i] = static_cast<Acc>(sum);
  }
  sum_in_last_block(g, shared.totals);
#endif
}

}  // namespace lanky::dense::cuda
