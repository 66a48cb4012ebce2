// Gram products on tensor cores, of operands at least one of which is row-major (the elements of
// one k adjacent), or of any strides. Loads go straight into mma fragments. Several rows pass as
// one wide row of 8 units: of the wide product only the blocks on the diagonal belong to C, and are
// added at the end.
#pragma once

#include <cstring>
#include <type_traits>

#include "dense/cuda/gram/prefetch.cuh"
#include "dense/cuda/gram/sum.cuh"
#include "device/memory.cuh"
#include "device/mma.cuh"

namespace lanky::dense::cuda {

inline constexpr int kGramRowsWarps = 8;

/// A unit is what a lane loads at once: kRows neighbouring elements of a wide row, or of a column,
/// if k is adjacent (`turned`). Entry h, from kRows units, of the fragment of an mma:
///   x[0], x[2]: element 2 h of each row (first half of the rows, second half)
///   x[1], x[3]: element 2 h + 1
/// Units of 16 bytes would leave halves with 128 sums a lane: too few loads in flight.
template <class T>
struct RowFragment {  // half, bfloat16: m16n8k16
  using Unit = uint2;
  using Sum = float;
  static constexpr int kRows = 4;
  static constexpr int kEntries = 2;
  std::uint32_t x[4];

  __device__ void take(const Unit (&units)[kRows], int h, bool turned) {
    std::uint32_t words[kRows];
#pragma unroll
    for (int i = 0; i < kRows; ++i)
      words[i] = h == 0 ? units[i].x : units[i].y;
    const Unit even = units[2 * h];
    const Unit odd = units[2 * h + 1];
    x[0] = turned ? even.x : __byte_perm(words[0], words[1], 0x5410);
    x[1] = turned ? odd.x : __byte_perm(words[0], words[1], 0x7632);
    x[2] = turned ? even.y : __byte_perm(words[2], words[3], 0x5410);
    x[3] = turned ? odd.y : __byte_perm(words[2], words[3], 0x7632);
  }
};
template <>
struct RowFragment<double> {  // m16n8k8
  using Unit = uint4;
  using Sum = double;
  static constexpr int kRows = 2;
  static constexpr int kEntries = 1;
  double x[4];

  __device__ void take(const Unit (&units)[kRows], int /*h*/, bool turned) {
    double loaded[4];
    memcpy(loaded, units, sizeof(loaded));
    x[0] = loaded[0];
    x[1] = turned ? loaded[2] : loaded[1];
    x[2] = turned ? loaded[1] : loaded[2];
    x[3] = loaded[3];
  }
};

template <>
struct RowFragment<float> {  // widened to double, which is exact
  using Unit = uint2;
  using Sum = double;
  static constexpr int kRows = 2;
  static constexpr int kEntries = 1;
  double x[4];

  __device__ void take(const Unit (&units)[kRows], int /*h*/, bool /*turned*/) {
    float loaded[4];
    memcpy(loaded, units, sizeof(loaded));
#pragma unroll
    for (int e = 0; e < 4; ++e)
      x[e] = loaded[e];
  }
};

template <>
struct RowFragment<Widened<float>> : RowFragment<float> {};

template <class Half>
struct RowFragment<Widened<Half>> {  // as floats, in units of 4 bytes
  using Unit = std::uint32_t;
  using Sum = double;
  static constexpr int kRows = 2;
  static constexpr int kEntries = 1;
  double x[4];

