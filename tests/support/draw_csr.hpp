// Numbers of every type, and small matrices of given or drawn row lengths, on lanky's public API
// alone: for tests of products.
#pragma once

#include <algorithm>
#include <complex>
#include <cstdint>
#include <lanky/csr.hpp>
#include <lanky/dtype.hpp>
#include <random>
#include <utility>
#include <vector>

namespace lanky::testing {

template <class T>
inline constexpr bool kIsComplex = is_complex(kDType<T>);

/// Any T from a double, rounded once.
template <class T>
T element(double value) {
  if constexpr (kIsComplex<T>) {
    return T(static_cast<typename T::value_type>(value));
  } else {
    return static_cast<T>(value);
  }
}
template <class T>
T element(std::complex<double> value) {
  if constexpr (kIsComplex<T>) {
    return T(value);
  } else {
    return static_cast<T>(value.real());
  }
}

/// Its two parts in double; of a real number the second is 0.
template <class T>
std::complex<double> parts(T value) {
  if constexpr (kIsComplex<T>) {
    return value;
  } else {
    return static_cast<double>(value);
  }
}

/// A T whose parts are drawn one by one.
template <class T, class Draw>
T draw_parts(Draw draw) {
  const double real = draw();
  return element<T>(std::complex<double>(real, kIsComplex<T> ? draw() : 0.0));
}

using Random = std::mt19937_64;

inline std::int64_t random_int(Random& random, std::int64_t least, std::int64_t most) {
  return std::uniform_int_distribution<std::int64_t>(least, most)(random);
}

/// Integers of -2 .. 2, in both parts of a complex number: sums of products are exact in every
/// accumulator.
template <class T>
T small_integer(Random& random) {
  return draw_parts<T>([&] { return static_cast<double>(random() % 5) - 2.0; });
}

/// Uniform in [-1, 1], both parts.
template <class T>
T uniform(Random& random) {
  return draw_parts<T>([&] { return std::uniform_real_distribution<double>(-1.0, 1.0)(random); });
}

template <class T, class Draw>
std::vector<T> vector_of(std::int64_t size, Random& random, Draw draw) {
  std::vector<T> values(static_cast<std::size_t>(size));
  for (T& value : values)
    value = draw(random);
  return values;
}

/// Row i has lengths[i] entries in random columns: unsorted, and repeated now and then.
template <class T, class Draw>
CsrMatrix<T> matrix_of(const std::vector<std::int64_t>& lengths, std::int64_t cols, Random& random,
                       Draw draw) {
  CsrMatrix<T> a;
  a.rows = static_cast<std::int64_t>(lengths.size());
  a.cols = cols;
  for (const std::int64_t length : lengths)
    a.row_offsets.push_back(a.row_offsets.back() + length);
  const std::int64_t nnz = a.row_offsets.back();
  a.values = vector_of<T>(nnz, random, draw);
  a.col_indices.resize(a.values.size());
  for (std::int32_t& column : a.col_indices) {
    column = static_cast<std::int32_t>(random() % static_cast<std::uint64_t>(cols));
  }
  return a;
}

/// The transpose, entries of a row in the order of A's rows.
template <class T>
CsrMatrix<T> transpose_of(const CsrMatrix<T>& a, bool conjugated) {
  std::vector<std::vector<std::pair<std::int32_t, T>>> rows(a.cols);
  for (std::int64_t row = 0; row < a.rows; ++row) {
    for (std::int64_t entry = a.row_offsets[row]; entry < a.row_offsets[row + 1]; ++entry) {
      T value = a.values[entry];
      if constexpr (kIsComplex<T>) value = conjugated ? std::conj(value) : value;
      rows[a.col_indices[entry]].emplace_back(static_cast<std::int32_t>(row), value);
    }
  }
  CsrMatrix<T> transposed;
  transposed.rows = a.cols;
  transposed.cols = a.rows;
  for (const auto& row : rows) {
    for (const auto& [column, value] : row) {
      transposed.col_indices.push_back(column);
      transposed.values.push_back(value);
    }
    transposed.row_offsets.push_back(static_cast<std::int64_t>(transposed.values.size()));
  }
  return transposed;
}

/// Lengths at both sides of the boundaries of classes, pieces and windows, in mixed order.
inline std::vector<std::int64_t> boundary_lengths() {
  std::vector<std::int64_t> lengths = {
      1024, 0,   3,   255,  5,  1,   2,   4,   8,  16,   2048, 0,    3,  1,  7,  9, 15,  17,
      6,    256, 257, 1023, 3,  2,   2,   1,   31, 32,   33,   0,    63, 64, 65, 4, 127, 128,
      129,  3,   1,   254,  10, 511, 512, 513, 0,  1025, 2049, 5000, 1,  1,  3,  4};
  for (std::int64_t length = 0; length < 40; ++length)
    lengths.push_back(length);
  return lengths;
}

/// Lengths of a kind drawn at random: all equal, short, long now and then, mostly none.
inline std::vector<std::int64_t> random_lengths(Random& random) {
  std::vector<std::int64_t> lengths(random_int(random, 0, 60));
  const std::int64_t most = std::int64_t{1} << random_int(random, 0, 6);
  const auto kind = random() % 4;
  for (std::int64_t& length : lengths) {
    length = kind == 0 ? most : random_int(random, 0, most);
    if (kind == 1 && random() % 16 == 0) length = random_int(random, 0, 700);
    if (kind == 2 && random() % 4 != 0) length = 0;
  }
  return lengths;
}

/// Lengths of rows that are mostly cut, into 2 to 40 pieces: some alike, some of any length.
inline std::vector<std::int64_t> cut_lengths(int piece_most, Random& random) {
  std::vector<std::int64_t> lengths(random_int(random, 1, 60));
  const std::int64_t alike = random_int(random, piece_most, 40 * piece_most);
  for (std::int64_t& length : lengths) {
    length = random() % 4 == 0 ? random_int(random, 0, piece_most)
                               : random_int(random, piece_most + 1, 40 * piece_most);
    if (random() % 2 == 0) length = alike;
  }
  return lengths;
}

/// Columns of a pattern drawn at random: as they are, a band around the diagonal, or rows that
/// repeat each other, shifted.
template <class T>
void draw_columns(CsrMatrix<T>& a, Random& random) {
  const auto pattern = random() % 3;
  if (pattern == 0) return;
  const std::int64_t band = random_int(random, 1, 400);
  for (std::int64_t row = 0; row < a.rows; ++row) {
    for (std::int64_t entry = a.row_offsets[row]; entry < a.row_offsets[row + 1]; ++entry) {
      const std::int64_t place = entry - a.row_offsets[row];
      const std::int64_t step = pattern == 1 ? random_int(random, 0, band) : 3 * place;
      a.col_indices[entry] = static_cast<std::int32_t>((row + step) % a.cols);
    }
  }
}

/// 2^scale rows and columns, some of which many of the entries are in (R-MAT, of Graph500's
/// probabilities).
template <class T>
CsrMatrix<T> power_law_matrix(int scale, std::int64_t entries, Random& random) {
  std::vector<std::pair<std::int32_t, std::int32_t>> places(static_cast<std::size_t>(entries));
  for (auto& [row, column] : places) {
    for (int bit = 0; bit < scale; ++bit) {
      const auto percent = random() % 100;
      row = 2 * row + (percent >= 76 ? 1 : 0);
      column = 2 * column + (percent >= 95 || (percent >= 57 && percent < 76) ? 1 : 0);
    }
  }
  std::sort(places.begin(), places.end());
  std::vector<std::int64_t> lengths(std::size_t{1} << scale);
  for (const auto& place : places)
    ++lengths[place.first];
  auto a = matrix_of<T>(lengths, std::int64_t{1} << scale, random, uniform<T>);
  for (std::size_t i = 0; i < places.size(); ++i)
    a.col_indices[i] = places[i].second;
  return a;
}

}  // namespace lanky::testing
