// The body of register_tiles_<isa>.cpp, each compiled with other flags. Those define kIsa,
// kVectorBytes, the columns of tiles, lanes_of(), load_lanes(), store_part(), to_doubles(),
// to_floats() and stream_vector() before they include this file. Nothing with external linkage is
// called from here: an inline function of a header, compiled for AVX-512, could be the one that the
// linker keeps for every processor.
#include <utility>

#include "core/fused.hpp"
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

/// The first `count` numbers, and 0 in the other lanes.
template <class Real>
inline Vector<Real> load_part(const Real* from, int count) {
  return load_lanes(from, lanes_of(from, count));
}

/// Rows that a tile computes, one strip below the other.
template <class Real>
struct Strips {
  const Real* a;
  std::int64_t a_step;  // from one p to the next
  std::int64_t a_next;  // from one strip to the next
  Real* sums;
  int count;
  int last;             // rows of the last vector of the last strip
  int stored;           // of which so many are stored: they, or a whole vector
  int groups;           // of as many columns as the tile has
  std::int64_t b_next;  // from one group of B to the next
};

constexpr int kOuterColumns = LANKY_OUTER_COLUMNS;

/// Sums of each element, so that enough are on their way to hide the latency of a multiply-add (two
/// begin in a cycle and take four), for 1, 2 or 4 times the vectors of a tile in registers.
constexpr int steps_of(int vectors) {
  constexpr int kMost = 2 * kOuterColumns;
  return 4 * vectors <= kMost ? 4 : 2 * vectors <= kMost ? 2 : 1;
}

/// Shorter sums are done before they would be added up.
constexpr int kStepsWorth = 32;

/// Column p of a strip times row p of B. kPart: the last vector has these lanes.
template <int kVectors, int kColumns, bool kPart, class Real, class Lanes>
inline void add_outer(const Real* a, Lanes last, const Real* b, std::int64_t b_column,
                      Vector<Real> (&acc)[kColumns][kVectors]) {
  constexpr int kW = kWidth<Real>;
  Vector<Real> x[kVectors];
#pragma GCC unroll 8
  for (int v = 0; v < kVectors; ++v) {
    if (kPart && v + 1 == kVectors) {
      x[v] = load_lanes(a + v * kW, last);
    } else {
      x[v] = load(a + v * kW);
    }
  }
#pragma GCC unroll 8
  for (int c = 0; c < kColumns; ++c) {
    const auto y = in_each_lane<Vector<Real>>(b[c * b_column]);
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v)
      acc[c][v] = fused(x[v], y, acc[c][v]);
  }
}

/// kVectors vectors of rows by kColumns columns of an OuterProduct, for each of the strips. Each
/// element has kSteps sums.
template <int kVectors, int kColumns, bool kPart, int kSteps, class Real>
void outer_tile(const OuterProduct<Real>& g, const Strips<Real>& strips, const Real* b_begin) {
  constexpr int kW = kWidth<Real>;
  const std::int64_t b_row = g.b_row;
  const std::int64_t b_column = g.b_column;
  const bool scaled = g.scaling != nullptr;
  const Real alpha = scaled ? static_cast<Real>(g.scaling->alpha) : Real(1);
  const Real beta = scaled ? static_cast<Real>(g.scaling->beta) : Real(0);
  const std::int64_t a_step = strips.a_step;
  const std::int64_t ld = g.ld;
  const bool in_place = g.a_column != 0;  // the next strip is asked for: it is not near in memory
  const int last = strips.last;
  const auto lanes = lanes_of(g.b, last);
  const int both = strips.count * strips.groups;  // one of them is 1
  const std::int64_t b_next = strips.groups > 1 ? strips.b_next : 0;
  const std::int64_t a_next = strips.groups > 1 ? 0 : strips.a_next;
  const std::int64_t sums_next = strips.groups > 1 ? kColumns * ld : kVectors * kW;
  const Real* strip = strips.a;
  Real* to = strips.sums;
  for (int count = both; count > 0; --count) {
    const bool whole = (count > 1 && strips.groups == 1) || strips.stored == kW;
    const Real* a = strip;
    const Real* b = b_begin;
    for (int left = g.depth; left > 0; left -= g.chain) {
      Vector<Real> acc[kSteps][kColumns][kVectors] = {};
      int p = left < g.chain ? left : g.chain;
      for (; p >= kSteps; p -= kSteps) {
#pragma GCC unroll 8
        for (int s = 0; s < kSteps; ++s) {
          if (in_place) {
#pragma GCC unroll 8
            for (int v = 0; v < kVectors; ++v)
              __builtin_prefetch(a + (kVectors + v) * kW);
          }
          add_outer<kVectors, kColumns, kPart>(a, lanes, b, b_column, acc[s]);
          a += a_step;
          b += b_row;
        }
      }
      for (; kSteps > 1 && p > 0; --p) {
        add_outer<kVectors, kColumns, kPart>(a, lanes, b, b_column, acc[0]);
        a += a_step;
        b += b_row;
      }
      const bool first = g.fresh && left == g.depth;
#pragma GCC unroll 8
      for (int c = 0; c < kColumns; ++c) {
        Real* sums = to + c * ld;
#pragma GCC unroll 8
        for (int v = 0; v < kVectors; ++v, sums += kW) {
          Vector<Real> sum = acc[0][c][v];
#pragma GCC unroll 8
          for (int s = 1; s < kSteps; ++s)
            sum += acc[s][c][v];
          if (!first) sum += load(sums);
          const bool all = v + 1 < kVectors || whole;
          if (scaled) {
            sum *= alpha;
            if (beta != 0)
              sum = fused(all ? load(sums) : load_part(sums, last),
                          in_each_lane<Vector<Real>>(beta), sum);
          }
          if (all) {
            store(sums, sum);
          } else {
            store_part(sums, sum, last);
          }
        }
      }
    }
    strip += a_next;
    b_begin += b_next;
    to += sums_next;
  }
}

