// Gram products of few columns on CUDA cores: C[i, j] = sum over k of A[i, k] B[k, j], fast where k
// is adjacent in memory, right for any strides. Lanes share out k, each holds all sums; nothing
// passes through shared memory but the sums at the end.
#pragma once

#include <cstring>
#include <type_traits>

#include "dense/cuda/gram/prefetch.cuh"
#include "dense/cuda/gram/sum.cuh"
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

/// kCount sums of every lane. Long chains of floats lose accuracy: after kLongest terms the lanes'
/// sums are added to totals, scattered over the warp (k = 1e7, 4 zero-mean columns of float: chains
/// of 148 terms err 1.5 to 1.9 times as much as pairwise summation).
template <class E, int kCount>
struct WarpSums {
  using Acc = decltype(device::widen(E()));
  static constexpr bool kFlushes = std::is_same_v<E, float>;
  static constexpr int kLongest = kCount == 1 ? 64 : 32;  // 1: what is loaded at once, twice
  static constexpr int kPerLane = kCount >= 32 ? kCount / 32 : 1;
  static constexpr int kLanesPerSum = kCount >= 32 ? 1 : 32 / kCount;

  Acc sums[kCount] = {};
  Acc totals[kPerLane] = {};
  int terms = 0;

  /// All lanes have added `count` terms to each sum.
  __device__ void added(int count) {
    if constexpr (kFlushes) {
      terms += count;
      if (terms >= kLongest) flush();
    }
  }
  /// target[s] = the warp's sum s.
  __device__ void store(Acc (&target)[kCount]) {
    flush();
    const int lane = static_cast<int>(threadIdx.x) % 32;
#pragma unroll
    for (int r = 0; r < kPerLane; ++r)
      if (lane % kLanesPerSum == 0) target[lane / kLanesPerSum * kPerLane + r] = totals[r];
  }

 private:
  __device__ void flush() {
    device::scatter_sums<32>(sums);
#pragma unroll
    for (int r = 0; r < kPerLane; ++r)
      totals[r] += sums[r];
#pragma unroll
    for (Acc& sum : sums)
      sum = 0;
    terms = 0;
  }
};

__host__ __device__ constexpr int power_of_two_from(int value) {
  int power = 1;
  while (power < value)
    power *= 2;
  return power;
}

/// Steps whose loads a warp of gram_vector_kernel has in flight: 16 to 18 loads a lane.
__host__ __device__ constexpr int gram_vector_unroll(int m, int n) {
  return m == 1 ? 8 : 18 / (m + n);
}

/// Whether each step's words make room for later ones once they are multiplied, so that loads are
/// in flight meanwhile (H200, k = 1e7: f32 n = 3 .938 of the floor to .956, n = 8 .952 to .966).
/// Complex ones of four columns have too few registers; c128 n = 1 falls from .96 to .82.
template <class E>
__host__ __device__ constexpr bool gram_vector_rotates(int m, int n) {
  if (sizeof(E) == 16) return m == n && m > 1 && m < 4;
  return !std::is_same_v<E, device::Complex<float>> || m != 4;
}

