// A second copy of op(A), on a GPU, of plans that expect several columns: the packed form is made
// for one vector, whose x takes less than the entries. Here rows of X take more, and lanes beside
// each other have one of these.
#pragma once

#include <cstdint>
#include <lanky/buffer.hpp>
#include <optional>

namespace lanky::sparse {

/// The entries of a row, as CSR has them.
struct RowSpan {
  std::uint32_t first;
  std::uint32_t length;  // with the bits that follow
};
// A row of so many pieces that blocks have parts of it; otherwise a group of lanes has it.
inline constexpr std::uint32_t kInParts = std::uint32_t{1} << 31;
// Of one vector, 0 is added to the sum: what would be -0 is 0.
inline constexpr std::uint32_t kZeroAdded = std::uint32_t{1} << 30;
inline constexpr std::uint32_t kRowLengthMost = kZeroAdded - 1;

/// What a block multiplies of a long row: all of it or, where it is split, what a window has.
struct LongPart {
  std::uint32_t first;  // of the CSR entries
  std::int32_t length;
  std::int32_t row;
  std::int32_t partial;  // its number among the partial sums; -1: the row is not split
  std::int32_t split;    // the row's number among split rows
};

/// CSR, cut into the same pieces as the packed form.
template <class T>
struct RowsCopy {
  Buffer<RowSpan> spans;         // [rows]
  Buffer<std::int32_t> columns;  // [nnz], zero-based
  Buffer<T> values;              // [nnz]
  Buffer<LongPart> long_parts;   // the first long_count, in any order
  std::int64_t long_count = 0;
  std::int32_t long_pieces = 0;  // of the longest of these
};

template <class T>
struct ColumnsCopy {
  std::optional<RowsCopy<T>> rows;

  std::int64_t bytes() const {
    const auto bytes_of = [](const auto&... buffer) {
      return ((buffer.size() * static_cast<std::int64_t>(sizeof(*buffer.data()))) + ...);
    };
    return rows ? bytes_of(rows->spans, rows->columns, rows->values, rows->long_parts) : 0;
  }
};

}  // namespace lanky::sparse