  __device__ void take(const Unit (&units)[kRows], int /*h*/, bool /*turned*/) {
    device::DeviceElement<Half> loaded[4];
    memcpy(loaded, units, sizeof(loaded));
#pragma unroll
    for (int e = 0; e < 4; ++e)
      x[e] = device::factor<double>(loaded[e]);
  }
};

/// c[16,8] += a b, for element 2 h + kOdd of b's unit.
template <class T, int kOdd>
__device__ void multiply_entries(float (&c)[4], const RowFragment<T>& a, const RowFragment<T>& b) {
  using E = device::DeviceElement<T>;
  device::mma_m16n8k16<E>(c, a.x[0], a.x[1], a.x[2], a.x[3], b.x[kOdd], b.x[kOdd + 2]);
}
template <class T, int kOdd>
__device__ void multiply_entries(double (&c)[4], const RowFragment<T>& a, const RowFragment<T>& b) {
  device::mma_m16n8k8(c, a.x[0], a.x[1], a.x[2], a.x[3], b.x[kOdd], b.x[kOdd + 2]);
}

/// A lane's units of one operand: where they begin, and which of them exist.
template <class T, int kUnits>
struct RowUnits {
  using E = device::DeviceElement<T>;
  using Unit = typename RowFragment<T>::Unit;
  static constexpr int kRows = RowFragment<T>::kRows;

  const E* source;
  std::int64_t stride;  // elements from one row to the next
  int width;            // elements of a row
  int packed;           // rows in a wide row
  std::int64_t offset[kUnits];

  __device__ int element(int u) const {
    return (u * 8 + static_cast<int>(threadIdx.x) % 32 / 4) * kRows;
  }
  __device__ RowUnits(const E* data, std::int64_t row_stride, int row_width, int rows)
      : source(data), stride(row_stride), width(row_width), packed(rows) {
#pragma unroll
    for (int u = 0; u < kUnits; ++u) {
      const int first = element(u);
      offset[u] = first < width * packed ? first / width * stride + first % width : -1;
    }
  }
  /// Unit u of wide row `row`; zeros beyond the wide row's end, and where the row does not exist.
  __device__ Unit load(int u, std::int64_t row, bool exists) const {
    return device::load_word<Unit>(source + row * packed * stride + offset[u],
                                   exists && offset[u] >= 0);
  }
  /// The same element by element, with zeros from row k on.
  __device__ Unit load_partly(int u, std::int64_t row, std::int64_t k) const {
    E elements[kRows];
#pragma unroll
    for (int v = 0; v < kRows; ++v) {
      const int e = element(u) + v;
      const std::int64_t p = row * packed + e / width;
      elements[v] =
          e < width * packed && p < k ? source[p * stride + e % width] : device::narrow<E>(0.0F);
    }
    Unit word;
    memcpy(&word, elements, sizeof(word));
    return word;
  }
};

/// The same of an operand [k][width] of any strides and alignment: of rows r + {0 .. kRows - 1},
/// kRows neighbouring ones, elements first(u) + {0 .. kRows - 1}, along the row or, `turned`, along
/// k.
template <class T, int kUnits>
struct AnyUnits {
  using E = device::DeviceElement<T>;
  using Unit = typename RowFragment<T>::Unit;
  static constexpr int kRows = RowFragment<T>::kRows;
  static_assert(kRows * sizeof(E) == sizeof(Unit));

  const E* source;  // the lane's first row
  Strides stride;   // row: from one k to the next; col: along a row
  int width;
  bool turned;