template <class Real>
using OuterTile = void (*)(const OuterProduct<Real>&, const Strips<Real>&, const Real*);

/// The same with so many sums of each element as a tile of this size has at most.
template <int kVectors, int kColumns, bool kPart, int kSteps, class Real>
constexpr OuterTile<Real> kOuterTile =
    outer_tile<kVectors, kColumns, kPart,
               kSteps <= steps_of(kVectors* kColumns) ? kSteps : steps_of(kVectors* kColumns),
               Real>;

template <int kVectors, bool kPart, int kSteps, class Real>
constexpr OuterTile<Real> kOuterTiles[] = {kOuterTile<kVectors, 1, kPart, kSteps, Real>,
                                           kOuterTile<kVectors, 2, kPart, kSteps, Real>,
                                           kOuterTile<kVectors, 3, kPart, kSteps, Real>,
                                           kOuterTile<kVectors, 4, kPart, kSteps, Real>,
#if LANKY_OUTER_COLUMNS == 8
                                           kOuterTile<kVectors, 5, kPart, kSteps, Real>,
                                           kOuterTile<kVectors, 6, kPart, kSteps, Real>,
                                           kOuterTile<kVectors, 7, kPart, kSteps, Real>,
                                           kOuterTile<kVectors, 8, kPart, kSteps, Real>
#endif
};
template <bool kPart, int kSteps, class Real>
constexpr const OuterTile<Real>* kByVectors[] = {kOuterTiles<1, kPart, kSteps, Real>,
                                                 kOuterTiles<2, kPart, kSteps, Real>,
                                                 kOuterTiles<3, kPart, kSteps, Real>};
/// The tile of so many vectors and columns.
template <class Real>
inline OuterTile<Real> outer_tile_of(int vectors, int columns, bool part, int steps) {
  static_assert(kStripVectors == 3);
  static constexpr const OuterTile<Real>* const* kTables[2][3] = {
      {kByVectors<false, 1, Real>, kByVectors<false, 2, Real>, kByVectors<false, 4, Real>},
      {kByVectors<true, 1, Real>, kByVectors<true, 2, Real>, kByVectors<true, 4, Real>}};
  return kTables[part][steps / 2][vectors - 1][columns - 1];
}

/// Where the packed strip begins whose first row is `row`. Strips are a cache line apart: without
/// it all would begin in one set of the first cache, and packing writes to each of them in turn.
template <class Real>
constexpr std::int64_t strip_start(std::int64_t row, std::int64_t depth) {
  constexpr std::int64_t kStrip = kStripVectors * kWidth<Real>;
  constexpr std::int64_t kPerLine = 64 / sizeof(Real);
  return row * depth + (row + kStrip - 1) / kStrip * kPerLine;
}

/// Asks for the lines of an Ahead, some at a time.
struct Prefetcher {
  explicit Prefetcher(const Ahead& ahead)
      : column(static_cast<const char*>(ahead.data)),
        stride(ahead.column),
        lines((ahead.column_bytes + 63) / 64),
        left(lines * ahead.columns) {}

  void ask(int count) {
    for (; count > 0 && left > 0; --count, --left) {
      __builtin_prefetch(column + std::int64_t{64} * line, 0, 2);
      if (++line == lines) {
        line = 0;
        column += stride;
      }
    }
  }

