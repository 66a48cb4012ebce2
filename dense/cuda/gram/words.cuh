// Gram products of operands off 16 bytes, by rows or by columns: C[i, j] = sum over k of A[i, k]
// B[k, j] on tensor cores. Lines pass through a ring in shared memory in the aligned words that
// hold them; fragments are read there one element at a time. Floats, and halves of sums in
// double, are widened to double, complex elements are pairs of real ones.
#pragma once

#include "dense/cuda/gram/policy.hpp"
#include "dense/cuda/gram/sum.cuh"
#include "dense/cuda/update/mma.cuh"
#include "dense/cuda/word_lines.cuh"

namespace lanky::dense::cuda {

/// How real elements of A and B are multiplied.
template <class T>
struct GramWordsShape {
  using Element = device::DeviceElement<T>;
  using Real = device::RealPart<Element>;
  static constexpr bool kHalves = sizeof(Real) == 2 && !kIsWidened<T>;  // as such
  using F = std::conditional_t<kHalves, Fragment<Real>, DoubleFragment>;
  using Sum = std::conditional_t<kHalves, float, double>;
  static constexpr int kParts = sizeof(Element) / sizeof(Real);
  static constexpr int kDepth = 4 * F::kSpan;  // of a product
};

/// A lane's lines g, g + 8, g + 16 and g + 24 of 32 of an operand, in a slot; those that do not
/// exist repeat the last one.
template <class T>
struct GramWordsLines {
  using Shape = GramWordsShape<T>;
  using Real = typename Shape::Real;
  static constexpr int kSpan = Shape::F::kSpan;

  int offsets[4];
  int pitch;  // bytes, from one k to the next

  __device__ GramWordsLines(const WordLinesPlan& plan, int first, int lines, int lane)
      : pitch(plan.row) {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const int line = min(first + i * 8 + lane / 4, lines * Shape::kParts - 1);
      offsets[i] = line / Shape::kParts * plan.column +
                   line % Shape::kParts * static_cast<int>(sizeof(Real)) + lane % 4 * plan.row;
    }
  }
  /// Elements p + t + {0, 4, ..} of line i, t = lane % 4; zeros from `count` on.
  template <bool kPartly>
  __device__ void load(Real (&values)[kSpan], const char* slot, int i, int p, int count) const {
    const char* const source = slot + offsets[i] + p * pitch;
#pragma unroll
    for (int e = 0; e < kSpan; ++e) {
      values[e] = *reinterpret_cast<const Real*>(source + 4 * e * pitch);
      if (kPartly && p + static_cast<int>(threadIdx.x) % 4 + 4 * e >= count) values[e] = Real(0.F);
    }
  }
};

/// A warp's sums to memory [column][row].
template <class Sum>
__device__ void leave_words_sums(Sum* target, const Sum (&sums)[2][4][4], int lane) {
#pragma unroll
  for (int i = 0; i < 2; ++i) {
#pragma unroll
    for (int j = 0; j < 4; ++j) {
#pragma unroll
      for (int e = 0; e < 4; ++e) {
        const int row = i * 16 + lane / 4 + e / 2 * 8;
        const int column = j * 8 + lane % 4 * 2 + e % 2;
        target[column * kGramWordsSide + row] = sums[i][j][e];
      }
    }
  }
}

/// The block's partial sums of C, from those of its warps: part q of tile t is at
/// all[q * tiles + t][column][row].
template <class T>
__device__ void add_words_sums(const GramArguments<T>& g,
                               const typename GramWordsShape<T>::Sum* all, int tiles, int parts) {
  using Shape = GramWordsShape<T>;
  using Sum = typename Shape::Sum;
  using Acc = device::DeviceAccumulator<T>;
  constexpr int kSide = kGramWordsSide;
  const int tiles_m = (g.m * Shape::kParts + kSide - 1) / kSide;
  const auto total = [&](int row, int column) {
    const int tile = row / kSide + column / kSide * tiles_m;
    Sum sum = 0;
    for (int q = 0; q < parts; ++q)
      sum += all[((q * tiles + tile) * kSide + column % kSide) * kSide + row % kSide];
    return sum;
  };
  for (int s = static_cast<int>(threadIdx.x); s < g.m * g.n; s += kGramWordsThreads) {
    const int i = s % g.m;
    const int j = s / g.m;
    Acc& result = g.partials[std::int64_t{blockIdx.x} * g.m * g.n + s];
    if constexpr (Shape::kParts == 1) {
      result = static_cast<Acc>(total(i, j));
    } else {
      using Real = typename Shape::Real;
      const Sum a_sign = g.conj_a ? -1 : 1;
      const Sum b_sign = g.conj_b ? -1 : 1;
      const Sum re = total(2 * i, 2 * j) - a_sign * b_sign * total(2 * i + 1, 2 * j + 1);
      const Sum im = b_sign * total(2 * i, 2 * j + 1) + a_sign * total(2 * i + 1, 2 * j);
      result = {static_cast<Real>(re), static_cast<Real>(im)};
    }
  }
}

