// From entries in any order to CSR: a stable counting sort by row, then each row by column, so that
// duplicates meet in the order of the file.
#pragma once

#include <algorithm>
#include <cstdint>
#include <lanky/csr.hpp>
#include <lanky/io.hpp>
#include <utility>
#include <vector>

#include "io/element.hpp"

namespace lanky::io {

/// One entry of a file, indices counted from 0.
template <class T>
struct Entry {
  std::int64_t row;
  std::int32_t col;
  Wide<T> value;
};

/// The value at (col, row) of the entry at (row, col). A hermitian matrix of real field is
/// symmetric: conjugation would make its zero imaginary parts negative.
template <class T>
Wide<T> mirrored(const Wide<T>& value, const Header& header) {
  if (header.symmetry == Symmetry::skew_symmetric) return -value;
  if constexpr (kIsComplex<T>) {
    if (header.symmetry == Symmetry::hermitian && header.field == Field::complex) {
      return std::conj(value);
    }
  }
  return value;
}

/// An entry without its row, which its place tells.
template <class T>
struct Slot {
  std::int32_t col;
  Wide<T> value;
};

/// All entries grouped by row, in the order of the file within a row; fills row_offsets.
template <class T>
std::vector<Slot<T>> group_by_row(const std::vector<Entry<T>>& entries, const Header& header,
                                  std::vector<std::int64_t>& row_offsets) {
  const auto has_mirror = [&](const Entry<T>& e) {
    return header.symmetry != Symmetry::general && e.row != e.col;
  };
  for (const Entry<T>& e : entries) {
    ++row_offsets[static_cast<std::size_t>(e.row) + 1];
    if (has_mirror(e)) ++row_offsets[static_cast<std::size_t>(e.col) + 1];
  }
  for (std::size_t i = 1; i < row_offsets.size(); ++i)
    row_offsets[i] += row_offsets[i - 1];

  std::vector<Slot<T>> slots(static_cast<std::size_t>(row_offsets.back()));
  std::vector<std::int64_t> next(row_offsets.begin(), row_offsets.end() - 1);
  const auto place = [&](std::int64_t row, std::int64_t col, const Wide<T>& value) {
    const std::int64_t at = next[static_cast<std::size_t>(row)]++;
    slots[static_cast<std::size_t>(at)] = {static_cast<std::int32_t>(col), value};
  };
  for (const Entry<T>& e : entries) {
    place(e.row, e.col, e.value);
    if (has_mirror(e)) place(e.col, e.row, mirrored<T>(e.value, header));
  }
  return slots;
}

/// Adds up slots of equal column in a sorted row; the new end of the row.
template <class T>
Slot<T>* add_duplicates(Slot<T>* begin, Slot<T>* end) {
  Slot<T>* last = begin;
  for (Slot<T>* slot = begin; slot != end; ++slot) {
    if (slot != begin && slot->col == last->col) {
      last->value += slot->value;
    } else {
      if (slot != begin) ++last;
      *last = *slot;
    }
  }
  return begin == end ? end : last + 1;
}

/// The matrix of `entries`, symmetric ones expanded, columns sorted within rows; duplicates are
/// summed in wide precision in file order, or kept in file order.
template <class T>
CsrMatrix<T> build_csr(const Header& header, std::vector<Entry<T>> entries, bool sum_duplicates) {
  CsrMatrix<T> matrix;
  matrix.rows = header.rows;
  matrix.cols = header.cols;
  matrix.row_offsets.assign(static_cast<std::size_t>(header.rows) + 1, 0);
  std::vector<Slot<T>> slots = group_by_row<T>(entries, header, matrix.row_offsets);
  entries = {};

  const auto by_column = [](const Slot<T>& a, const Slot<T>& b) { return a.col < b.col; };
  Slot<T>* out = slots.data();
  std::int64_t begin = 0;
  for (std::size_t i = 0; i < static_cast<std::size_t>(header.rows); ++i) {
    Slot<T>* first = slots.data() + std::exchange(begin, matrix.row_offsets[i + 1]);
    Slot<T>* last = slots.data() + begin;
    if (!std::is_sorted(first, last, by_column)) std::stable_sort(first, last, by_column);
    if (sum_duplicates) last = add_duplicates<T>(first, last);
    out = out == first ? last : std::move(first, last, out);
    matrix.row_offsets[i + 1] = out - slots.data();
  }

  const auto nnz = static_cast<std::size_t>(out - slots.data());
  matrix.col_indices.resize(nnz);
  matrix.values.resize(nnz);
  for (std::size_t k = 0; k < nnz; ++k) {
    matrix.col_indices[k] = slots[k].col;
    matrix.values[k] = static_cast<T>(slots[k].value);
  }
  return matrix;
}

}  // namespace lanky::io