  const char* column;
  std::int64_t stride;
  int lines;
  int left;
  int line = 0;
};

/// The first `count` numbers of a vector, all of them with ordinary instructions.
template <class Real>
inline Vector<Real> load_first(const Real* from, int count) {
  return count == kWidth<Real> ? load(from) : load_part(from, count);
}

/// Floats as doubles, the first half and the second.
struct Doubles {
  Vector<double> low;
  Vector<double> high;
};
inline Doubles load_doubles(const float* from) {
  typedef float Half __attribute__((vector_size(kVectorBytes / 2), aligned(4), may_alias));
  constexpr int kHalf = kWidth<double>;
  return {to_doubles(*reinterpret_cast<const Half*>(from)),
          to_doubles(*reinterpret_cast<const Half*>(from + kHalf))};
}
template <int... kLanes>
inline Doubles widen(Vector<float> value, std::integer_sequence<int, kLanes...> /*half*/) {
  constexpr int kHalf = sizeof...(kLanes);
  return {to_doubles(__builtin_shufflevector(value, value, kLanes...)),
          to_doubles(__builtin_shufflevector(value, value, (kHalf + kLanes)...))};
}
/// The first `count` floats.
inline Doubles load_doubles(const float* from, int count) {
  if (count == kWidth<float>) return load_doubles(from);
  return widen(load_part(from, count), std::make_integer_sequence<int, kWidth<double>>());
}
/// Back, with one rounding.
template <int... kLanes>
inline Vector<float> narrow(Doubles value, std::integer_sequence<int, kLanes...> /*all*/) {
  return __builtin_shufflevector(to_floats(value.low), to_floats(value.high), kLanes...);
}
inline Vector<float> narrow(Doubles value) {
  return narrow(value, std::make_integer_sequence<int, kWidth<float>>());
}

/// Sums as doubles and C's old numbers, for as many numbers as a vector of Real has.
inline Vector<double> scaled(Vector<double> sums, const double* c, int count, Scaling scaling) {
  const Vector<double> value = sums * scaling.alpha;
  if (scaling.beta == 0) return value;
  return fused(load_first(c, count), in_each_lane<Vector<double>>(scaling.beta), value);
}
inline Vector<float> scaled(Doubles sums, const float* c, int count, Scaling scaling) {
  Doubles value{sums.low * scaling.alpha, sums.high * scaling.alpha};
  if (scaling.beta != 0) {
    const Doubles old = load_doubles(c, count);
    const auto beta = in_each_lane<Vector<double>>(scaling.beta);
    value.low = fused(old.low, beta, value.low);
    value.high = fused(old.high, beta, value.high);
  }
  return narrow(value);
}

/// As many sums as a vector of Real has, as doubles. kPadded: all can be read.
template <bool kPadded>
inline Vector<double> doubles_of(const double* sums, int count, const double* /*c*/) {
  return kPadded ? load(sums) : load_first(sums, count);
}
template <bool kPadded>
inline Doubles doubles_of(const float* sums, int count, const float* /*c*/) {
  return load_doubles(sums, kPadded ? kWidth<float> : count);
}
template <bool kPadded>
inline Doubles doubles_of(const double* sums, int count, const float* /*c*/) {
  constexpr int kW = kWidth<double>;
  if (kPadded || count == 2 * kW) return {load(sums), load(sums + kW)};
  return {load_part(sums, count < kW ? count : kW),
          count > kW ? load_part(sums + kW, count - kW) : Vector<double>{}};
}

/// finish_run() for factors that are exact.
template <bool kPadded>
inline void finish_floats(const float* sums, float* c, std::int64_t count, Scaling scaling) {
  constexpr int kW = kWidth<float>;
  const auto alpha = static_cast<float>(scaling.alpha);
  const auto beta = static_cast<float>(scaling.beta);
  const auto value = [=](Vector<float> sum, const float* old, int some) {
    if (beta == 0) return sum * alpha;
    return fused(load_first(old, some), in_each_lane<Vector<float>>(beta), sum * alpha);
  };
  std::int64_t i = 0;
  for (; i + kW <= count; i += kW)
    store(c + i, value(load(sums + i), c + i, kW));
  if (i == count) return;
  const int rest = static_cast<int>(count - i);
  store_part(c + i, value(kPadded ? load(sums + i) : load_part(sums + i, rest), c + i, rest), rest);
}

