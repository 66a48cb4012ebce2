// Gram products of few columns on CUDA cores: C[i, j] = sum over k of A[i, k] B[k, j], k adjacent
// in memory. Lanes share out k, each holds all sums; nothing passes through shared memory but the
// sums at the end.
#pragma once

#include <cstring>

#include "dense/cuda/gram_sum.cuh"
#include "device/memory.cuh"
#include "device/warp_sum.cuh"

namespace lanky::dense::cuda {

inline constexpr int kGramVectorWarps = 8;

/// 16 bytes of adjacent elements, one by one; zeros after the first `count`.
template <class E>
__device__ uint4 load_partly(const E* source, std::int64_t count) {
  constexpr int kVector = 16 / sizeof(E);
  E elements[kVector];
#pragma unroll
  for (int v = 0; v < kVector; ++v)
    elements[v] = v < count ? source[v] : device::narrow<E>(0.0F);
  uint4 word;
  memcpy(&word, elements, sizeof(word));
  return word;
}

// Long sums lose accuracy: what a lane loads at once is summed on its own where registers allow,
// and then added (k = 1e7, 4 columns of float: errors of a fifth less than pairwise summation's).

template <bool kFirst, class Sums>
__device__ Sums& select_sums(Sums& first, Sums& second) {
  if constexpr (kFirst) {
    return first;
  } else {
    return second;
  }
}

template <int kCount, class Acc>
__device__ void add_elements(Acc (&sums)[kCount], const Acc (&terms)[kCount]) {
#pragma unroll
  for (int e = 0; e < kCount; ++e)
    sums[e] += terms[e];
}

/// Block: strip blockIdx % strips of kM rows of A. Warp: of the steps along k every (8
/// g.walkers)-th, kUnroll of them in flight; the last step, where it is not whole, is one warp's.
/// Lane: 16 bytes of each column a step, kM x kN sums. Columns beyond m and n repeat the last one:
/// their loads hit the cache, their sums are not stored.
template <class T, int kM, int kN, int kUnroll>
__global__ __launch_bounds__(kGramVectorWarps * 32,
                             kM* kN > 16 ? 1 : 2) void gram_vector_kernel(GramArguments<T> g) {
  using E = device::DeviceElement<T>;
  using Acc = device::DeviceAccumulator<T>;
  constexpr int kVector = 16 / sizeof(E);
  constexpr int kStep = 32 * kVector;  // elements of k that a warp takes at once
  constexpr int kElements = kM * kN > 8 ? kM * kN : 8;
  __shared__ union {
    Acc warps[kGramVectorWarps][kM * kN];
    GramTotal<T> slices[kGramSumSlices][kElements];
  } shared;

  device::let_next_kernel_start();
  device::wait_for_kernel_ahead();
  const std::int64_t k = g.alpha.load() == Acc(0) ? 0 : g.k;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const int i0 = static_cast<int>(blockIdx.x) % g.strips * kM;
  const int walker = static_cast<int>(blockIdx.x) / g.strips;
  const std::int64_t whole_steps = g.vectors ? k / kStep : 0;
  const std::int64_t stride = std::int64_t{g.walkers} * kGramVectorWarps;

  const E* a[kM];
  const E* b[kN];
#pragma unroll
  for (int i = 0; i < kM; ++i)
    a[i] = g.a + min(i0 + i, g.m - 1) * g.a_stride;
#pragma unroll
  for (int j = 0; j < kN; ++j)
    b[j] = g.b + min(j, g.n - 1) * g.b_stride;

  constexpr bool kInBlocks = kM * kN <= 16;  // registers allow no more
  Acc sums[kM * kN] = {};
  const auto add = [&](Acc(&to)[kM * kN], const uint4(&x_words)[kM], const uint4(&y_words)[kN]) {
    E x[kM][kVector];
    E y[kN][kVector];
    memcpy(x, x_words, sizeof(x));
    memcpy(y, y_words, sizeof(y));
#pragma unroll
    for (int v = 0; v < kVector; ++v) {
#pragma unroll
      for (int j = 0; j < kN; ++j) {
#pragma unroll
        for (int i = 0; i < kM; ++i)
          to[j * kM + i] =
              fma(device::conjugate_if(g.conj_a, device::widen(x[i][v])),
                  device::conjugate_if(g.conj_b, device::widen(y[j][v])), to[j * kM + i]);
      }
    }
  };
  const std::int64_t first = std::int64_t{walker} * kGramVectorWarps + warp;
  for (std::int64_t step = first; step < whole_steps; step += kUnroll * stride) {
    uint4 x[kUnroll][kM];
    uint4 y[kUnroll][kN];
    Acc fresh[kM * kN] = {};
    auto& to = select_sums<kInBlocks>(fresh, sums);
#pragma unroll
    for (int u = 0; u < kUnroll; ++u) {
      const std::int64_t p = (step + u * stride) * kStep + lane * kVector;
      const bool exists = u == 0 || step + u * stride < whole_steps;
#pragma unroll
      for (int i = 0; i < kM; ++i)
        x[u][i] = device::load_word<uint4>(a[i] + p, exists);
#pragma unroll
      for (int j = 0; j < kN; ++j)
        y[u][j] = device::load_word<uint4>(b[j] + p, exists && !g.symmetric);
    }
#pragma unroll
    for (int u = 0; u < kUnroll; ++u) {
      if constexpr (kM == kN) {
#pragma unroll
        for (int j = 0; j < kN; ++j)
          y[u][j] = device::select(g.symmetric, x[u][j], y[u][j]);
      }
      add(to, x[u], y[u]);
    }
    if constexpr (kInBlocks) add_elements(sums, fresh);
  }
  for (std::int64_t step = whole_steps + first; step * kStep < k; step += stride) {
    uint4 x[kM];
    uint4 y[kN];
    const std::int64_t p = step * kStep + lane * kVector;
#pragma unroll
    for (int i = 0; i < kM; ++i)
      x[i] = load_partly(a[i] + p, k - p);
#pragma unroll
    for (int j = 0; j < kN; ++j)
      y[j] = load_partly(b[j] + p, k - p);
    add(sums, x, y);
  }

  device::scatter_sums<32>(sums);
  constexpr int kPerLane = kM * kN >= 32 ? kM * kN / 32 : 1;
  constexpr int kLanesPerSum = kM * kN >= 32 ? 1 : 32 / (kM * kN);
#pragma unroll
  for (int r = 0; r < kPerLane; ++r)
    if (lane % kLanesPerSum == 0) shared.warps[warp][lane / kLanesPerSum * kPerLane + r] = sums[r];
  __syncthreads();  // every warp's sums are written before they are read
  for (int s = static_cast<int>(threadIdx.x); s < kM * kN; s += kGramVectorWarps * 32) {
    const int i = i0 + s % kM;
    const int j = s / kM;
    if (i >= g.m || j >= g.n) continue;
    Acc sum = 0;
#pragma unroll
    for (int w = 0; w < kGramVectorWarps; ++w)
      sum += shared.warps[w][s];
    g.partials[(std::int64_t{walker} * g.n + j) * g.m + i] = sum;
  }
  if (g.arrivals != nullptr && is_last_block(g.arrivals)) sum_walkers(g, 0, shared.slices);
}

}  // namespace lanky::dense::cuda