/// A warp's part of the work: 32 x 32 real elements of C from (i0, j0) on and, of each chunk of k,
/// one of `parts` parts of part_k. Warps whose part is none of these have nothing to multiply.
template <class T>
struct GramWordsShare {
  int tiles;
  int i0;
  int j0;
  int part;
  int parts;
  int part_k;

  __device__ GramWordsShare(const GramArguments<T>& g, int warp) {
    using Shape = GramWordsShape<T>;
    constexpr int kSide = kGramWordsSide;
    const int tiles_m = (g.m * Shape::kParts + kSide - 1) / kSide;
    tiles = tiles_m * ((g.n * Shape::kParts + kSide - 1) / kSide);
    i0 = warp % tiles % tiles_m * kSide;
    j0 = warp % tiles / tiles_m * kSide;
    part = warp / tiles;
    parts = kGramWordsThreads / 32 / tiles;
    part_k = Shape::kDepth << g.run_log2;
  }
};

/// How lines of A and B lie in a slot: B's after A's, and none where B is A.
template <class T>
struct GramWordsSlot {
  using E = typename GramWordsShape<T>::Element;

  Strides a_strides;  // [k, m]
  WordLinesPlan a_plan;
  WordLinesPlan b_plan;
  int bytes;

  __device__ GramWordsSlot(const GramArguments<T>& g, int chunk_k)
      : a_strides{g.a_strides.col, g.a_strides.row},
        a_plan(a_strides, chunk_k, g.m, sizeof(E)),
        b_plan(g.b_strides, chunk_k, g.n, sizeof(E)),
        bytes(a_plan.bytes + (g.symmetric ? 0 : b_plan.bytes)) {}
  /// Starts copies of `count` of k from `first` on to a slot at `place`.
  __device__ void fetch(const GramArguments<T>& g, std::int64_t first, int count,
                        char* place) const {
    constexpr int kThreadsLog2 = 8;
    static_assert(1 << kThreadsLog2 == kGramWordsThreads);
    const int thread = static_cast<int>(threadIdx.x);
    WordLines<const E>(g.a + first * a_strides.row, a_strides, a_plan, count, g.m, place)
        .fetch_by(thread, kThreadsLog2, end_of(g.a, a_strides, g.k, g.m));
    if (!g.symmetric) {
      WordLines<const E>(g.b + first * g.b_strides.row, g.b_strides, b_plan, count, g.n,
                         place + a_plan.bytes)
          .fetch_by(thread, kThreadsLog2, end_of(g.b, g.b_strides, g.k, g.n));
    }
  }
};

/// What a warp reads of each slot.
template <class T>
struct GramWordsOperands {
  using Shape = GramWordsShape<T>;
  using Real = typename Shape::Real;
  using F = typename Shape::F;

  GramWordsLines<T> a;
  GramWordsLines<T> b;
  int past_a;  // bytes of a slot ahead of the first element
  int past_b;
  bool lower;   // the second 16 rows exist
  int columns;  // that exist