template <bool kPadded, class Sum, class Real>
inline void finish_run(const Sum* sums, Real* c, std::int64_t count, Scaling scaling) {
  constexpr int kW = kWidth<Real>;
  if constexpr (sizeof(Sum) == sizeof(float)) {
    if (scaling.exact) return finish_floats<kPadded>(sums, c, count, scaling);
  }
  std::int64_t i = 0;
  for (; i + kW <= count; i += kW)
    store(c + i, scaled(doubles_of<kPadded>(sums + i, kW, c), c + i, kW, scaling));
  if (i == count) return;
  const int rest = static_cast<int>(count - i);
  store_part(c + i, scaled(doubles_of<kPadded>(sums + i, rest, c), c + i, rest, scaling), rest);
}

template <class Sum, class Real>
void finish(const Sum* sums, Real* c, std::int64_t count, const Scaling& scaling) {
  finish_run<false>(sums, c, count, scaling);
}

/// A tile of C whose product goes to the stack first, and to C from there.
template <class Real>
void finish_tile(const OuterProduct<Real>& g, OuterTile<Real> tile, const Strips<Real>& strips,
                 int vectors, int columns, const Real* b) {
  constexpr int kW = kWidth<Real>;
  constexpr int kMostRows = kStripVectors * kW;
  alignas(kVectorBytes) Real sums[kOuterColumns * kMostRows];
  const int last = (vectors - 1) * kW + strips.last;
  const bool tight = strips.count == 1 && g.ld == last;  // columns of C are neighbours
  OuterProduct<Real> apart = g;
  // Each column is stored in whole vectors, whose ends the next one overwrites: parts of vectors
  // could not be loaded at once.
  apart.ld = tight ? last : kMostRows;
  apart.scaling = nullptr;
  Strips<Real> one = strips;
  one.sums = sums;
  one.count = 1;
  one.stored = kW;
  one.groups = 1;
  Real* c = strips.sums;
  const int both = strips.count * strips.groups;  // one of them is 1
  for (int left = both; left > 0; --left) {
    const bool ends = left == 1 || strips.groups > 1;
    const int rows = ends ? last : vectors * kW;
    one.last = ends ? strips.last : kW;
    tile(apart, one, b);
    if (tight) {
      finish_run<true>(sums, c, std::int64_t{rows} * columns, *g.scaling);
    } else {
      for (int j = 0; j < columns; ++j)
        finish_run<true>(sums + j * kMostRows, c + j * g.ld, rows, *g.scaling);
    }
    if (strips.groups > 1) {
      b += strips.b_next;
      c += columns * g.ld;
    } else {
      one.a += strips.a_next;
      c += vectors * kW;
    }
  }
}

template <class Real>
void outer(const OuterProduct<Real>& g) {
  constexpr int kW = kWidth<Real>;
  constexpr int kStripsPerAsk = 4;
  const int groups = (g.columns + kOuterColumns - 1) / kOuterColumns;
  // As many columns in each where they need not be those that were packed together.
  const bool free = g.b_group == kOuterColumns * g.b_column;
  const int wide = free ? (g.columns + groups - 1) / groups : kOuterColumns;
  const int all = (g.rows + kW - 1) / kW;
  const int last = g.rows - (all - 1) * kW;
  // The same for all tiles of a product, as many as the largest has registers for: C of A = B stays
  // symmetric.
  const int steps =
      g.depth < kStepsWorth ? 1 : steps_of((all < kStripVectors ? all : kStripVectors) * wide);
  const bool packed = g.a_column == 0;
  const bool part = !packed && !g.beyond && last != kW;
  // Floats that become doubles; and a C that is read where the column before was stored as part of
  // a vector, which would wait for it.
  const bool apart =
      g.scaling != nullptr && ((sizeof(Real) == sizeof(float) && !g.scaling->exact) ||
                               (g.scaling->beta != 0 && all <= kStripVectors && g.ld < all * kW));
  Prefetcher prefetcher(g.ahead);
  const int calls =
      groups > 1 ? groups * (all / kStripVectors + 1) : all / (kStripVectors * kStripsPerAsk) + 2;
  const int lines_per_call = (prefetcher.left + calls - 1) / calls;
  const bool asks = prefetcher.left > 0;
  for (int done = 0; done < all;) {  // vectors
    const int vectors = all - done < kStripVectors ? all - done : kStripVectors;
    const int height = vectors * kW;
    int count = 1;
    if (groups == 1) {
      count = (all - done) / vectors;
      if (asks && count > kStripsPerAsk) count = kStripsPerAsk;
      if (part && count > 1 && done + count * vectors == all) --count;  // the last one is alone
    }
    const bool ends = done + count * vectors == all;
    Strips<Real> strips{.a = g.a + (packed ? strip_start<Real>(done * kW, g.depth) : done * kW),
                        .a_step = packed ? height : g.a_column,
                        .a_next = packed ? strip_start<Real>(height, g.depth) : height,
                        .sums = g.sums + done * kW,
                        .count = count,
                        .last = ends ? last : kW,
                        .stored = ends && !g.padded ? last : kW,
                        .groups = 1,
                        .b_next = free ? wide * g.b_column : g.b_group};
    for (int group = 0; group < groups; group += strips.groups) {
      const int j = group * wide;
      const int columns = g.columns - j < wide ? g.columns - j : wide;
      const bool together = columns == wide && !asks;
      strips.groups = together ? g.columns / wide - group : 1;
      prefetcher.ask(lines_per_call);
      const auto tile = outer_tile_of<Real>(vectors, columns, part && ends, steps);
      const Real* const b = g.b + group * strips.b_next;
      apart ? finish_tile(g, tile, strips, vectors, columns, b) : tile(g, strips, b);
      strips.sums += strips.groups * wide * g.ld;
    }
    done += count * vectors;
  }
}

