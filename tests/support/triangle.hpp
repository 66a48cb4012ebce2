// Triangles for tests of SparseOptions::symmetry, and the matrices that they stand for.
#pragma once

#include <algorithm>
#include <array>
#include <numeric>

#include "support/sparse_oracle.hpp"

namespace lanky::testing {

inline constexpr std::array kSymmetries = {Symmetry::symmetric, Symmetry::skew_symmetric,
                                           Symmetry::hermitian};

/// Folds the columns of a square matrix onto one side of the diagonal; the diagonal has entries in
/// some rows, several in a few.
template <class T>
void fold(CsrMatrix<T>& a, bool lower) {
  for (std::int64_t row = 0; row < a.rows; ++row) {
    for (std::int64_t entry = a.row_offsets[row]; entry < a.row_offsets[row + 1]; ++entry) {
      std::int32_t& column = a.col_indices[entry];
      const std::int64_t folded = lower ? column % (row + 1) : row + column % (a.cols - row);
      column = static_cast<std::int32_t>(folded);
    }
  }
}

/// Random columns, unsorted and repeated, on one side of the diagonal and on it.
template <class T, class Draw>
CsrMatrix<T> triangle_of(const std::vector<std::int64_t>& lengths, bool lower, Random& random,
                         Draw draw) {
  auto a = matrix_of<T>(lengths, static_cast<std::int64_t>(lengths.size()), random, draw);
  fold(a, lower);
  return a;
}

/// Sorts each row by columns, stably.
template <class T>
void sort_rows(CsrMatrix<T>& a) {
  for (std::int64_t row = 0; row < a.rows; ++row) {
    std::vector<std::int64_t> order(a.row_offsets[row + 1] - a.row_offsets[row]);
    std::iota(order.begin(), order.end(), a.row_offsets[row]);
    std::stable_sort(order.begin(), order.end(), [&](std::int64_t first, std::int64_t second) {
      return a.col_indices[first] < a.col_indices[second];
    });
    std::vector<std::int32_t> columns;
    std::vector<T> values;
    for (const std::int64_t entry : order) {
      columns.push_back(a.col_indices[entry]);
      values.push_back(a.values[entry]);
    }
    std::copy(columns.begin(), columns.end(), a.col_indices.begin() + a.row_offsets[row]);
    std::copy(values.begin(), values.end(), a.values.begin() + a.row_offsets[row]);
  }
}

/// The value at (j, i) of a matrix with `value` at (i, j).
template <class T>
T mirrored(T value, Symmetry symmetry) {
  if (symmetry == Symmetry::skew_symmetric) return element<T>(-parts(value));
  if (symmetry == Symmetry::hermitian && kIsComplex<T>) return element<T>(std::conj(parts(value)));
  return value;
}

/// All of the matrix: in each row what is left of the diagonal, on it and right of it, each in the
/// order of the triangle or, where mirrored, of its rows.
template <class T>
CsrMatrix<T> full_of(const CsrMatrix<T>& triangle, Symmetry symmetry) {
  using Entries = std::vector<std::pair<std::int32_t, T>>;
  std::vector<std::array<Entries, 3>> rows(triangle.rows);
  for (std::int64_t row = 0; row < triangle.rows; ++row) {
    for (std::int64_t entry = triangle.row_offsets[row]; entry < triangle.row_offsets[row + 1];
         ++entry) {
      const std::int32_t column = triangle.col_indices[entry];
      const T value = triangle.values[entry];
      const int part = column < row ? 0 : column == row ? 1 : 2;
      rows[row][part].emplace_back(column, value);
      if (part != 1)
        rows[column][2 - part].emplace_back(static_cast<std::int32_t>(row),
                                            mirrored(value, symmetry));
    }
  }
  CsrMatrix<T> full;
  full.rows = triangle.rows;
  full.cols = triangle.cols;
  for (const auto& parts_of_row : rows) {
    for (const Entries& entries : parts_of_row) {
      for (const auto& [column, value] : entries) {
        full.col_indices.push_back(column);
        full.values.push_back(value);
      }
    }
    full.row_offsets.push_back(full.nnz());
  }
  return full;
}

}  // namespace lanky::testing
