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
template <class T, int kCount>
struct WarpSums {
  using Acc = device::DeviceAccumulator<T>;
  static constexpr bool kFlushes = std::is_same_v<T, float>;
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

/// A lane's operands: kM rows of A and kN columns of B, of which it takes 16 bytes a step.
template <class T, int kRowsOfA, int kColumnsOfB>
struct VectorTile {
  using E = device::DeviceElement<T>;
  using Acc = device::DeviceAccumulator<T>;
  using Arguments = GramArguments<T>;
  static constexpr int kM = kRowsOfA;
  static constexpr int kN = kColumnsOfB;
  static constexpr int kVector = 16 / sizeof(E);
  static constexpr int kUnroll = gram_vector_unroll(kM, kN);
  static constexpr int kStep = 32 * kVector;  // elements of k that a warp takes at once
  static constexpr int kSums = power_of_two_from(kM * kN);
  static constexpr bool kRotates = gram_vector_rotates<E>(kM, kN);
  using Sums = WarpSums<T, kSums>;

  const E* a[kM];
  const E* b[kN];
  bool same;  // B's columns are A's rows

  /// From row i0 of A and column j0 of B on. Beyond m and n they repeat the last one: their loads
  /// hit the cache, their sums are not stored.
  __device__ VectorTile(const GramArguments<T>& g, int i0, int j0) : same(g.symmetric && i0 == j0) {
#pragma unroll
    for (int i = 0; i < kM; ++i)
      a[i] = g.a + min(i0 + i, g.m - 1) * g.a_strides.row;
#pragma unroll
    for (int j = 0; j < kN; ++j)
      b[j] = g.b + min(j0 + j, g.n - 1) * g.b_strides.col;
  }