/// `count` numbers and 0 up to `padded`, which is a multiple of a vector.
template <class Real>
inline void copy_padded(const Real* from, int count, Real* to, int padded) {
  constexpr int kW = kWidth<Real>;
  int i = 0;
  for (; i + kW <= count; i += kW)
    store(to + i, load(from + i));
  if (i == padded) return;
  Vector<Real> rest = {};
  for (int lane = 0; i + lane < count; ++lane)
    rest[lane] = from[i + lane];
  store(to + i, rest);
}

template <class Real>
void pack(const Real* source, std::int64_t column, int rows, int depth, Real* strips) {
  constexpr int kStrip = kStripVectors * kWidth<Real>;
  constexpr int kPerLine = 64 / sizeof(Real);
  const int padded = (rows + kWidth<Real> - 1) / kWidth<Real> * kWidth<Real>;
  for (int p = 0; p < depth; ++p) {
    const Real* from = source + p * column;
    const bool more = p + 1 < depth;
    for (int row = 0; row < rows; row += kStrip) {
      const int height = padded - row < kStrip ? padded - row : kStrip;
      const int count = rows - row < height ? rows - row : height;
      for (int i = 0; more && i < count; i += kPerLine)
        __builtin_prefetch(from + column + row + i);
      copy_padded(from + row, count,
                  strips + strip_start<Real>(row, depth) + std::int64_t{p} * height, height);
    }
  }
}

/// Lane l is lane l of `x`, or of `y` where l has the bit kBy, with that bit set or not.
template <int kBy, bool kSet, class Real, int... kLanes>
inline Vector<Real> by_turns(Vector<Real> x, Vector<Real> y,
                             std::integer_sequence<int, kLanes...> /*all*/) {
  return __builtin_shufflevector(
      x, y, ((kLanes & ~kBy) + (kSet ? kBy : 0) + ((kLanes & kBy) != 0 ? kWidth<Real> : 0))...);
}

/// Rows become columns.
template <int kBy, class Real>
inline void transpose(Vector<Real> (&rows)[kWidth<Real>]) {
  constexpr auto kAll = std::make_integer_sequence<int, kWidth<Real>>();
  if constexpr (kBy > 0) {
#pragma GCC unroll 16
    for (int i = 0; i < kWidth<Real>; ++i) {
      if ((i & kBy) != 0) continue;
      const Vector<Real> x = rows[i];
      const Vector<Real> y = rows[i + kBy];
      rows[i] = by_turns<kBy, false, Real>(x, y, kAll);
      rows[i + kBy] = by_turns<kBy, true, Real>(x, y, kAll);
    }
    transpose<kBy / 2, Real>(rows);
  }
}

/// The numbers of kCount vectors, one vector after the other, are a matrix by rows, of kRows of
/// them; `to` has them by columns.
template <int kRows, class Real, int kCount, int... kVectors>
inline void turn(const Vector<Real> (&from)[kCount], Vector<Real> (&to)[kCount],
                 std::integer_sequence<int, kVectors...> /*all*/) {
  const auto fill = [&]<int kTo, int... kLanes>(std::integral_constant<int, kTo> /*which*/,
                                                std::integer_sequence<int, kLanes...> /*lanes*/) {
    constexpr int kW = kWidth<Real>;
    constexpr auto kPlace = [](int lane) {  // among all numbers of `from`
      const int place = kTo * kW + lane;
      return place % kRows * (kCount * kW / kRows) + place / kRows;
    };
    Vector<Real> value{};
    const auto take = [&]<int kFrom>(std::integral_constant<int, kFrom> /*which*/) {
      value = __builtin_shufflevector(
          value, from[kFrom],
          (kPlace(kLanes) / kW == kFrom ? kW + kPlace(kLanes) % kW : kLanes)...);
    };
    (take(std::integral_constant<int, kVectors>()), ...);
    to[kTo] = value;
  };
  (fill(std::integral_constant<int, kVectors>(), std::make_integer_sequence<int, kWidth<Real>>()),
   ...);
}