  __device__ GramWordsOperands(const GramArguments<T>& g, const GramWordsSlot<T>& slot,
                               const GramWordsShare<T>& share, int lane)
      : a(slot.a_plan, share.i0, g.m, lane),
        b(slot.b_plan, share.j0, g.n, lane),
        past_a(static_cast<int>(reinterpret_cast<std::uintptr_t>(g.a) % 16)),
        past_b(static_cast<int>(reinterpret_cast<std::uintptr_t>(g.b) % 16) +
               (g.symmetric ? 0 : slot.a_plan.bytes)),
        lower(share.i0 + 16 < g.m * Shape::kParts),
        columns(g.n * Shape::kParts - share.j0) {}
  /// Adds the products of k from `first` to `last`; kPartly: zeros from `count` on. Of halves, code
  /// knows whether the second 16 rows exist: a product that a predicate leaves out takes as long as
  /// another. Other types have one code, as two were slower.
  template <bool kPartly>
  __device__ void multiply(typename Shape::Sum (&sums)[2][4][4], const char* slot, int first,
                           int last, int count) const {
    if constexpr (sizeof(Real) == 2) {
      if (lower) {
        multiply_rows<kPartly>(sums, slot, first, last, count, std::true_type());
      } else {
        multiply_rows<kPartly>(sums, slot, first, last, count, std::false_type());
      }
    } else {
      multiply_rows<kPartly>(sums, slot, first, last, count, lower);
    }
  }
  /// `second`: whether there are 32 rows, not 16; a bool, or known to the code.
  template <bool kPartly, class Known>
  __device__ void multiply_rows(typename Shape::Sum (&sums)[2][4][4], const char* slot, int first,
                                int last, int count, Known second) const {
#pragma unroll 1
    for (int p = first; p < last; p += Shape::kDepth) {
      Real rows[2][F::kSpan][2];
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        Real line[F::kSpan] = {};
        if (i < 2 || second) a.template load<kPartly>(line, slot + past_a, i, p, count);
#pragma unroll
        for (int e = 0; e < F::kSpan; ++e)
          rows[i / 2][e][i % 2] = line[e];
      }
      typename F::A fragments[2];
      F::from_columns(fragments[0], rows[0], 0);
      F::from_columns(fragments[1], rows[1], 0);
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        if (j * 8 >= columns) break;
        Real line[F::kSpan];
        b.template load<kPartly>(line, slot + past_b, j, p, count);
        typename F::B column;
#pragma unroll
        for (int e = 0; e < F::kSpan; ++e)
          column.e[e] = line[e];
        F::multiply(sums[0][j], fragments[0], column);
        if (second) F::multiply(sums[1][j], fragments[1], column);
      }
    }
  }
};

/// Block: every gridDim.x-th chunk of k. Warp: GramWordsShare, 2^g.run_log2 products deep. Shared
/// memory: kGramWordsSlots slots of A's and B's parts of a chunk; at the end [warps][32][32] sums.
template <class T>
__global__ __launch_bounds__(kGramWordsThreads, 2) void gram_words_kernel(GramArguments<T> g) {
  using Sum = typename GramWordsShape<T>::Sum;
  using Acc = device::DeviceAccumulator<T>;
  extern __shared__ __align__(16) char slots[];
  device::let_next_kernel_start();
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const GramWordsShare<T> share(g, warp);
  const int chunk_k = share.parts * share.part_k;
  const GramWordsSlot<T> lines(g, chunk_k);
  device::wait_for_kernel_ahead();
  const std::int64_t k = g.alpha.load() == Acc(0) ? 0 : g.k;
  const std::int64_t chunks = (k + chunk_k - 1) / chunk_k;
  const auto fetch = [&](std::int64_t chunk, int slot) {
    if (chunk < chunks) {
      const std::int64_t first = chunk * chunk_k;
      lines.fetch(g, first, static_cast<int>(min(std::int64_t{chunk_k}, k - first)),
                  slots + slot * lines.bytes);
    }
    device::group_copies();
  };
  const GramWordsOperands<T> operands(g, lines, share, lane);
  Sum sums[2][4][4] = {};
  const int first = share.part * share.part_k;
  const int last = first + share.part_k;
  for (int s = 0; s + 1 < kGramWordsSlots; ++s)
    fetch(blockIdx.x + std::int64_t{s} * gridDim.x, s);
  int slot = 0;
  for (std::int64_t chunk = blockIdx.x; chunk < chunks; chunk += gridDim.x) {
    device::wait_for_copy_groups<kGramWordsSlots - 2>();
    __syncthreads();  // the chunk is there, and the one before has been read
    fetch(chunk + std::int64_t{kGramWordsSlots - 1} * gridDim.x,
          (slot + kGramWordsSlots - 1) % kGramWordsSlots);
    const std::int64_t left = k - chunk * chunk_k;
    const char* const place = slots + slot * lines.bytes;
    if (share.part < share.parts) {
      if (left >= chunk_k) {
        operands.template multiply<false>(sums, place, first, last, chunk_k);
      } else {
        operands.template multiply<true>(sums, place, first, last, static_cast<int>(left));
      }
    }
    slot = (slot + 1) % kGramWordsSlots;
  }
  device::wait_for_copy_groups<0>();
  __syncthreads();  // slots have been read before sums take their place
  auto* const all = reinterpret_cast<Sum*>(slots);  // [warp][column][row]
  leave_words_sums(all + warp * kGramWordsSide * kGramWordsSide, sums, lane);
  __syncthreads();  // all sums are there
  add_words_sums(g, all, share.tiles, share.parts);
}

}  // namespace lanky::dense::cuda
