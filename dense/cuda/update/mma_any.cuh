// C[m, n] = alpha A[m, k] B[k, n] + beta C on tensor cores, long m, lines of A or C off 16 bytes:
// what a lane multiplies is put together from the two aligned words that hold it, and goes straight
// into the fragments of update_mma_kernel.
#pragma once

#include "dense/cuda/update/mma.cuh"
#include "dense/cuda/word_lines.cuh"

namespace lanky::dense::cuda {

/// target[e] = element e of the word for 0 <= e < count; `target` is aligned to 16 bytes.
template <class E>
__device__ void store_first(E* target, const uint4& word, int count) {
  if (count >= kWide<E>) {
    __stcs(reinterpret_cast<uint4*>(target), word);
  } else {
    store_part(target, word, 0, count);
  }
}

/// target[0] and target[1], rounded: of halves by one instruction.
template <class E, class Acc>
__device__ void narrow_two(E* target, Acc first, Acc second) {
  if constexpr (std::is_same_v<E, __half>) {
    const __half2 both = __floats2half2_rn(first, second);
    memcpy(target, &both, sizeof(both));
  } else if constexpr (std::is_same_v<E, __nv_bfloat16>) {
    const __nv_bfloat162 both = __floats2bfloat162_rn(first, second);
    memcpy(target, &both, sizeof(both));
  } else {
    target[0] = device::narrow<E>(first);
    target[1] = device::narrow<E>(second);
  }
}

/// Lanes, fragments and sums are those of UpdateMmaShape. A: a lane's elements are adjacent; it
/// loads the words that hold them, doubles one by one. C: a warp stores the words that begin in its
/// rows, and computes for the last of them what the next warp's rows hold, too: warps are
/// UpdateMma::owned_rows() apart. By columns, a lane has kRows adjacent rows, and its words end in
/// those of the next lane:
///
///   words of C      . . | o o o o | o o o o | o o . .      (a column; the lane's own: o)
///   rows of lanes   g - 1   g         g         g + 1
///
/// By rows, elements pass through shared memory, where each has the address, modulo 16, that it has
/// in C. Rows without gaps are one line; the words at both ends of others are stored in parts.
template <int kVariant, class T, class TOut>
struct UpdateMmaAnyShape : UpdateMmaShape<kVariant, true, T, TOut> {
  using Base = UpdateMmaShape<kVariant, true, T, TOut>;
  using Arguments = typename Base::Arguments;
  using Acc = typename Base::Acc;
  using Element = typename Base::Element;
  using Result = typename Base::Result;
  using Sums = typename Base::Sums;
  using Base::kColumnsOfA;
  using Base::kColumnsOfC;
  using Base::kGroupRows;
  using Base::kGroups;
  using Base::kPassRows;
  using Base::kProducts;
  using Base::kRows;
  using Base::kSpan;
  using Base::kSteps;
  using Base::kTiles;

  static constexpr bool kStagesC = !kColumnsOfC;
  static __device__ int stride(const Arguments& g) {
    constexpr UpdateMma kShape = kUpdateMma[kVariant];
    return kShape.owned_rows(sizeof(Element), sizeof(Result), g.n,
                             kStagesC && g.c_strides.row == g.n);
  }
  static constexpr bool kByElements = sizeof(Element) == 8;
  static constexpr int kCount =
      kColumnsOfA ? kRows : kSpan;  // elements of a lane that are adjacent
  using Word = typename device::detail::WordOf<kCount * sizeof(Element)>::Type;
  using Unit = device::UnalignedUnit<Word>;
  static constexpr int kUnits = sizeof(typename Base::Values) / sizeof(Word);
  /// Whether units are put together when their fragments are wanted; where registers are few, as
  /// soon as they are loaded.
  static constexpr bool kLater = !kByElements && sizeof(typename Base::Values) <= 256;

  struct Values {
    typename Base::Values elements;
    Word high[kLater ? kUnits : 1];
    unsigned first;  // the address of the lane's first element
    unsigned line;   // and bytes from line to line, of which the lowest bits count
    int k;
  };

  /// The elements of a row from k on are a stranger's.
  static __device__ void cut(Element (&unit)[kCount], int count) {
    if (count >= kCount) return;
#pragma unroll
    for (int e = 0; e < kCount; ++e)
      if (e >= count) unit[e] = Element(0.F);
  }
  static __device__ void put_together(Element (&unit)[kCount], Word high, unsigned address) {
    Word low;
    memcpy(&low, unit, sizeof(low));
    const Word word = device::realigned<Element>(low, high, address % sizeof(Word));
    memcpy(unit, &word, sizeof(word));
  }