/// each(columns as a constant), where they are 1 to kTightColumns.
template <class Each, int... kLess>
inline void for_tight(int columns, Each each, std::integer_sequence<int, kLess...> /*all*/) {
  ((columns == kLess + 1 ? each(std::integral_constant<int, kLess + 1>()) : void()), ...);
}
template <class Each>
inline void for_tight(int columns, Each each) {
  for_tight(columns, each, std::make_integer_sequence<int, kTightColumns>());
}

/// As many rows of a strip as a vector holds, `height` apart, from `rows` that are `stride` apart
/// and `depth` long.
template <class Real>
inline void transpose_rows(const Real* source, std::int64_t stride, int rows, int depth,
                           Real* target, int height) {
  constexpr int kW = kWidth<Real>;
  for (int p = 0; p < depth; p += kW) {
    const int count = depth - p < kW ? depth - p : kW;
    Vector<Real> block[kW];
#pragma GCC unroll 16
    for (int r = 0; r < kW; ++r)
      block[r] = r < rows ? load_first(source + r * stride + p, count) : Vector<Real>{};
    transpose<kW / 2, Real>(block);
#pragma GCC unroll 16
    for (int q = 0; q < kW; ++q) {
      if (q < count) store(target + std::int64_t{p + q} * height, block[q]);
    }
  }
}

/// The same of as many rows as a vector holds, without gaps.
template <int kDepth, class Real>
void transpose_tight_rows(const Real* source, Real* target, int height) {
  Vector<Real> rows[kDepth];
  Vector<Real> columns[kDepth];
#pragma GCC unroll 8
  for (int p = 0; p < kDepth; ++p)
    rows[p] = load(source + p * kWidth<Real>);
  turn<kWidth<Real>, Real>(rows, columns, std::make_integer_sequence<int, kDepth>());
#pragma GCC unroll 8
  for (int p = 0; p < kDepth; ++p)
    store(target + p * height, columns[p]);
}

/// Has rows on their way, as many as a vector holds.
template <class Real>
inline void ask_for_rows(const Real* source, std::int64_t stride, int depth) {
  constexpr int kLine = 64 / static_cast<int>(sizeof(Real));
  for (int r = 0; r < kWidth<Real>; ++r)
    for (int p = 0; p < depth; p += kLine)
      __builtin_prefetch(source + r * stride + p);
}

template <class Real>
void pack_transposed(const Real* source, std::int64_t stride, int rows, int depth, Real* strips) {
  constexpr int kW = kWidth<Real>;
  constexpr int kStrip = kStripVectors * kW;
  void (*tight)(const Real*, Real*, int) = nullptr;
  if (stride == depth)
    for_tight(depth, [&](auto columns) { tight = transpose_tight_rows<columns, Real>; });
  constexpr std::int64_t kAhead = (4 << 10) / static_cast<std::int64_t>(sizeof(Real));
  const std::int64_t ahead = kAhead / stride > kW ? kAhead / stride : kW;  // rows
  const int padded = (rows + kW - 1) / kW * kW;
  for (int row = 0; row < padded; row += kStrip) {
    const int height = padded - row < kStrip ? padded - row : kStrip;
    Real* const strip = strips + strip_start<Real>(row, depth);
    for (int r = 0; r < height; r += kW) {
      const Real* const first = source + (row + r) * stride;
      ask_for_rows(first + ahead * stride, stride, depth);
      if (tight != nullptr && row + r + kW <= rows) {
        tight(first, strip + r, height);
      } else {
        transpose_rows(first, stride, rows - row - r, depth, strip + r, height);
      }
    }
  }
}

/// leave_rows() of few columns into rows without gaps.
template <int kColumns, class Real>
void leave_tight_rows(const Real* sums, std::int64_t ld, std::int64_t rows, Real* target) {
  constexpr int kW = kWidth<Real>;
  std::int64_t r = 0;
  for (; r + kW <= rows; r += kW) {
    Vector<Real> columns[kColumns];
    Vector<Real> by_rows[kColumns];
#pragma GCC unroll 8
    for (int j = 0; j < kColumns; ++j)
      columns[j] = load(sums + j * ld + r);
    turn<kColumns, Real>(columns, by_rows, std::make_integer_sequence<int, kColumns>());
#pragma GCC unroll 8
    for (int j = 0; j < kColumns; ++j)
      store(target + r * kColumns + j * kW, by_rows[j]);
  }
  for (; r < rows; ++r) {
    for (int j = 0; j < kColumns; ++j)
      target[r * kColumns + j] = sums[j * ld + r];
  }
}