  __device__ static int first(int u) {
    return (u * 8 + static_cast<int>(threadIdx.x) % 32 / 4) * kRows;
  }
  __device__ AnyUnits(const E* data, Strides strides, int row_width, bool is_turned)
      : source(data + threadIdx.x % 4 * kRows * strides.row),
        stride(strides),
        width(row_width),
        turned(is_turned) {}
  /// Unit i of block u, for the warp's rows from `row` on: where it begins, and how many of its
  /// elements are those of the matrix.
  __device__ const E* place(int u, int i, std::int64_t row) const {
    return source +
           (turned ? row + (first(u) + i) * stride.col : (row + i) * stride.row + first(u));
  }
  __device__ int count(int u, int i) const {
    const int within = width - first(u);
    return turned ? (i < within ? kRows : 0) : min(kRows, within);
  }
  __device__ E element(int u, int i, int v, std::int64_t row, std::int64_t rows) const {
    const bool exists = first(u) + v < width && i < rows;
    return exists ? source[(row + i) * stride.row + (first(u) + v) * stride.col]
                  : device::narrow<E>(0.0F);
  }
};

/// What a warp holds of a wide row of up to kUnits x 8 units: sums of the wide product.
template <class T, int kUnitsOfLane>
struct RowTile {
  using Operand = T;
  using E = device::DeviceElement<T>;
  using Fragment = RowFragment<T>;
  using Unit = typename Fragment::Unit;
  using Sum = typename Fragment::Sum;
  static constexpr int kUnits = kUnitsOfLane;
  static constexpr int kRows = Fragment::kRows;
  static constexpr int kEntries = Fragment::kEntries * kUnits;
  static constexpr int kWide = kUnits * 8 * kRows;
  static constexpr int kStep = 4 * kRows;  // wide rows that a warp takes at once
  using Units = Unit[kUnits][kRows];       // of a lane, a step
  using Sums = Sum[kEntries][kEntries * 2][4];
};

/// Warp: kWide x kWide sums as fragments, in the registers of the caller.
template <class Tile>
__device__ void multiply_units(typename Tile::Sums& sums, const typename Tile::Units& left,
                               const typename Tile::Units& right, bool a_turned, bool b_turned) {
  using T = typename Tile::Operand;
  constexpr int kEntries = Tile::kEntries;
  constexpr int kOfUnit = RowFragment<T>::kEntries;
  RowFragment<T> x[kEntries];
#pragma unroll
  for (int h = 0; h < kEntries; ++h)
    x[h].take(left[h / kOfUnit], h % kOfUnit, a_turned);
#pragma unroll
  for (int j = 0; j < kEntries; ++j) {
    RowFragment<T> y;
    y.take(right[j / kOfUnit], j % kOfUnit, b_turned);
#pragma unroll
    for (int i = 0; i < kEntries; ++i) {
      multiply_entries<T, 0>(sums[i][2 * j], x[i], y);
      multiply_entries<T, 1>(sums[i][2 * j + 1], x[i], y);
    }
  }
}

/// kSteps neighbouring steps of rows from `row` on, whose units are loaded as `Word`s.
template <class Tile, int kSteps, class Word, class Units>
__device__ void add_any_steps(const Units& a, const Units& b, std::int64_t row,
                              typename Tile::Sums& sums) {
  Word left[kSteps][Tile::kUnits][Tile::kRows];
  Word right[kSteps][Tile::kUnits][Tile::kRows];
#pragma unroll
  for (int s = 0; s < kSteps; ++s) {
#pragma unroll
    for (int u = 0; u < Tile::kUnits; ++u) {
#pragma unroll
      for (int i = 0; i < Tile::kRows; ++i) {
        left[s][u][i].load(a.place(u, i, row + s * Tile::kStep), a.count(u, i));
        right[s][u][i].load(b.place(u, i, row + s * Tile::kStep), b.count(u, i));
      }
    }
  }
#pragma unroll
  for (int s = 0; s < kSteps; ++s) {
    typename Tile::Units x;
    typename Tile::Units y;
#pragma unroll
    for (int u = 0; u < Tile::kUnits; ++u) {
#pragma unroll
      for (int i = 0; i < Tile::kRows; ++i) {
        x[u][i] = left[s][u][i].unit(a.place(u, i, row));
        y[u][i] = right[s][u][i].unit(b.place(u, i, row));
      }
    }
    multiply_units<Tile>(sums, x, y, a.turned, b.turned);
  }
}

/// One step element by element; `rows`: that exist, from this lane's first one on.
template <class Tile, class Units>
__device__ void add_any_elements(const Units& a, const Units& b, std::int64_t row,
                                 std::int64_t rows, typename Tile::Sums& sums) {
  using E = typename Tile::E;
  E x[Tile::kUnits][Tile::kRows][Tile::kRows];
  E y[Tile::kUnits][Tile::kRows][Tile::kRows];
#pragma unroll
  for (int u = 0; u < Tile::kUnits; ++u) {
#pragma unroll
    for (int i = 0; i < Tile::kRows; ++i) {
#pragma unroll
      for (int v = 0; v < Tile::kRows; ++v) {
        x[u][i][v] = a.element(u, i, v, row, rows);
        y[u][i][v] = b.element(u, i, v, row, rows);
      }
    }
  }
  typename Tile::Units left;
  typename Tile::Units right;
  memcpy(left, x, sizeof(left));
  memcpy(right, y, sizeof(right));
  multiply_units<Tile>(sums, left, right, false, false);
}

/// Operands of any strides: spans of neighbouring steps, then what remains of k.
template <int kUnits, int kUnroll, class T>
__device__ void add_any_rows(const GramArguments<T>& g, std::int64_t k, WarpTurns turns,
                             typename RowTile<T, kUnits>::Sums& sums) {
  using Tile = RowTile<T, kUnits>;
  using Unit = typename Tile::Unit;
  constexpr int kStep = Tile::kStep;
  const AnyUnits<T, kUnits> a(g.a, {g.a_strides.col, g.a_strides.row}, g.m, g.a_turned);
  const AnyUnits<T, kUnits> b(g.b, g.b_strides, g.n, g.b_turned);
  // At least 16 bytes of each operand are left: words that hold a unit's end are in the operand.
  const std::int64_t most = k > kStep ? k - kStep : 0;
  constexpr int kFew = kUnroll > 1 ? kUnroll / 2 : 1;
  const std::int64_t span = (g.vectors ? kUnroll : kFew) * kStep;
  const std::int64_t whole = most / span * span;
  if (g.vectors) {
    for (std::int64_t row = turns.own * span; row < whole; row += turns.warps * span)
      add_any_steps<Tile, kUnroll, device::AlignedUnit<Unit>>(a, b, row, sums);
  } else {
    for (std::int64_t row = turns.own * span; row < whole; row += turns.warps * span)
      add_any_steps<Tile, kFew, device::UnalignedUnit<Unit>>(a, b, row, sums);
  }
  const int first = static_cast<int>(threadIdx.x) % 32 % 4 * Tile::kRows;
  for (std::int64_t row = whole + turns.own * kStep; row < k; row += turns.warps * kStep)
    add_any_elements<Tile>(a, b, row, k - row - first, sums);
}

/// B's units, which are A's where operands are one.
template <class Tile>
__device__ void select_units(bool symmetric, const typename Tile::Units& left,
                             typename Tile::Units& right) {
#pragma unroll
  for (int i = 0; i < Tile::kRows; ++i) {
#pragma unroll
    for (int u = 0; u < Tile::kUnits; ++u)
      right[u][i] = device::select(symmetric, left[u][i], right[u][i]);
  }
}

/// The wide rows of a warp's lanes: a step is kRows of them, 4 apart.
struct WideRows {
  std::int64_t own;     // the lane's first one
  std::int64_t stride;  // from step to step
  std::int64_t whole;   // that are loaded by units
  bool symmetric;       // B's units are A's
};

/// kSteps steps from wide row `row` on; kSame: B's units are A's for sure.
template <class Tile, int kSteps, bool kSame, class Units>
__device__ void add_wide_steps(const Units& a, const Units& b, const WideRows& rows,
                               std::int64_t row, typename Tile::Sums& sums) {
  typename Tile::Units left[kSteps];
  typename Tile::Units right[kSame ? 1 : kSteps];
#pragma unroll
  for (int s = 0; s < kSteps; ++s) {
#pragma unroll
    for (int i = 0; i < Tile::kRows; ++i) {
#pragma unroll
      for (int u = 0; u < Tile::kUnits; ++u) {
        const std::int64_t p = row + s * rows.stride;
        const bool exists = s == 0 || p < rows.whole;
        left[s][u][i] = a.load(u, p + i * 4, exists);
        if constexpr (!kSame) right[s][u][i] = b.load(u, p + i * 4, exists && !rows.symmetric);
      }
    }
  }
#pragma unroll
  for (int s = 0; s < kSteps; ++s) {
    if constexpr (!kSame) select_units<Tile>(rows.symmetric, left[s], right[s]);
    multiply_units<Tile>(sums, left[s], kSame ? left[s] : right[kSame ? 0 : s], false, false);
  }
}

/// All steps of a warp, kUnroll of them in flight: a step's units make room for later ones once
/// they are multiplied (H200, f64 n = 32: .948 of the floor to .977 at k = 1e7; with one unit a row
/// more is lost than gained).
template <class Tile, int kUnroll, class Units>
__device__ void add_wide_rounds(const Units& a, const Units& b, const WideRows& rows,
                                typename Tile::Sums& sums) {
  typename Tile::Units left[kUnroll];
  typename Tile::Units right[kUnroll];
  const auto load_step = [&](int s, std::int64_t row) {
#pragma unroll
    for (int i = 0; i < Tile::kRows; ++i) {
#pragma unroll
      for (int u = 0; u < Tile::kUnits; ++u) {
        left[s][u][i] = a.load(u, row + i * 4, row < rows.whole);
        right[s][u][i] = b.load(u, row + i * 4, row < rows.whole && !rows.symmetric);
      }
    }
  };
#pragma unroll
  for (int s = 0; s < kUnroll; ++s)
    load_step(s, rows.own + s * rows.stride);
  for (std::int64_t row = rows.own; row < rows.whole; row += kUnroll * rows.stride) {
#pragma unroll
    for (int s = 0; s < kUnroll; ++s) {
      select_units<Tile>(rows.symmetric, left[s], right[s]);
      multiply_units<Tile>(sums, left[s], right[s], false, false);
      load_step(s, row + (kUnroll + s) * rows.stride);
    }
  }
}

/// One step element by element, of `k` rows (not wide ones).
template <class Tile, class Units>
__device__ void add_wide_elements(const Units& a, const Units& b, std::int64_t row, std::int64_t k,
                                  typename Tile::Sums& sums) {
  typename Tile::Units left;
  typename Tile::Units right;
#pragma unroll
  for (int i = 0; i < Tile::kRows; ++i) {
#pragma unroll
    for (int u = 0; u < Tile::kUnits; ++u) {
      left[u][i] = a.load_partly(u, row + i * 4, k);
      right[u][i] = b.load_partly(u, row + i * 4, k);
    }
  }
  multiply_units<Tile>(sums, left, right, false, false);
}

/// Row-major operands: whole steps of wide rows, then what remains of k.
template <int kUnits, int kUnroll, class T>
__device__ void add_wide_rows(const GramArguments<T>& g, std::int64_t k, WarpTurns turns,
                              typename RowTile<T, kUnits>::Sums& sums) {
  using Tile = RowTile<T, kUnits>;
  using E = typename Tile::E;
  const RowUnits<T, kUnits> a(g.a, g.a_strides.col, g.m, g.packed);
  const RowUnits<T, kUnits> b(g.b, g.b_strides.row, g.n, g.packed);
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const WideRows rows{.own = turns.own * Tile::kStep + lane % 4,
                      .stride = turns.warps * Tile::kStep,
                      .whole = g.vectors ? k / g.packed / Tile::kStep * Tile::kStep : 0,
                      .symmetric = g.symmetric};
  // f64 n = 32 from one operand has too few loads in flight otherwise (H200, k = 1e7: .70 of the
  // floor, with twice as many .84).
  constexpr bool kApart = sizeof(E) == 8 && kUnits == 2;
  if (kApart && rows.symmetric) {
    for (std::int64_t row = rows.own; row < rows.whole; row += 2 * kUnroll * rows.stride)
      add_wide_steps<Tile, 2 * kUnroll, kApart>(a, b, rows, row, sums);
  } else if constexpr (kUnits == 1) {
    for (std::int64_t row = rows.own; row < rows.whole; row += kUnroll * rows.stride)
      add_wide_steps<Tile, kUnroll, false>(a, b, rows, row, sums);
  } else {
    add_wide_rounds<Tile, kUnroll>(a, b, rows, sums);
  }
  for (std::int64_t row = rows.whole + rows.own; (row - lane % 4) * g.packed < k;
       row += rows.stride)
    add_wide_elements<Tile>(a, b, row, k, sums);
}

/// The wide sums of a block's warps in shared memory: [warps][of B][of A], columns shifted so that
/// lanes meet different banks.
template <class Tile>
struct WideSums {
  static constexpr int kOfWarp = Tile::kWide * (Tile::kWide + 1);
  typename Tile::Sum* data;

