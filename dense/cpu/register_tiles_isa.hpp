// The body of register_tiles_<isa>.cpp, each compiled with other flags. Those define kIsa,
// kVectorBytes, kOuterColumns, kInnerColumns and stream_vector() before they include this file.
// Nothing with external linkage is called from here: an inline function of a header, compiled for
// AVX-512, could be the one that the linker keeps for every processor.
#include "dense/cpu/register_tiles.hpp"

#pragma GCC diagnostic ignored "-Wpsabi"  // vectors are passed between inlined functions only

namespace lanky::dense::cpu {

namespace {

template <class Real>
struct VectorOf {
  typedef Real Type __attribute__((vector_size(kVectorBytes)));
  typedef Real Unaligned
      __attribute__((vector_size(kVectorBytes), aligned(sizeof(Real)), may_alias));
};
template <class Real>
using Vector = typename VectorOf<Real>::Type;
template <class Real>
constexpr int kWidth = kVectorBytes / sizeof(Real);
/// Vectors of a wide strip: with 8 columns, 24 of the 32 registers of AVX-512 hold sums; with 4
/// columns, 12 of 16.
constexpr int kStripVectors = 3;
constexpr int kInnerRows = 4;

template <class Real>
inline Vector<Real> load(const Real* from) {
  return *reinterpret_cast<const typename VectorOf<Real>::Unaligned*>(from);
}
template <class Real>
inline void store(Real* to, Vector<Real> value) {
  *reinterpret_cast<typename VectorOf<Real>::Unaligned*>(to) = value;
}

/// kVectors vectors of rows by kColumns columns of an OuterProduct, from row pointer `a` whose
/// columns are `a_step` apart.
template <int kVectors, int kColumns, class Real>
void outer_tile(const OuterProduct<Real>& g, const Real* a, std::int64_t a_step, const Real* b,
                Real* sums) {
  Vector<Real> acc[kColumns][kVectors];
#pragma GCC unroll 8
  for (int c = 0; c < kColumns; ++c) {
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v)
      acc[c][v] = load(sums + c * g.ld + v * kWidth<Real>);
  }
  const std::int64_t b_row = g.b_row;
  const std::int64_t b_column = g.b_column;
  for (int p = g.depth; p > 0; --p) {
    Vector<Real> x[kVectors];
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v)
      x[v] = load(a + v * kWidth<Real>);
#pragma GCC unroll 8
    for (int c = 0; c < kColumns; ++c) {
      const Real y = b[c * b_column];
#pragma GCC unroll 8
      for (int v = 0; v < kVectors; ++v)
        acc[c][v] += x[v] * y;
    }
    a += a_step;
    b += b_row;
  }
#pragma GCC unroll 8
  for (int c = 0; c < kColumns; ++c) {
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v)
      store(sums + c * g.ld + v * kWidth<Real>, acc[c][v]);
  }
}

template <class Real>
using OuterTile = void (*)(const OuterProduct<Real>&, const Real*, std::int64_t, const Real*,
                           Real*);

template <int kVectors, class Real>
constexpr OuterTile<Real> kOuterTiles[] = {
    outer_tile<kVectors, 1, Real>, outer_tile<kVectors, 2, Real>, outer_tile<kVectors, 3, Real>,
    outer_tile<kVectors, 4, Real>,
#if LANKY_OUTER_COLUMNS == 8
    outer_tile<kVectors, 5, Real>, outer_tile<kVectors, 6, Real>, outer_tile<kVectors, 7, Real>,
    outer_tile<kVectors, 8, Real>
#endif
};
constexpr int kOuterColumns = LANKY_OUTER_COLUMNS;

template <class Real>
void outer(const OuterProduct<Real>& g) {
  constexpr int kStrip = kStripVectors * kWidth<Real>;
  for (int row = 0; row < g.rows;) {
    const bool wide = g.rows - row >= kStrip;
    const int height = wide ? kStrip : kWidth<Real>;
    const bool packed = g.a_column == 0;
    const Real* a = packed ? g.a + static_cast<std::int64_t>(row) * g.depth : g.a + row;
    const OuterTile<Real>* tiles = wide ? kOuterTiles<kStripVectors, Real> : kOuterTiles<1, Real>;
    for (int j = 0; j < g.columns; j += kOuterColumns) {
      const int columns = g.columns - j < kOuterColumns ? g.columns - j : kOuterColumns;
      tiles[columns - 1](g, a, packed ? height : g.a_column, g.b + j * g.b_column,
                         g.sums + j * g.ld + row);
    }
    row += height;
  }
}