template <class Real>
void leave_rows(const Real* sums, std::int64_t ld, std::int64_t rows, int columns, Real* target,
                std::int64_t pitch) {
  constexpr int kW = kWidth<Real>;
  if (pitch == columns && columns <= kTightColumns) {
    for_tight(columns, [&](auto all) { leave_tight_rows<all, Real>(sums, ld, rows, target); });
    return;
  }
  for (std::int64_t r = 0; r < rows; r += kW) {
    const int height = rows - r < kW ? static_cast<int>(rows - r) : kW;
    for (int j = 0; j < columns; j += kW) {
      const int width = columns - j < kW ? columns - j : kW;
      Vector<Real> block[kW];
#pragma GCC unroll 16
      for (int c = 0; c < kW; ++c)
        block[c] = c < width ? load_first(sums + (j + c) * ld + r, height) : Vector<Real>{};
      transpose<kW / 2, Real>(block);
      Real* const corner = target + r * pitch + j;
#pragma GCC unroll 16
      for (int i = 0; i < kW; ++i) {
        if (i >= height) continue;
        width == kW ? store(corner + i * pitch, block[i])
                    : store_part(corner + i * pitch, block[i], width);
      }
    }
  }
}

/// Lanes whose numbers differ by the bit kBy, exchanged.
template <int kBy, class Real, int... kLanes>
inline Vector<Real> exchanged(Vector<Real> value, std::integer_sequence<int, kLanes...> /*all*/) {
  return __builtin_shufflevector(value, value, (kLanes ^ kBy)...);
}
template <int kBy, class Real>
inline Vector<Real> exchanged(Vector<Real> value) {
  return exchanged<kBy, Real>(value, std::make_integer_sequence<int, kWidth<Real>>());
}

/// acc += the products of one vector of each row and column, from p on: of its first `some`
/// numbers where it is a part.
template <bool kPart, int kRows, int kColumns, class Real>
inline void add_products(const InnerProduct<Real>& g, const Real* a, const Real* b, int p, int some,
                         Vector<Real> (&acc)[kRows][kColumns]) {
  Vector<Real> x[kRows];
#pragma GCC unroll 8
  for (int r = 0; r < kRows; ++r)
    x[r] = kPart ? load_part(a + r * g.lda + p, some) : load(a + r * g.lda + p);
#pragma GCC unroll 8
  for (int c = 0; c < kColumns; ++c) {
    const Vector<Real> y = kPart ? load_part(b + c * g.ldb + p, some) : load(b + c * g.ldb + p);
#pragma GCC unroll 8
    for (int r = 0; r < kRows; ++r)
      acc[r][c] = fused(x[r], y, acc[r][c]);
  }
}

/// How often vectors whose lanes are added up can share one in pairs.
constexpr int merges_of(int sums, int width) {
  int merges = 0;
  for (; sums % 2 == 0 && width > 1; sums /= 2, width /= 2)
    ++merges;
  return merges;
}
/// The lane in which the sum of vector `index` stands then.
constexpr int lane_of(int index, int merges, int width) {
  int lane = 0;
  for (int merge = 0; merge < merges; ++merge)
    lane += (index >> merge & 1) * (width >> (merge + 1));
  return lane;
}

/// Adds up the lanes of each vector pairwise, from those on that are kBy apart. Two vectors share
/// one as long as they are even in number: lanes that one no longer needs are the other's.
template <class Real, int kBy, int kSums>
inline void add_lanes(Vector<Real> (&values)[kSums], Real* lanes) {
  constexpr int kW = kWidth<Real>;
  if constexpr (kBy == 0) {
#pragma GCC unroll 16
    for (int s = 0; s < kSums; ++s)
      store(lanes + s * kW, values[s]);
  } else if constexpr (kSums % 2 == 0) {
    constexpr auto kAll = std::make_integer_sequence<int, kW>();
    Vector<Real> shared[kSums / 2];
#pragma GCC unroll 16
    for (int s = 0; s < kSums / 2; ++s)
      shared[s] = by_turns<kBy, false, Real>(values[2 * s], values[2 * s + 1], kAll) +
                  by_turns<kBy, true, Real>(values[2 * s], values[2 * s + 1], kAll);
    add_lanes<Real, kBy / 2>(shared, lanes);
  } else {
#pragma GCC unroll 16
    for (int s = 0; s < kSums; ++s)
      values[s] += exchanged<kBy, Real>(values[s]);
    add_lanes<Real, kBy / 2>(values, lanes);
  }
}

