// Gram products of two row-major operands of the same few columns on CUDA cores: C[i, j] = sum over
// k of A[k][i] B[k][j], rows packed without padding. Lanes share out the rows, each holds all sums.
#pragma once

#include <numeric>

#include "dense/cuda/gram/vector.cuh"

namespace lanky::dense::cuda {

/// What a lane loads at once: the fewest rows of kN elements that fill whole 16-byte words.
template <class E, int kN>
struct RowBundle {
  static constexpr int kRows = 16 / std::gcd(16, kN* static_cast<int>(sizeof(E)));
  static constexpr int kWords = kRows * kN * static_cast<int>(sizeof(E)) / 16;
  static constexpr int kUnroll = kWords >= 4 ? 1 : kWords >= 2 ? 2 : 4;

  uint4 words[kWords];

  __device__ void load(const E* source, bool exists) {
#pragma unroll
    for (int w = 0; w < kWords; ++w)
      words[w] = device::load_word_if(reinterpret_cast<const uint4*>(source) + w, exists);
  }
  /// Element by element, from rows `stride` elements apart; zeros after the first `count` rows.
  __device__ void load_partly(const E* source, std::int64_t stride, std::int64_t count) {
    E elements[kRows * kN];
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
#pragma unroll
      for (int i = 0; i < kN; ++i)
        elements[r * kN + i] = r < count ? source[r * stride + i] : device::narrow<E>(0.0F);
    }
    memcpy(words, elements, sizeof(words));
  }
};

/// Adds the products of two bundles to the sums [j][i].
template <class T, int kN, class Acc, int kSums>
__device__ void add_bundles(Acc (&sums)[kSums], const GramArguments<T>& g,
                            const RowBundle<device::DeviceElement<T>, kN>& x_bundle,
                            const RowBundle<device::DeviceElement<T>, kN>& y_bundle) {
  using E = device::DeviceElement<T>;
  constexpr int kRows = RowBundle<E, kN>::kRows;
  E x[kRows][kN];
  E y[kRows][kN];
  memcpy(x, x_bundle.words, sizeof(x));
  memcpy(y, y_bundle.words, sizeof(y));
#pragma unroll
  for (int r = 0; r < kRows; ++r) {
#pragma unroll
    for (int j = 0; j < kN; ++j) {
#pragma unroll
      for (int i = 0; i < kN; ++i)
        sums[j * kN + i] =
            fma(device::conjugate_if(g.conj_a, device::factor<Acc>(x[r][i])),
                device::conjugate_if(g.conj_b, device::factor<Acc>(y[r][j])), sums[j * kN + i]);
    }
  }
}

/// m = n = kN. Warp: of the steps of 32 bundles every (8 gridDim.x)-th, kUnroll of them in flight,
/// each of which makes room for a later one once it is multiplied;
/// what remains of k, and operands with padding or off 16 bytes, go element by element.
template <class T, int kN>
__global__ __launch_bounds__(kGramVectorWarps *
                             32) void gram_row_vector_kernel(GramArguments<T> g) {
  using E = device::DeviceElement<T>;
  using Acc = device::DeviceAccumulator<T>;
  using Bundle = RowBundle<E, kN>;
  constexpr int kUnroll = Bundle::kUnroll;
  constexpr int kStep = 32 * Bundle::kRows;  // rows that a warp takes at once
  constexpr int kSums = power_of_two_from(kN * kN);
  __shared__ union {
    Acc warps[kGramVectorWarps][kSums];
    GramWarpTotals<T> totals;
  } shared;

  device::let_next_kernel_start();
  if (g.prefetch) prefetch_rows<kUnroll>(g, kGramVectorWarps * kStep);
  device::wait_for_kernel_ahead();
  const std::int64_t k = g.alpha.load() == Acc(0) ? 0 : g.k;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const std::int64_t whole_steps = g.vectors ? k / kStep : 0;
  const std::int64_t stride = std::int64_t{gridDim.x} * kGramVectorWarps;

  WarpSums<T, kSums> of_lane;
  const std::int64_t first = std::int64_t{blockIdx.x} * kGramVectorWarps + warp;
  Bundle x[kUnroll];
  Bundle y[kUnroll];
  const auto load_step = [&](int u, std::int64_t step) {
    const std::int64_t row = step * kStep + lane * Bundle::kRows;
    const bool exists = step < whole_steps;
    x[u].load(g.a + row * kN, exists);
    y[u].load(g.b + row * kN, exists && !g.symmetric);
  };
#pragma unroll
  for (int u = 0; u < kUnroll; ++u)
    load_step(u, first + u * stride);
  for (std::int64_t step = first; step < whole_steps; step += kUnroll * stride) {
#pragma unroll
    for (int u = 0; u < kUnroll; ++u) {
      if (step + u * stride >= whole_steps) break;
#pragma unroll
      for (int w = 0; w < Bundle::kWords; ++w)
        y[u].words[w] = device::select(g.symmetric, x[u].words[w], y[u].words[w]);
      add_bundles(of_lane.sums, g, x[u], y[u]);
      load_step(u, step + (kUnroll + u) * stride);
    }
    of_lane.added(kUnroll * Bundle::kRows);
  }
  for (std::int64_t step = whole_steps + first; step * kStep < k; step += stride) {
    Bundle x;
    Bundle y;
    const std::int64_t row = step * kStep + lane * Bundle::kRows;
    x.load_partly(g.a + row * g.a_strides.col, g.a_strides.col, k - row);
    y.load_partly(g.b + row * g.b_strides.row, g.b_strides.row, k - row);
    add_bundles(of_lane.sums, g, x, y);
    of_lane.added(Bundle::kRows);
  }

  of_lane.store(shared.warps[warp]);
  __syncthreads();  // every warp's sums are written before they are read
  if (threadIdx.x < kN * kN) {
    Acc sum = 0;
#pragma unroll
    for (int w = 0; w < kGramVectorWarps; ++w)
      sum += shared.warps[w][threadIdx.x];
    g.partials[std::int64_t{blockIdx.x} * kN * kN + threadIdx.x] = sum;
  }
  sum_in_last_block(g, shared.totals);
}

}  // namespace lanky::dense::cuda