/// Lanes rotated by kBy.
template <int kBy, class Real>
inline Vector<Real> rotated(Vector<Real> value) {
  using Index = decltype(value > value);
  Index lanes;
#pragma GCC unroll 16
  for (int i = 0; i < kWidth<Real>; ++i)
    lanes[i] = (i + kBy) % kWidth<Real>;
  return __builtin_shuffle(value, lanes);
}

/// The sum of all lanes, added pairwise.
template <class Real>
inline Real sum_of_lanes(Vector<Real> value) {
  if constexpr (kWidth<Real> >= 16) value += rotated<8, Real>(value);
  if constexpr (kWidth<Real> >= 8) value += rotated<4, Real>(value);
  if constexpr (kWidth<Real> >= 4) value += rotated<2, Real>(value);
  value += rotated<1, Real>(value);
  return value[0];
}

template <int kRows, int kColumns, class Real>
void inner_tile(const InnerProduct<Real>& g, const Real* a, const Real* b, Real* sums) {
  Vector<Real> acc[kRows][kColumns] = {};
  int p = 0;
  for (; p + kWidth<Real> <= g.depth; p += kWidth<Real>) {
    Vector<Real> x[kRows];
#pragma GCC unroll 8
    for (int r = 0; r < kRows; ++r)
      x[r] = load(a + r * g.lda + p);
#pragma GCC unroll 8
    for (int c = 0; c < kColumns; ++c) {
      const Vector<Real> y = load(b + c * g.ldb + p);
#pragma GCC unroll 8
      for (int r = 0; r < kRows; ++r)
        acc[r][c] += x[r] * y;
    }
  }
#pragma GCC unroll 8
  for (int c = 0; c < kColumns; ++c) {
#pragma GCC unroll 8
    for (int r = 0; r < kRows; ++r) {
      Real sum = sum_of_lanes<Real>(acc[r][c]);
      for (int q = p; q < g.depth; ++q)
        sum += a[r * g.lda + q] * b[c * g.ldb + q];
      sums[c * g.ld + r] += sum;
    }
  }
}

template <class Real>
using InnerTile = void (*)(const InnerProduct<Real>&, const Real*, const Real*, Real*);

template <int kRows, class Real>
constexpr InnerTile<Real> kInnerTiles[] = {inner_tile<kRows, 1, Real>, inner_tile<kRows, 2, Real>,
#if LANKY_INNER_COLUMNS == 4
                                           inner_tile<kRows, 3, Real>, inner_tile<kRows, 4, Real>
#endif
};
constexpr int kInnerColumns = LANKY_INNER_COLUMNS;

template <class Real>
void inner(const InnerProduct<Real>& g) {
  constexpr const InnerTile<Real>* kByRows[] = {kInnerTiles<1, Real>, kInnerTiles<2, Real>,
                                                kInnerTiles<3, Real>, kInnerTiles<4, Real>};
  for (int i = 0; i < g.rows; i += kInnerRows) {
    const int rows = g.rows - i < kInnerRows ? g.rows - i : kInnerRows;
    for (int j = 0; j < g.columns; j += kInnerColumns) {
      const int columns = g.columns - j < kInnerColumns ? g.columns - j : kInnerColumns;
      kByRows[rows - 1][columns - 1](g, g.a + i * g.lda, g.b + j * g.ldb, g.sums + j * g.ld + i);
    }
  }
}

template <class Real>
void stream(const Real* source, Real* target, std::int64_t count) {
  std::int64_t i = 0;
  while (i < count && reinterpret_cast<std::uintptr_t>(target + i) % kVectorBytes != 0) {
    target[i] = source[i];
    ++i;
  }
  for (; i + kWidth<Real> <= count; i += kWidth<Real>)
    stream_vector(target + i, load(source + i));
  for (; i < count; ++i)
    target[i] = source[i];
}

template <class Real>
constexpr RegisterTiles<Real> kTiles = {kIsa,        kWidth<Real>, kStripVectors* kWidth<Real>,
                                        outer<Real>, inner<Real>,  stream<Real>,
                                        stream_end};

}  // namespace

}  // namespace lanky::dense::cpu
