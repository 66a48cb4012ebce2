// Errors that both executors find, told in the same words.
#pragma once

#include <cstdint>

namespace lanky::sparse {

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
