// Errors that both executors find, told in the same words.
#pragma once

#include <cstdint>

#include "sparse/csr.hpp"

namespace lanky::sparse {

/// An entry of A, indices from 0.
struct EntryPlace {
  std::int64_t entry;
  std::int64_t row;
  std::int64_t column;
};

// Of a caller's matrix, of which extents and index base alone are read here:

/// Throws Error: invalid_argument (negative, or another index base than 0 and 1), unsupported.
void check_extents(const CsrPattern& a);

[[noreturn]] void throw_offsets_start(const CsrPattern& a, std::int64_t first);
[[noreturn]] void throw_offsets_fall(std::int64_t row, std::int64_t from, std::int64_t to);
[[noreturn]] void throw_offsets_end(const CsrPattern& a, std::int64_t last);
[[noreturn]] void throw_column(const CsrPattern& a, std::int64_t entry, std::int64_t row,
                               std::int64_t column);

/// Of a matrix to transpose. Throws Error(unsupported).
void check_transposable(const CsrPattern& a);
/// Of a triangle to expand. Throws Error: invalid_argument (not square), unsupported.
void check_triangle(const CsrPattern& a);
/// A triangle that has entries on both sides of the diagonal.
[[noreturn]] void throw_both_sides(const CsrPattern& a, const EntryPlace& below,
                                   const EntryPlace& above);

/// A window of more rows or cells than the format can number.
[[noreturn]] void throw_window_too_large(std::int64_t first_row, std::int64_t rows,
                                         std::int64_t cells);

}  // namespace lanky::sparse