/// Block: strip blockIdx % strips of kM rows of A and kN columns of B. Warp: of the steps along k
/// every (8 g.walkers)-th, several of them in flight. Lane: 16 bytes of each column a step, kM x kN
/// sums; less than 16 bytes may remain of k. kAny: columns off 16 bytes, put together from aligned
/// words, half as many steps in flight; then, element by element with neighbouring k in
/// neighbouring lanes, what remains of k, or all of it, where k is not adjacent (or elements have 8
/// bytes). In one kernel with the rest they cost that .3 us at n = 1, k = 1e6 (code to be fetched).
/// Columns beyond m and n repeat the last one: their loads hit the cache, their sums are not
/// stored.
template <class T, int kM, int kN, bool kAny>
__global__ __launch_bounds__(kGramVectorWarps * 32,
                             kM* kN > 16 ? 1 : 2) void gram_vector_kernel(GramArguments<T> g) {
  using E = device::DeviceElement<T>;
  using Acc = device::DeviceAccumulator<T>;
  constexpr int kVector = 16 / sizeof(E);
  constexpr int kUnroll = gram_vector_unroll(kM, kN);
  constexpr int kStep = 32 * kVector;  // elements of k that a warp takes at once
  constexpr int kSums = power_of_two_from(kM * kN);
  constexpr bool kRotates = gram_vector_rotates<E>(kM, kN);
  __shared__ union {
    Acc warps[kGramVectorWarps][kSums];
    GramWarpTotals<T> totals;
  } shared;

  device::let_next_kernel_start();
  const unsigned lane = threadIdx.x % 32;
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const int strip = static_cast<int>(blockIdx.x) % g.strips;
  const int strips_m = (g.m + kM - 1) / kM;
  const int i0 = strip % strips_m * kM;
  const int j0 = strip / strips_m * kN;
  const int walker = static_cast<int>(blockIdx.x) / g.strips;
  const bool same = g.symmetric && i0 == j0;
  const std::int64_t walkers = std::int64_t{g.walkers} * kGramVectorWarps;
  const std::int64_t own = std::int64_t{walker} * kGramVectorWarps + warp;

  const E* a[kM];
  const E* b[kN];
#pragma unroll
  for (int i = 0; i < kM; ++i)
    a[i] = g.a + min(i0 + i, g.m - 1) * g.a_strides.row;
#pragma unroll
  for (int j = 0; j < kN; ++j)
    b[j] = g.b + min(j0 + j, g.n - 1) * g.b_strides.col;

  // k is below 2^31.
  const unsigned whole = static_cast<unsigned>(g.k) / kVector * kVector;
  const unsigned stride = static_cast<unsigned>(walkers) * kStep;
  unsigned p = static_cast<unsigned>(own) * kStep + lane * kVector;
  if constexpr (!kAny) {
    if (g.prefetch)
      prefetch_columns<kUnroll>(g, kGramVectorWarps * kStep * static_cast<int>(sizeof(E)));
  }
  device::wait_for_kernel_ahead();
  const bool multiplies = g.alpha.load() != Acc(0);

  WarpSums<E, kSums> of_lane;
  const auto add = [&](E x, E y, Acc& sum) {
    sum = fma(device::conjugate_if(g.conj_a, device::widen(x)),
              device::conjugate_if(g.conj_b, device::widen(y)), sum);
  };
  const auto add_words = [&](const uint4(&x)[kM], const uint4(&y)[kN]) {
    E left[kM][kVector];
    E right[kN][kVector];
    memcpy(left, x, sizeof(left));
    memcpy(right, y, sizeof(right));
#pragma unroll
    for (int v = 0; v < kVector; ++v) {
#pragma unroll
      for (int j = 0; j < kN; ++j) {
#pragma unroll
        for (int i = 0; i < kM; ++i)
          add(left[i][v], right[j][v], of_lane.sums[j * kM + i]);
      }
    }
  };
  const auto load = [](const E* source, bool exists) {
    // c128 has too few registers for loads in the order that they stand in: 13 instead of 8 us for
    // 4 columns of 1e5 (H200).
    if constexpr (sizeof(E) == 16 && kM + kN > 4) {
      return device::load_word<uint4>(source, exists);
    } else {
      return device::load_word_if(source, exists);
    }
  };
  if constexpr (!kAny) {
    uint4 x[kUnroll][kM];
    uint4 y[kUnroll][kN];
    const auto load_step = [&](int u, unsigned q) {
#pragma unroll
      for (int i = 0; i < kM; ++i)
        x[u][i] = load(a[i] + q, q < whole);
#pragma unroll
      for (int j = 0; j < kN; ++j)
        y[u][j] = load(b[j] + q, q < whole && !same);
    };
    const auto add_step = [&](int u) {
      if constexpr (kM == kN) {
#pragma unroll
        for (int j = 0; j < kN; ++j)
          y[u][j] = device::select(same, x[u][j], y[u][j]);
      }
      add_words(x[u], y[u]);
    };
    if (!multiplies) p = whole + lane * kVector;
    if constexpr (kRotates) {
#pragma unroll
      for (int u = 0; u < kUnroll; ++u)
        load_step(u, p + u * stride);
    }
    // The last step may have words for some lanes alone.
#pragma unroll 1
    for (; p - lane * kVector < whole; p += kUnroll * stride) {
      if constexpr (!kRotates) {
#pragma unroll
        for (int u = 0; u < kUnroll; ++u)
          load_step(u, p + u * stride);
      }
#pragma unroll
      for (int u = 0; u < kUnroll; ++u) {
        if (p + u * stride >= whole) break;
        add_step(u);
        if constexpr (kRotates) {
          const unsigned next = p + (kUnroll + u) * stride;
          // Around many loads a branch saves .2 us at k = 1e5; around two it costs 1 % at 1e7.
          if (kM * kN == 1 || next - lane * kVector < whole) load_step(u, next);
        }
      }
      of_lane.added(kUnroll * kVector);
    }
    if (own == 0 && multiplies && whole + lane < g.k) {  // fewer than kVector elements
      E x[kM];
      E y[kN];
#pragma unroll
      for (int i = 0; i < kM; ++i)
        x[i] = a[i][whole + lane];
#pragma unroll
      for (int j = 0; j < kN; ++j)
        y[j] = b[j][whole + lane];
#pragma unroll
      for (int j = 0; j < kN; ++j) {
#pragma unroll
        for (int i = 0; i < kM; ++i)
          add(x[i], y[j], of_lane.sums[j * kM + i]);
      }
    }
  } else {
    const std::int64_t k = multiplies ? g.k : 0;
    std::int64_t whole = 0;
    if (sizeof(E) <= 4 && g.a_strides.col == 1 && g.b_strides.row == 1) {
      // A column's last word is left out: the aligned ones that hold it may reach beyond its end.
      constexpr int kFew = kUnroll > 1 ? kUnroll / 2 : 1;
      constexpr int kSpan = kFew * kStep;
      whole = (k - kVector) / kSpan * kSpan;
      for (std::int64_t p = own * kSpan + lane * kVector; p < whole; p += walkers * kSpan) {
        device::UnalignedUnit<uint4> x[kFew][kM];
        device::UnalignedUnit<uint4> y[kFew][kN];
#pragma unroll
        for (int u = 0; u < kFew; ++u) {
#pragma unroll
          for (int i = 0; i < kM; ++i)
            x[u][i].load(a[i] + p + u * kStep);
#pragma unroll
          for (int j = 0; j < kN; ++j)
            y[u][j].load(b[j] + p + u * kStep);
        }
#pragma unroll
        for (int u = 0; u < kFew; ++u) {
          uint4 left[kM];
          uint4 right[kN];
#pragma unroll
          for (int i = 0; i < kM; ++i)
            left[i] = x[u][i].unit(a[i]);
#pragma unroll
          for (int j = 0; j < kN; ++j)
            right[j] = y[u][j].unit(b[j]);
          add_words(left, right);
        }
        of_lane.added(kFew * kVector);
      }
    }
    constexpr int kLoads = sizeof(E) <= 4 ? 32 : 128 / static_cast<int>(sizeof(E));
    constexpr int kSingles = kLoads > kM + kN ? kLoads / (kM + kN) : 1;  // of each column
    constexpr int kSingleStep = 32 * kSingles;
    std::int64_t p = whole + own * kSingleStep + lane;
    for (; p - lane < k; p += walkers * kSingleStep) {
      E x[kSingles][kM];
      E y[kSingles][kN];
#pragma unroll
      for (int v = 0; v < kSingles; ++v) {
        const std::int64_t q = p + v * 32;
#pragma unroll
        for (int i = 0; i < kM; ++i)
          x[v][i] = q < k ? a[i][q * g.a_strides.col] : device::narrow<E>(0.0F);
#pragma unroll
        for (int j = 0; j < kN; ++j)
          y[v][j] = q < k ? b[j][q * g.b_strides.row] : device::narrow<E>(0.0F);
      }
#pragma unroll
      for (int v = 0; v < kSingles; ++v) {
#pragma unroll
        for (int j = 0; j < kN; ++j) {
#pragma unroll
          for (int i = 0; i < kM; ++i)
            add(x[v][i], y[v][j], of_lane.sums[j * kM + i]);
        }
      }
      of_lane.added(kSingles);
    }
  }

  of_lane.store(shared.warps[warp]);
  __syncthreads();  // every warp's sums are written before they are read
  const int s = static_cast<int>(threadIdx.x);
  const int i = i0 + s % kM;
  const int j = j0 + s / kM;
  if (s < kM * kN && i < g.m && j < g.n) {
    Acc sum = 0;
#pragma unroll
    for (int w = 0; w < kGramVectorWarps; ++w)
      sum += shared.warps[w][s];
    g.partials[(std::int64_t{walker} * g.n + j) * g.m + i] = sum;
  }
  sum_in_last_block(g, shared.totals);
}

}  // namespace lanky::dense::cuda
