// One entry of a file, and the types of its value on the way to the matrix.
#pragma once

#include <complex>
#include <cstdint>
#include <lanky/half.hpp>
#include <lanky/io.hpp>
#include <type_traits>

#include "io/element.hpp"

namespace lanky::inline v1::io {

/// The type that decimals are rounded to when they are read, for a matrix of type T. A float is
/// read as one, since by way of double it would be rounded twice; the half types round from double.
template <class T>
using Stored =
    std::conditional_t<std::is_same_v<T, half> || std::is_same_v<T, bfloat16>, double, T>;

/// One of the parts of a V: double or float.
template <class V>
using Part = std::conditional_t<std::is_same_v<V, float> || std::is_same_v<V, std::complex<float>>,
                                float, double>;

/// Indices count from 0. V: double, float, or a complex type of one of them.
template <class V>
struct Entry {
  std::int64_t row;
  std::int32_t col;
  V value;
};

/// Whether an entry of a file stands for one across the diagonal too.
template <class V>
bool has_mirror(const Entry<V>& entry, const Header& header) {
  return header.symmetry != Symmetry::general && entry.row != entry.col;
}

/// The value at (col, row) of the entry at (row, col). A hermitian matrix of real field is
/// symmetric: conjugation would make its zero imaginary parts negative.
template <class V>
V mirrored(const V& value, const Header& header) {
  if (header.symmetry == Symmetry::skew_symmetric) return -value;
  if constexpr (kIsComplex<V>) {
    if (header.symmetry == Symmetry::hermitian && header.field == Field::complex) {
      return std::conj(value);
    }
  }
  return value;
}

}  // namespace lanky::inline v1::io
