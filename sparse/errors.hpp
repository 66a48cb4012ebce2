// Errors that both executors find, told in the same words.
#pragma once

#include <cstdint>

namespace lanky::sparse {

/// An entry of A, indices from 0.
struct EntryPlace {
  std::int64_t entry;
  std::int64_t row;
  std::int64_t column;
};

/// Extents of a caller's matrix A, and what can be wrong with it.
struct CsrExtents {
  std::int64_t rows;
  std::int64_t cols;
  std::int64_t nnz;
  int index_base;

  /// Throws Error: invalid_argument (negative, or another index base than 0 and 1), unsupported.
  void check() const;

  [[noreturn]] void throw_offsets_start(std::int64_t first) const;
  [[noreturn]] void throw_offsets_fall(std::int64_t row, std::int64_t from, std::int64_t to) const;
  [[noreturn]] void throw_offsets_end(std::int64_t last) const;
  [[noreturn]] void throw_column(std::int64_t entry, std::int64_t row, std::int64_t column) const;

  /// Of a matrix to transpose. Throws Error(unsupported).
  void check_transposable() const;
  /// Of a triangle to expand. Throws Error: invalid_argument (not square), unsupported.
  void check_triangle() const;
  /// A triangle that has entries on both sides of the diagonal.
  [[noreturn]] void throw_both_sides(const EntryPlace& below, const EntryPlace& above) const;
};

/// Of a CsrView or a Csr.
template <class Matrix>
CsrExtents extents_of(const Matrix& a) {
  return {a.rows, a.cols, a.nnz, a.index_base};
}

/// A window of more rows or cells than the format can number.
[[noreturn]] void throw_window_too_large(std::int64_t first_row, std::int64_t rows,
                                         std::int64_t cells);

}  // namespace lanky::sparse
