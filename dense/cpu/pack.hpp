// Copies of operands as the register tiles read them: contiguous, in the type of the sums, complex
// ones as real numbers.
#pragma once

#include <algorithm>
#include <complex>
#include <cstdint>
#include <cstring>
#include <lanky/dtype.hpp>
#include <type_traits>

#include "dense/cpu/register_tiles.hpp"
#include "dense/problem.hpp"

namespace lanky::dense::cpu {

template <class T>
inline constexpr bool kIsComplex = is_complex(kDType<T>);
template <class T>
inline constexpr int kParts = kIsComplex<T> ? 2 : 1;

template <class Acc>
struct RealOf {
  using Type = Acc;
};
template <class Part>
struct RealOf<std::complex<Part>> {
  using Type = Part;
};
/// The type in which products of T are summed, part by part.
template <class T>
using Real = typename RealOf<Accumulator<T>>::Type;

/// `count` neighbours of a real type.
template <class T>
void widen(const T* source, Real<T>* target, std::int64_t count) {
  if constexpr (std::is_same_v<T, half>) {
    half_conversion().widen(reinterpret_cast<const std::uint16_t*>(source), target, count);
  } else {
    for (std::int64_t i = 0; i < count; ++i)
      target[i] = static_cast<Real<T>>(source[i]);
  }
}

/// A stored matrix of real type as numbers (i, j) of a product.
template <class T>
struct RealSource {
  const T* data;
  Strides strides;
  Real<T> operator()(std::int64_t i, std::int64_t j) const {
    return static_cast<Real<T>>(data[i * strides.row + j * strides.col]);
  }
};

/// Number (p, j) of [Re B, Im B; -Im B, Re B], 2 k x 2 n, whose product with A = [Re A, Im A] holds
/// the parts of C in turn. Conjugation of A or B changes signs here.
template <class T>
struct ComplexB {
  const T* data;
  Strides strides;
  bool conj_a;
  bool conj_b;
  Real<T> operator()(std::int64_t p, std::int64_t j) const {
    const T value = data[p / 2 * strides.row + j / 2 * strides.col];
    const bool second = p % 2 != 0;  // meets Im A
    if (j % 2 == 0) {
      if (!second) return value.real();
      return conj_a != conj_b ? value.imag() : -value.imag();
    }
    if (!second) return conj_b ? -value.imag() : value.imag();
    return conj_a ? -value.real() : value.real();
  }
};

/// Rows of the packed strip that begins at `row` (OuterProduct::a).
template <class R>
int strip_height(const RegisterTiles<R>& tiles, int rows, int row) {
  const int vectors = (rows - row + tiles.width - 1) / tiles.width;
  return std::min(vectors * tiles.width, tiles.strip);
}

/// Where that strip begins.
template <class R>
std::int64_t strip_start(const RegisterTiles<R>& tiles, std::int64_t row, std::int64_t depth) {
  constexpr std::int64_t kPerLine = 64 / sizeof(R);
  return row * depth + (row + tiles.strip - 1) / tiles.strip * kPerLine;
}

/// Strips of OuterProduct::a from numbers value(r, p), r < rows, and 0 up to a full vector.
template <class R, class Value>
void pack_strips(const RegisterTiles<R>& tiles, R* panel, int rows, int depth, Value value) {
  for (int row = 0; row < rows;) {
    const int height = strip_height(tiles, rows, row);
    R* strip = panel + strip_start(tiles, row, depth);
    for (int r = 0; r < height; ++r) {
      for (int p = 0; p < depth; ++p)
        strip[p * height + r] = row + r < rows ? value(row + r, p) : R(0);
    }
    row += height;
  }
}

/// target[p * height + r] = source[r * stride + p] for r < rows and p < depth, 0 for other r <
/// height.
template <class T, class R>
void interleave(const T* source, std::int64_t stride, int rows, int depth, R* target, int height) {
  constexpr int kAtOnce = 4;
  int r = 0;
  for (; r + kAtOnce <= rows; r += kAtOnce) {
    const T* from = source + r * stride;
    R* to = target + r;
    for (int p = 0; p < depth; ++p, ++from, to += height) {
      for (int q = 0; q < kAtOnce; ++q)
        to[q] = static_cast<R>(from[q * stride]);
    }
  }
  for (; r < height; ++r) {
    for (int p = 0; p < depth; ++p)
      target[p * height + r] = r < rows ? static_cast<R>(source[r * stride + p]) : R(0);
  }
}

/// The same strips from rows that are contiguous along p, `stride` apart.
template <class T, class R>
void pack_transposed_strips(const RegisterTiles<R>& tiles, R* panel, const T* source,
                            std::int64_t stride, int rows, int depth) {
  if constexpr (std::is_same_v<T, R>) {
    const bool tight = stride == depth && depth <= kTightColumns;
    if (tight || 2 * depth >= tiles.width)  // whole vectors, most of whose numbers count
      return tiles.pack_transposed(source, stride, rows, depth, panel);
  }
  for (int row = 0; row < rows;) {
    const int height = strip_height(tiles, rows, row);
    interleave(source + row * stride, stride, std::min(height, rows - row), depth,
               panel + strip_start(tiles, row, depth), height);
    row += height;
  }
}

/// Row p of every strip: `rows` numbers that stand side by side, and 0 up to a full vector.
template <class R>
void pack_strip_row(const RegisterTiles<R>& tiles, R* panel, const R* numbers, int rows, int depth,
                    int p) {
  for (int row = 0; row < rows;) {
    const int height = strip_height(tiles, rows, row);
    R* target = panel + strip_start(tiles, row, depth) + std::int64_t{p} * height;
    const int count = std::min(height, rows - row);
    std::memcpy(target, numbers + row, static_cast<std::size_t>(count) * sizeof(R));
    std::fill(target + count, target + height, R(0));
    row += height;
  }
}

/// The longest run of numbers that is widened at once.
inline constexpr int kRunMost = 512;

/// Strips of a block whose strides.row is 1. Complex: strip row 2 q holds real parts, 2 q + 1 the
/// imaginary ones of column q; `depth` counts stored columns.
template <class T, class R>
void pack_contiguous_strips(const RegisterTiles<R>& tiles, R* panel, const T* source,
                            std::int64_t column, int rows, int depth) {
  if constexpr (std::is_same_v<T, R>) {
    tiles.pack(source, column, rows, depth, panel);
  } else {
    for (int p = 0; p < depth; ++p) {
      const T* from = source + p * column;
      R run[kParts<T>][kRunMost];
      if constexpr (kIsComplex<T>) {
        for (int i = 0; i < rows; ++i) {
          run[0][i] = from[i].real();
          run[1][i] = from[i].imag();
        }
      } else {
        widen(from, run[0], rows);
      }
      for (int part = 0; part < kParts<T>; ++part)
        pack_strip_row(tiles, panel, run[part], rows, kParts<T> * depth, kParts<T> * p + part);
    }
  }
}

/// Groups of OuterProduct::b from numbers value(p, j): [group][depth][tiles.group].
template <class R, class Value>
void pack_groups(const RegisterTiles<R>& tiles, R* panel, int columns, int depth, Value value) {
  for (int first = 0; first < columns; first += tiles.group) {
    const int count = std::min(tiles.group, columns - first);
    R* group = panel + static_cast<std::int64_t>(first) * depth;
    for (int p = 0; p < depth; ++p) {
      for (int c = 0; c < count; ++c)
        group[p * tiles.group + c] = value(p, first + c);
    }
  }
}

/// The same from columns that are contiguous along p, `stride` apart.
template <class T, class R>
void pack_transposed_groups(const RegisterTiles<R>& tiles, R* panel, const T* source,
                            std::int64_t stride, int columns, int depth) {
  for (int first = 0; first < columns; first += tiles.group) {
    interleave(source + first * stride, stride, std::min(tiles.group, columns - first), depth,
               panel + static_cast<std::int64_t>(first) * depth, tiles.group);
  }
}

/// The same from rows that are contiguous along j, `row` apart: some at a time, read as they stand.
template <class R>
void pack_contiguous_groups(const RegisterTiles<R>& tiles, R* panel, const R* source,
                            std::int64_t row, int columns, int depth) {
  constexpr int kAtOnce = 16;
  for (int begin = 0; begin < depth; begin += kAtOnce) {
    const int end = std::min(depth, begin + kAtOnce);
    for (int first = 0; first < columns; first += tiles.group) {
      const int count = std::min(tiles.group, columns - first);
      R* group = panel + static_cast<std::int64_t>(first) * depth;
      for (int p = begin; p < end; ++p) {
        for (int c = 0; c < count; ++c)
          group[p * tiles.group + c] = source[p * row + first + c];
      }
    }
  }
}

/// ComplexB as pack_rows would have it, target[2 n][2 k]: number (p, j) at j * columns + p.
template <class T, class R>
void pack_complex_rows(R* target, int rows, int columns, const ComplexB<T>& b) {
  const R sign_a = b.conj_a ? R(-1) : R(1);
  const R sign_b = b.conj_b ? R(-1) : R(1);
  for (int j = 0; j < rows / 2; ++j) {
    R* real = target + std::int64_t{2} * j * columns;
    R* imaginary = real + columns;
    const T* source = b.data + j * b.strides.col;
    for (int p = 0; p < columns / 2; ++p) {
      const T value = source[p * b.strides.row];
      real[2 * p] = value.real();
      real[2 * p + 1] = -sign_a * sign_b * value.imag();
      imaginary[2 * p] = sign_b * value.imag();
      imaginary[2 * p + 1] = sign_a * value.real();
    }
  }
}

/// target[i][j] = value(i, j), dense.
template <class R, class Value>
void pack_rows(R* target, int rows, int columns, Value value) {
  for (int i = 0; i < rows; ++i) {
    for (int j = 0; j < columns; ++j)
      target[static_cast<std::int64_t>(i) * columns + j] = value(i, j);
  }
}

/// The same from memory, whichever side is contiguous.
template <class T, class R>
void pack_rows(R* target, int rows, int columns, RealSource<T> source) {
  if (source.strides.col == 1) {
    for (int i = 0; i < rows; ++i)
      widen(source.data + i * source.strides.row, target + static_cast<std::int64_t>(i) * columns,
            columns);
    return;
  }
  for (int j = 0; j < columns; ++j) {
    for (int i = 0; i < rows; ++i)
      target[static_cast<std::int64_t>(i) * columns + j] = source(i, j);
  }
}

}  // namespace lanky::dense::cpu