  static __device__ void load(Values& values, const Arguments& g, int k, std::int64_t first,
                              int lane) {
    const std::int64_t i0 =
        first + (kColumnsOfA ? Base::row_of(lane) * kRows : Base::row(lane / 4, 0, 0));
    const int p0 = (kColumnsOfA ? Base::column_of_lane(lane) : lane % 4) * kSpan;
    const std::int64_t ld = device::opaque(kColumnsOfA ? g.a_strides.col : g.a_strides.row);
    const Element* const a = g.a + (kColumnsOfA ? i0 + p0 * ld : i0 * ld + p0);
    const auto rows = static_cast<int>(min(g.m - i0, std::int64_t{kPassRows}));
    values.first = static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(a));
    values.line = static_cast<unsigned>(ld) * static_cast<unsigned>(sizeof(Element));
    values.k = k - p0;
    if (kByElements || g.m - first > kPassRows + kCount) {
      load_units(values, a, ld, rows,
                 [](Unit& both, const Element* source, int count) { both.load(source, count); });
    } else {
      const Element* const end = end_of(g.a, g.a_strides, g.m, k);
      load_units(values, a, ld, rows, [end](Unit& both, const Element* source, int count) {
        both.load(source, count, end);
      });
    }
  }
  template <class Load>
  static __device__ void load_units(Values& values, const Element* a, std::int64_t ld, int rows,
                                    Load load_unit) {
    Base::for_each_unit(values.elements, [&](int unit, int i, int p, Element(&elements)[kCount]) {
      const Element* const source = a + (kColumnsOfA ? p * ld + i : i * ld + p);
      const int along = kColumnsOfA ? rows - i : values.k - p;
      const int across = kColumnsOfA ? values.k - p : rows - i;
      const int count = across > 0 ? min(along, kCount) : 0;
      if constexpr (kByElements) {
#pragma unroll
        for (int e = 0; e < kCount; ++e)
          elements[e] = e < count ? __ldg(source + e) : Element(0.F);
      } else {
        Unit both;
        load_unit(both, source, count);
        memcpy(elements, &both.low, sizeof(both.low));
        if constexpr (kLater) {
          values.high[unit] = both.high;
        } else {
          put_together(elements, both.high,
                       static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(source)));
          if constexpr (!kColumnsOfA) cut(elements, values.k - p);
        }
      }
    });
  }
  static __device__ void arrange(Values& values, int lane) {
    if constexpr (kLater) {
      Base::for_each_unit(values.elements, [&](int unit, int i, int p, Element(&elements)[kCount]) {
        // Rows of groups, and steps along k, are whole words apart.
        put_together(elements, values.high[unit],
                     values.first + (kColumnsOfA ? p : i) * values.line);
        if constexpr (!kColumnsOfA) cut(elements, values.k - p);
      });
    }
    Base::arrange(values.elements, lane);
  }
  static __device__ void fragment(typename Base::F::A& a, const Values& values, int step, int part,
                                  int group, int product) {
    Base::fragment(a, values.elements, step, part, group, product);
  }

  static constexpr int kOfWord = kWide<Result>;
  static constexpr int kWords = kColumnsOfC ? kRows / kOfWord : 1;  // of a lane and column of C
  struct Part {
    Result rows[kWords][kOfWord];

    __device__ uint4 word(int w) const {
      uint4 bits;
      memcpy(&bits, rows[w], sizeof(bits));
      return bits;
    }
    __device__ void set_word(int w, const uint4& bits) { memcpy(rows[w], &bits, sizeof(bits)); }
  };

  static __device__ Acc unrounded(const Factors<Acc>& factors, Acc sum, Result old) {
    const Acc value = factors.alpha * sum;
    return factors.adds() ? value + factors.beta * device::widen(old) : value;
  }
  static __device__ void store_columns(const Sums& sums, const Arguments& g,
                                       const Factors<Acc>& factors, std::int64_t first, int n0,
                                       int lane) {
    constexpr int kLanes = Base::kExchanged ? 1 : 4;  // from a lane to that of the next rows
    const int group = Base::row_of(lane);
    const int next = (lane & ~(7 * kLanes)) | ((lane + kLanes) & (7 * kLanes));
    const int j0 = n0 + Base::column_of_lane(lane) * 2;
    const std::int64_t ld = device::opaque(g.c_strides.col);
    Result* const c = g.c + first + group * kRows + j0 * ld;
    const bool near_end = g.m - first <= kPassRows + kOfWord;
    const Result* const end = near_end ? end_of(g.c, g.c_strides, g.m, g.n) : nullptr;
    // Rows from the lane's first on.
    const auto left = static_cast<int>(min(g.m - first - group * kRows, std::int64_t{1} << 16));
#pragma unroll
    for (int q = 0; q < 2 * kTiles; ++q) {
      const int j = q / 2 * 8 + q % 2;
      Result* const column = c + j * ld;
      const bool exists = j0 + j < g.n;
      Part parts[kGroups] = {};
#pragma unroll
      for (int s = 0; s < kGroups; ++s) {
        if (factors.adds()) {
          read_part(parts[s], column + s * kGroupRows, exists ? left - s * kGroupRows : 0, end);
          turn(parts[s], lane, true);
        }
#pragma unroll
        for (int r = 0; r < kRows; r += 2) {
          Result* const rows = &parts[s].rows[r / kOfWord][r % kOfWord];
          const auto value = [&](int half) {
            return unrounded(factors, Acc(sums[q / 2][s][r / 2][half * 2 + q % 2]), rows[half]);
          };
          narrow_two(rows, value(0), value(1));
        }
        turn(parts[s], lane, false);
      }
      const unsigned past = static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(column)) % 16;
      const unsigned to_word = (16 - past) % 16;  // bytes to the first word that begins in a part
      const int skipped = static_cast<int>(to_word / sizeof(Result));
#pragma unroll
      for (int s = 0; s < kGroups; ++s) {
        uint4 beyond = parts[s].word(0);
        if (s + 1 < kGroups)
          beyond = device::select(group == 0, parts[(s + 1) % kGroups].word(0), beyond);
        exchange_word(beyond, next);
        if (!exists || (group == 7 && s == kGroups - 1)) continue;
#pragma unroll
        for (int w = 0; w < kWords; ++w) {
          const int row = s * kGroupRows + w * kOfWord;
          const uint4 high = w + 1 < kWords ? parts[s].word((w + 1) % kWords) : beyond;
          store_first(column + row + skipped,
                      device::realigned<Result>(parts[s].word(w), high, to_word),
                      left - row - skipped);
        }
      }
      if (first != 0 || group != 0 || !exists) continue;
#pragma unroll
      for (int r = 0; r < kOfWord; ++r)  // ahead of the column's first word
        if (r < min(skipped, left)) column[r] = parts[0].rows[0][r];
    }
  }
  static __device__ void exchange_word(uint4& word, int source) {
    std::uint32_t words[4];
    memcpy(words, &word, sizeof(word));
    device::exchange(words, source);
    memcpy(&word, words, sizeof(word));
  }
  /// Between the lanes that have the sums and those that access C.
  static __device__ void turn(Part& part, int lane, bool to_sums) {
    if constexpr (Base::kExchanged)
      device::exchange(part.rows[0], to_sums ? lane % 4 * 8 + lane / 4 : lane % 8 * 4 + lane / 8);
  }
  /// `end`: of C, where words may reach beyond it; else null.
  static __device__ void read_part(Part& part, const Result* rows, int count, const Result* end) {
#pragma unroll
    for (int w = 0; w < kWords; ++w) {
      device::UnalignedUnit<uint4> both;
      const Result* const source = rows + w * kOfWord;
      const int of_word = max(0, min(count - w * kOfWord, kOfWord));
      if (end == nullptr) {
        both.load(source, of_word);
      } else {
        both.load(source, of_word, end);
      }
      part.set_word(w, both.unit(source));
    }
  }

  /// The warp's rows of C from `first` on, in memory behind `place`.
  static __device__ WordLines<Result> lines_of_c(const Arguments& g, std::int64_t first,
                                                 char* place, int warp) {
    const WordLinesPlan plan(g.c_strides, kPassRows, g.n, sizeof(Result));
    const auto rows = static_cast<int>(min(g.m - first, std::int64_t{kPassRows}));
    return WordLines<Result>(g.c + first * g.c_strides.row, g.c_strides, plan, rows, g.n,
                             place + warp * plan.bytes);
  }
  static __device__ void fetch_rows(const Arguments& g, const WordLines<Result>& c) {
    c.fetch_by_warp(end_of(g.c, g.c_strides, g.m, g.n));
    __syncwarp();  // C is there before it is added to
  }
  static __device__ void stage_rows(const Sums& sums, const Arguments& g,
                                    const Factors<Acc>& factors, const WordLines<Result>& c, int n0,
                                    int lane) {
    if constexpr (sizeof(Result) == 2) {
      const auto address = static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(c.shared));
      if (((address | static_cast<unsigned>(c.pitch.row)) % 4) == 0 && g.n % 2 == 0 &&
          !factors.adds())
        return stage_pairs(sums, g, factors, c, n0, lane);
    }
    stage_elements(sums, g, factors, c, n0, lane);
  }
  /// visit(row of the pass, first of two columns after n0's, the two sums)
  template <class Visit>
  static __device__ void for_each_pair(const Sums& sums, Visit visit) {
    constexpr int kTogether = Base::kTogether;
#pragma unroll
    for (int s = 0; s < kGroups; ++s) {
#pragma unroll
      for (int r = 0; r < kRows; ++r) {
#pragma unroll
        for (int tile = 0; tile < kTiles; ++tile)
          visit(s * kGroupRows + Base::row(0, r / 2, r % 2),
                tile / kTogether * (8 * kTogether) + tile % kTogether * 2,
                Acc(sums[tile][s][r / 2][r % 2 * 2]), Acc(sums[tile][s][r / 2][r % 2 * 2 + 1]));
      }
    }
  }
  /// Where two elements of a row are a word of 4 bytes, and beta is 0.
  static __device__ void stage_pairs(const Sums& sums, const Arguments& g,
                                     const Factors<Acc>& factors, const WordLines<Result>& c,
                                     int n0, int lane) {
    const int j0 = n0 + lane % 4 * (2 * Base::kTogether);
    char* const place =
        c.shared + Base::row(lane / 4, 0, 0) * c.pitch.row + j0 * static_cast<int>(sizeof(Result));
    for_each_pair(sums, [&](int i, int j, Acc even, Acc odd) {
      Result pair[2];
      narrow_two(pair, factors.alpha * even, factors.alpha * odd);
      if (j0 + j < g.n)
        *reinterpret_cast<std::uint32_t*>(reinterpret_cast<Result*>(place + i * c.pitch.row) + j) =
            device::pair_bits(pair[0], pair[1]);
    });
  }
  static __device__ void stage_elements(const Sums& sums, const Arguments& g,
                                        const Factors<Acc>& factors, const WordLines<Result>& c,
                                        int n0, int lane) {
    const int j0 = n0 + lane % 4 * (2 * Base::kTogether);
    char* const place =
        c.shared + Base::row(lane / 4, 0, 0) * c.pitch.row + j0 * static_cast<int>(sizeof(Result));
    const auto stage = [&](auto finish) {
      for_each_pair(sums, [&](int i, int j, Acc even, Acc odd) {
        auto* const target = reinterpret_cast<Result*>(place + i * c.pitch.row) + j;
        if (j0 + j < g.n) finish(target[0], even);
        if (j0 + j + 1 < g.n) finish(target[1], odd);
      });
    };
    if (factors.adds()) {
      stage([&](Result& element, Acc sum) { element = factors.of(sum, element, true); });
    } else {
      stage(
          [&](Result& element, Acc sum) { element = device::narrow<Result>(factors.alpha * sum); });
    }
  }
  /// The words that begin in the warp's own rows, or all of its rows, where lines have gaps.
  static __device__ void leave_rows(const WordLines<Result>& c, std::int64_t first, int own_rows) {
    __syncwarp();  // C is whole before it leaves
    if (c.pitch.tight) {
      const int owned = own_rows * c.pitch.row;
      const auto past = static_cast<int>(reinterpret_cast<std::uintptr_t>(c.global) % 16);
      const int begin = past == 0 ? 0 : first == 0 ? -past : 16 - past;
      const int lane = static_cast<int>(threadIdx.x) % 32;
      char* const global = reinterpret_cast<char*>(c.global);
      for (int byte = begin + lane * 16; byte < min(owned, c.bytes); byte += 512)
        WordLines<Result>::leave_word(global + byte, c.shared + byte, max(0, -byte),
                                      min(16, c.bytes - byte));
    } else {
      c.leave_by_warp();
    }
    __syncwarp();  // and gone before the next pass is written
  }
};

}  // namespace lanky::dense::cuda