  /// Adds the products of kCount elements of k, in their order.
  template <int kCount>
  __device__ void add(const GramArguments<T>& g, const E (&x)[kM][kCount], const E (&y)[kN][kCount],
                      Sums& of_lane) const {
#pragma unroll
    for (int v = 0; v < kCount; ++v) {
#pragma unroll
      for (int j = 0; j < kN; ++j) {
#pragma unroll
        for (int i = 0; i < kM; ++i) {
          Acc& sum = of_lane.sums[j * kM + i];
          sum = fma(device::conjugate_if(g.conj_a, device::factor<Acc>(x[i][v])),
                    device::conjugate_if(g.conj_b, device::factor<Acc>(y[j][v])), sum);
        }
      }
    }
  }
  __device__ void add_words(const GramArguments<T>& g, const uint4 (&x)[kM], const uint4 (&y)[kN],
                            Sums& of_lane) const {
    E left[kM][kVector];
    E right[kN][kVector];
    memcpy(left, x, sizeof(left));
    memcpy(right, y, sizeof(right));
    add(g, left, right, of_lane);
  }
  __device__ static uint4 load(const E* source, bool exists) {
    // c128 has too few registers for loads in the order that they stand in: 13 instead of 8 us for
    // 4 columns of 1e5 (H200).
    if constexpr (sizeof(E) == 16 && kM + kN > 4) {
      return device::load_word<uint4>(source, exists);
    } else {
      return device::load_word_if(source, exists);
    }
  }
};

/// The warp's steps of aligned words, from element p of k on, kUnroll of them in flight. The last
/// one may have words for some lanes alone.
template <class Tile>
__device__ void add_vector_steps(const typename Tile::Arguments& g, const Tile& tile, unsigned p,
                                 unsigned stride, unsigned whole, typename Tile::Sums& of_lane) {
  constexpr int kUnroll = Tile::kUnroll;
  const unsigned within = threadIdx.x % 32 * Tile::kVector;
  uint4 x[kUnroll][Tile::kM];
  uint4 y[kUnroll][Tile::kN];
  const auto load_step = [&](int u, unsigned q) {
#pragma unroll
    for (int i = 0; i < Tile::kM; ++i)
      x[u][i] = Tile::load(tile.a[i] + q, q < whole);
#pragma unroll
    for (int j = 0; j < Tile::kN; ++j)
      y[u][j] = Tile::load(tile.b[j] + q, q < whole && !tile.same);
  };
  const auto add_step = [&](int u) {
    if constexpr (Tile::kM == Tile::kN) {
#pragma unroll
      for (int j = 0; j < Tile::kN; ++j)
        y[u][j] = device::select(tile.same, x[u][j], y[u][j]);
    }
    tile.add_words(g, x[u], y[u], of_lane);
  };
  if constexpr (Tile::kRotates) {
#pragma unroll
    for (int u = 0; u < kUnroll; ++u)
      load_step(u, p + u * stride);
  }
#pragma unroll 1
  for (; p - within < whole; p += kUnroll * stride) {
    if constexpr (!Tile::kRotates) {
#pragma unroll
      for (int u = 0; u < kUnroll; ++u)
        load_step(u, p + u * stride);
    }
#pragma unroll
    for (int u = 0; u < kUnroll; ++u) {
      if (p + u * stride >= whole) break;
      add_step(u);
      if constexpr (Tile::kRotates) {
        const unsigned next = p + (kUnroll + u) * stride;
        // Around many loads a branch saves .2 us at k = 1e5; around two it costs 1 % at 1e7.
        if (Tile::kM * Tile::kN == 1 || next - within < whole) load_step(u, next);
      }
    }
    of_lane.added(kUnroll * Tile::kVector);
  }
}

/// Element q of k.
template <class Tile>
__device__ void add_vector_element(const typename Tile::Arguments& g, const Tile& tile, unsigned q,
                                   typename Tile::Sums& of_lane) {
  typename Tile::E x[Tile::kM][1];
  typename Tile::E y[Tile::kN][1];
#pragma unroll
  for (int i = 0; i < Tile::kM; ++i)
    x[i][0] = tile.a[i][q];
#pragma unroll
  for (int j = 0; j < Tile::kN; ++j)
    y[j][0] = tile.b[j][q];
  tile.add(g, x, y, of_lane);
}

/// Spans of words that may be off 16 bytes, put together from aligned ones, half as many steps in
/// flight. Returns the elements of k that all spans hold.
template <class Tile>
__device__ std::int64_t add_unaligned_spans(const typename Tile::Arguments& g, const Tile& tile,
                                            std::int64_t k, WarpTurns turns,
                                            typename Tile::Sums& of_lane) {
  // A column's last word is left out: the aligned ones that hold it may reach beyond its end.
  constexpr int kFew = Tile::kUnroll > 1 ? Tile::kUnroll / 2 : 1;
  constexpr int kSpan = kFew * Tile::kStep;
  const std::int64_t whole = (k - Tile::kVector) / kSpan * kSpan;
  const unsigned within = threadIdx.x % 32 * Tile::kVector;
  for (std::int64_t p = turns.own * kSpan + within; p < whole; p += turns.warps * kSpan) {
    device::UnalignedUnit<uint4> x[kFew][Tile::kM];
    device::UnalignedUnit<uint4> y[kFew][Tile::kN];
#pragma unroll
    for (int u = 0; u < kFew; ++u) {
#pragma unroll
      for (int i = 0; i < Tile::kM; ++i)
        x[u][i].load(tile.a[i] + p + u * Tile::kStep);
#pragma unroll
      for (int j = 0; j < Tile::kN; ++j)
        y[u][j].load(tile.b[j] + p + u * Tile::kStep);
    }
#pragma unroll
    for (int u = 0; u < kFew; ++u) {
      uint4 left[Tile::kM];
      uint4 right[Tile::kN];
#pragma unroll
      for (int i = 0; i < Tile::kM; ++i)
        left[i] = x[u][i].unit(tile.a[i]);
#pragma unroll
      for (int j = 0; j < Tile::kN; ++j)
        right[j] = y[u][j].unit(tile.b[j]);
      tile.add_words(g, left, right, of_lane);
    }
    of_lane.added(kFew * Tile::kVector);
  }
  return whole;
}

/// Elements of k from `whole` on one by one, neighbouring ones in neighbouring lanes; `a_step`,
/// `b_step`: from one to the next.
template <class Tile>
__device__ void add_single_elements(const typename Tile::Arguments& g, const Tile& tile,
                                    std::int64_t whole, std::int64_t k, std::int64_t a_step,
                                    std::int64_t b_step, WarpTurns turns,
                                    typename Tile::Sums& of_lane) {
  using E = typename Tile::E;
  constexpr int kLoads = sizeof(E) <= 4 ? 32 : 128 / static_cast<int>(sizeof(E));
  constexpr int kColumns = Tile::kM + Tile::kN;
  constexpr int kSingles = kLoads > kColumns ? kLoads / kColumns : 1;  // of each column
  constexpr int kStep = 32 * kSingles;
  const unsigned lane = threadIdx.x % 32;
  std::int64_t p = whole + turns.own * kStep + lane;
  for (; p - lane < k; p += turns.warps * kStep) {
    E x[Tile::kM][kSingles];
    E y[Tile::kN][kSingles];
#pragma unroll
    for (int v = 0; v < kSingles; ++v) {
      const std::int64_t q = p + v * 32;
#pragma unroll
      for (int i = 0; i < Tile::kM; ++i)
        x[i][v] = q < k ? tile.a[i][q * a_step] : device::narrow<E>(0.0F);
#pragma unroll
      for (int j = 0; j < Tile::kN; ++j)
        y[j][v] = q < k ? tile.b[j][q * b_step] : device::narrow<E>(0.0F);
    }
    tile.add(g, x, y, of_lane);
    of_lane.added(kSingles);
  }
}

/// Block: strip blockIdx % strips of kM rows of A and kN columns of B. Warp: of the steps along k
/// every (8 g.walkers)-th, several of them in flight. Lane: 16 bytes of each column a step, kM x kN
/// sums; less than 16 bytes may remain of k. kAny: columns off 16 bytes; then, element by element,
/// what remains of k, or all of it, where k is not adjacent (or elements have 8 bytes). In one
/// kernel with the rest they cost that .3 us at n = 1, k = 1e6 (code to be fetched).
template <class T, int kM, int kN, bool kAny>
__global__ __launch_bounds__(kGramVectorWarps * 32,
                             kM* kN > 16 ? 1 : 2) void gram_vector_kernel(GramArguments<T> g) {
  using Tile = VectorTile<T, kM, kN>;
  using Acc = typename Tile::Acc;
  constexpr int kStep = Tile::kStep;
  __shared__ union {
    Acc warps[kGramVectorWarps][Tile::kSums];
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
  const WarpTurns turns{std::int64_t{walker} * kGramVectorWarps + warp,
                        std::int64_t{g.walkers} * kGramVectorWarps};
  const Tile tile(g, i0, j0);
  if constexpr (!kAny) {
    if (g.prefetch) {
      prefetch_columns<Tile::kUnroll>(
          g, kGramVectorWarps * kStep * static_cast<int>(sizeof(typename Tile::E)));
    }
  }
  device::wait_for_kernel_ahead();
  const bool multiplies = g.alpha.load() != Acc(0);

  typename Tile::Sums of_lane;
  if constexpr (!kAny) {
    // k is below 2^31.
    const unsigned whole = static_cast<unsigned>(g.k) / Tile::kVector * Tile::kVector;
    const unsigned first = multiplies ? static_cast<unsigned>(turns.own) * kStep : whole;
    add_vector_steps(g, tile, first + lane * Tile::kVector,
                     static_cast<unsigned>(turns.warps) * kStep, whole, of_lane);
    if (turns.own == 0 && multiplies && whole + lane < g.k)  // fewer than kVector elements
      add_vector_element(g, tile, whole + lane, of_lane);
  } else {
    const std::int64_t k = multiplies ? g.k : 0;
    std::int64_t whole = 0;
    if (sizeof(typename Tile::E) <= 4 && g.a_strides.col == 1 && g.b_strides.row == 1)
      whole = add_unaligned_spans(g, tile, k, turns, of_lane);
    add_single_elements(g, tile, whole, k, g.a_strides.col, g.b_strides.row, turns, of_lane);
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
