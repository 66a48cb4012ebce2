// Errors that both executors find, told in the same words.
#pragma once

#include <cstdint>

namespace lanky::sparse {

[[noreturn]] void throw_window_too_large(std::int64_t first_row, std::int64_t rows,
                                         std::int64_t cells);

/// What is wrong with the index arrays of a caller's matrix A.
struct CsrFault {
  std::int64_t nnz;
  std::int64_t cols;
  int index_base;

  [[noreturn]] void offsets_start(std::int64_t first) const;
  [[noreturn]] void offsets_fall(std::int64_t row, std::int64_t from, std::int64_t to) const;
  [[noreturn]] void offsets_end(std::int64_t last) const;
  [[noreturn]] void column(std::int64_t entry, std::int64_t row, std::int64_t column) const;
};

}  // namespace lanky::sparse