template <int kRows, int kColumns, class Real>
void inner_tile(const InnerProduct<Real>& g, const Real* a, const Real* b, Real* sums) {
  constexpr int kW = kWidth<Real>;
  constexpr int kSteps = kRows * kColumns < 8 ? 8 / (kRows * kColumns) : 1;
  const int vectors = g.depth / kW;
  Vector<Real> total[kRows][kColumns] = {};
  for (int done = 0; done < vectors; done += g.chain) {
    const int end = (vectors - done < g.chain ? vectors : done + g.chain) * kW;
    Vector<Real> acc[kSteps][kRows][kColumns] = {};
    int p = done * kW;
    for (; p + kSteps * kW <= end; p += kSteps * kW) {
#pragma GCC unroll 8
      for (int s = 0; s < kSteps; ++s)
        add_products<false>(g, a, b, p + s * kW, kW, acc[s]);
    }
    for (; p < end; p += kW)
      add_products<false>(g, a, b, p, kW, acc[0]);
#pragma GCC unroll 8
    for (int s = 0; s < kSteps; ++s) {
#pragma GCC unroll 8
      for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 8
        for (int c = 0; c < kColumns; ++c)
          total[r][c] += acc[s][r][c];
      }
    }
  }
  if (vectors * kW < g.depth)
    add_products<true>(g, a, b, vectors * kW, g.depth - vectors * kW, total);
  constexpr int kSums = kRows * kColumns;
  Vector<Real> all[kSums];
#pragma GCC unroll 16
  for (int s = 0; s < kSums; ++s)
    all[s] = total[s % kRows][s / kRows];
  constexpr int kMerges = merges_of(kSums, kW);
  alignas(kVectorBytes) Real lanes[(kSums >> kMerges) * kW];
  add_lanes<Real, kW / 2>(all, lanes);
#pragma GCC unroll 8
  for (int c = 0; c < kColumns; ++c) {
#pragma GCC unroll 8
    for (int r = 0; r < kRows; ++r) {
      const int s = c * kRows + r;
      const Real sum = lanes[(s >> kMerges) * kW + lane_of(s, kMerges, kW)];
      Real& target = sums[c * g.ld + r * g.step];
      target = g.fresh ? sum : target + sum;
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
  static constexpr const InnerTile<Real>* kByRows[] = {kInnerTiles<1, Real>, kInnerTiles<2, Real>,
                                                       kInnerTiles<3, Real>, kInnerTiles<4, Real>};
  for (int i = 0; i < g.rows; i += kInnerRows) {
    const int rows = g.rows - i < kInnerRows ? g.rows - i : kInnerRows;
    for (int j = 0; j < g.columns; j += kInnerColumns) {
      const int columns = g.columns - j < kInnerColumns ? g.columns - j : kInnerColumns;
      kByRows[rows - 1][columns - 1](g, g.a + i * g.lda, g.b + j * g.ldb,
                                     g.sums + j * g.ld + i * g.step);
    }
  }
}

template <class Real>
void promote(const Real* sums, double* totals, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i)
    totals[i] += static_cast<double>(sums[i]);
}

template <class Real>
void stream(const Real* source, Real* target, std::int64_t count) {
  constexpr std::int64_t kLine = 64 / sizeof(Real);
  std::int64_t i = 0;
  while (i < count && reinterpret_cast<std::uintptr_t>(target + i) % 64 != 0) {
    target[i] = source[i];
    ++i;
  }
  for (; i + kLine <= count; i += kLine) {  // whole lines: parts of one would be merged in memory
    for (std::int64_t v = 0; v < kLine; v += kWidth<Real>)
      stream_vector(target + i + v, load(source + i + v));
  }
  for (; i < count; ++i)
    target[i] = source[i];
}

template <class Real>
constexpr RegisterTiles<Real> kTiles = {kIsa,
                                        kWidth<Real>,
                                        kStripVectors* kWidth<Real>,
                                        kOuterColumns,
                                        outer<Real>,
                                        inner<Real>,
                                        pack<Real>,
                                        pack_transposed<Real>,
                                        promote<Real>,
                                        finish<Real, Real>,
                                        finish<double, Real>,
                                        leave_rows<Real>,
                                        stream<Real>,
                                        stream_end};

}  // namespace

}  // namespace lanky::dense::cpu
