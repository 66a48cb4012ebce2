// From columns, as Rutherford-Boeing and MATLAB files hold a matrix, to CSR by a counting sort.
#pragma once

#include <algorithm>
#include <cstdint>
#include <lanky/csr.hpp>
#include <lanky/io.hpp>
#include <numeric>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "io/element.hpp"
#include "io/entry.hpp"

namespace lanky::inline v1::io {

/// A matrix by columns, in the order of its file; of a symmetric one, one triangle.
template <class T>
struct CscMatrix {
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  std::vector<std::int64_t> col_offsets;  // [cols + 1]
  std::vector<std::int64_t> row_indices;  // [entries], from 0
  std::vector<Wide<T>> values;            // [entries]

  std::size_t begin_of(std::int64_t col) const {
    return static_cast<std::size_t>(col_offsets[static_cast<std::size_t>(col)]);
  }
};

/// Entries first..last - 1 in the order of their rows; those of one row in the order of the file.
template <class T>
std::vector<std::size_t> order_by_row(const CscMatrix<T>& csc, std::size_t first,
                                      std::size_t last) {
  std::vector<std::size_t> order(last - first);
  std::iota(order.begin(), order.end(), first);
  std::ranges::stable_sort(order, {}, [&](std::size_t k) { return csc.row_indices[k]; });
  return order;
}

/// The first entry in the file whose place another one before it has taken, and that one.
struct DuplicateInColumn {
  std::int64_t col;
  std::size_t earlier;
  std::size_t later;
};

template <class T>
std::optional<DuplicateInColumn> find_duplicate(const CscMatrix<T>& csc) {
  for (std::int64_t col = 0; col < csc.cols; ++col) {
    const std::vector<std::size_t> order =
        order_by_row(csc, csc.begin_of(col), csc.begin_of(col + 1));
    std::optional<DuplicateInColumn> found;
    for (std::size_t i = 1; i < order.size(); ++i) {
      if (csc.row_indices[order[i - 1]] != csc.row_indices[order[i]]) continue;
      if (!found || order[i] < found->later) found = {col, order[i - 1], order[i]};
    }
    if (found) return found;
  }
  return std::nullopt;
}

/// Sorts the rows of each column and, if asked, adds up entries of one row in file order.
template <class T>
void settle_columns(CscMatrix<T>& csc, bool sum_duplicates) {
  std::size_t out = 0;
  std::size_t first = 0;
  for (std::int64_t col = 0; col < csc.cols; ++col) {
    const std::size_t last = csc.begin_of(col + 1);
    std::vector<std::pair<std::int64_t, Wide<T>>> column;
    column.reserve(last - first);
    for (std::size_t k = first; k < last; ++k)
      column.emplace_back(csc.row_indices[k], csc.values[k]);
    const auto row_of = [](const auto& entry) { return entry.first; };
    if (!std::ranges::is_sorted(column, {}, row_of)) std::ranges::stable_sort(column, {}, row_of);
    const std::size_t start = out;
    for (const auto& [row, value] : column) {
      if (sum_duplicates && out > start && csc.row_indices[out - 1] == row) {
        csc.values[out - 1] += value;
      } else {
        csc.row_indices[out] = row;
        csc.values[out++] = value;
      }
    }
    csc.col_offsets[static_cast<std::size_t>(col) + 1] = static_cast<std::int64_t>(out);
    first = last;
  }
  csc.row_indices.resize(out);
  csc.values.resize(out);
}

/// f(row, col, value) of each entry in the order of columns, then of its mirror image where the
/// header names a symmetry.
template <class T, class F>
void for_each_expanded(const CscMatrix<T>& csc, const Header& header, F f) {
  for (std::int64_t col = 0; col < csc.cols; ++col) {
    for (std::size_t k = csc.begin_of(col); k < csc.begin_of(col + 1); ++k) {
      const std::int64_t row = csc.row_indices[k];
      f(row, col, csc.values[k]);
      if (header.symmetry != Symmetry::general && row != col) {
        f(col, row, mirrored(csc.values[k], header));
      }
    }
  }
}

/// The matrix by rows, columns sorted within them, symmetric storage expanded: as columns are
/// walked in order, each row meets its entries in order, those of its mirrored column included.
template <class T>
CsrMatrix<T> csr_of(CscMatrix<T> csc, const Header& header, bool sum_duplicates) {
  settle_columns(csc, sum_duplicates);
  CsrMatrix<T> matrix;
  matrix.rows = csc.rows;
  matrix.cols = csc.cols;
  std::vector<std::int64_t>& offsets = matrix.row_offsets;
  offsets.assign(static_cast<std::size_t>(csc.rows) + 1, 0);
  for_each_expanded(csc, header, [&](std::int64_t row, std::int64_t, const Wide<T>&) {
    ++offsets[static_cast<std::size_t>(row) + 1];
  });
  std::partial_sum(offsets.begin(), offsets.end(), offsets.begin());
  std::vector<std::int64_t> next(offsets.begin(), offsets.end() - 1);
  matrix.col_indices.resize(static_cast<std::size_t>(offsets.back()));
  matrix.values.resize(static_cast<std::size_t>(offsets.back()));
  for_each_expanded(csc, header, [&](std::int64_t row, std::int64_t col, const Wide<T>& value) {
    const auto at = static_cast<std::size_t>(next[static_cast<std::size_t>(row)]++);
    matrix.col_indices[at] = static_cast<std::int32_t>(col);
    matrix.values[at] = static_cast<T>(value);
  });
  return matrix;
}

}  // namespace lanky::inline v1::io