  __device__ typename Tile::Sum& at(int warp, int column, int row) const {
    return data[warp * kOfWarp + column * Tile::kWide + row + column / (2 * Tile::kRows)];
  }
  /// By the warp whose sums they are.
  __device__ void store(const typename Tile::Sums& sums) const {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const int warp = static_cast<int>(threadIdx.x) / 32;
    const auto element = [](int entry, int unit_lane, int odd) {
      constexpr int kOfUnit = Tile::Fragment::kEntries;
      return (entry / kOfUnit * 8 + unit_lane) * Tile::kRows + entry % kOfUnit * 2 + odd;
    };
#pragma unroll
    for (int i = 0; i < Tile::kEntries; ++i) {
#pragma unroll
      for (int j = 0; j < Tile::kEntries * 2; ++j) {
#pragma unroll
        for (int e = 0; e < 4; ++e) {
          const int row = element(i, lane / 4, e / 2);
          const int column = element(j / 2, lane % 4 * 2 + e % 2, j % 2);
          at(warp, column, row) = sums[i][j][e];
        }
      }
    }
  }
  /// Element (i, j) of C, which stands in the blocks on the diagonal.
  template <class T>
  __device__ typename Tile::Sum sum_of(const GramArguments<T>& g, int i, int j) const {
    typename Tile::Sum sum = 0;
    for (int w = 0; w < kGramRowsWarps; ++w) {
      for (int r = 0; r < g.packed; ++r)
        sum += at(w, r * g.n + j, r * g.m + i);
    }
    return sum;
  }
};

/// A wide row has up to kUnits x 128 bytes (halves: 64). !kAny: g.packed rows of A (m elements) and
/// of B (n) make a wide row; warp: of the steps of 4 kRows wide rows every (8 gridDim.x)-th,
/// kUnroll of them in flight. kAny: a wide row is a row, operands have any strides; warp: spans of
/// kUnroll neighbouring steps; units that are not aligned are put together from the aligned words
/// that hold them, half as many steps in flight. What remains of k goes element by element. Shared
/// memory: WideSums.
template <class T, int kUnits, int kUnroll, bool kAny>
__global__ __launch_bounds__(kGramRowsWarps * 32,
                             kUnits == 1 ? 2 : 1) void gram_rows_kernel(GramArguments<T> g) {
  using Tile = RowTile<T, kUnits>;
  using Acc = device::DeviceAccumulator<T>;
  extern __shared__ __align__(16) char dynamic_shared[];

  device::let_next_kernel_start();
  if (!kAny && g.prefetch) prefetch_rows<kUnroll>(g, kGramRowsWarps * Tile::kStep * g.packed);
  device::wait_for_kernel_ahead();
  const std::int64_t k = g.alpha.load() == Acc(0) ? 0 : g.k;
  const WarpTurns turns{
      std::int64_t{blockIdx.x} * kGramRowsWarps + static_cast<int>(threadIdx.x) / 32,
      std::int64_t{gridDim.x} * kGramRowsWarps};
  typename Tile::Sums sums = {};
  if constexpr (kAny) {
    add_any_rows<kUnits, kUnroll>(g, k, turns, sums);
  } else {
    add_wide_rows<kUnits, kUnroll>(g, k, turns, sums);
  }

  const WideSums<Tile> wide{reinterpret_cast<typename Tile::Sum*>(dynamic_shared)};
  wide.store(sums);
  __syncthreads();  // the wide sums are written before they are added
  for (int s = static_cast<int>(threadIdx.x); s < g.m * g.n; s += kGramRowsWarps * 32) {
    g.partials[std::int64_t{blockIdx.x} * g.m * g.n + s] =
        static_cast<Acc>(wide.sum_of(g, s % g.m, s / g.m));
  }
  sum_in_last_block(g, *reinterpret_cast<GramWarpTotals<T>*>(dynamic_shared));
}

}  // namespace lanky::dense::cuda
