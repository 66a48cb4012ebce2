// A second copy of op(A), on a GPU, of plans that expect several columns: the packed form is made
// for one vector, whose x takes less than the entries. Here rows of X take more, and lanes beside
// each other have one of these.
#pragma once

#include <cstdint>
#include <lanky/buffer.hpp>
#include <optional>

#include "sparse/buffer_bytes.hpp"
#include "sparse/tiles.hpp"

namespace lanky::sparse {

/// The entries of a row, as CSR has them.
struct RowSpan {
  std::uint32_t first;
  std::uint32_t length;  // with kZeroAdded
};
// Of one vector, 0 is added to the sum: what would be -0 is 0.
inline constexpr std::uint32_t kZeroAdded = std::uint32_t{1} << 31;
inline constexpr std::uint32_t kRowLengthMost = kZeroAdded - 1;

/// What a block multiplies: a row or, where it is split, what a window has of it.
struct RowPart {
  std::uint32_t first;  // of the CSR entries
  std::int32_t length;
  std::int32_t row;
  std::int32_t partial;  // its number among the partial sums; -1: the row is not split
  std::int32_t split;    // the row's number among split rows
};
// Pieces of a row that warps have, at most; blocks have rows of more.
inline constexpr int kWarpPieces = 32;

// A block that has such a part keeps a sum of each piece in shared memory, and one of each warp
// that a product of one vector has, for a strip of columns.
inline constexpr int kVectorWarps = 32;    // at most
inline constexpr int kPartWordsLeast = 4;  // words of 16 bytes in the narrowest strip
// Bytes of shared memory that a kernel of several columns declares besides, at most.
inline constexpr int kVariables = 1 << 10;

/// Blocks of the kernel for rows that warps or blocks have, in strips of so many words of 16 bytes.
struct PartsLaunch {
  std::int32_t words = 0;
  std::int32_t threads = 0;  // 0: a block has no room for the sums of so many columns
  std::int32_t shared_bytes = 0;
  friend bool operator==(const PartsLaunch&, const PartsLaunch&) = default;
};

// Numbers of columns that rows are shared out for: up to 4, 8, 16 and 32 words of 16 bytes.
inline constexpr int kRowCounts = 4;
inline constexpr int kRowWordsLeast = 4;

/// How the rows are shared out for one number of columns.
struct RowShares {
  std::uint32_t by_warps = 0;       // of the first sorted rows, those that blocks or warps have
  std::uint32_t warp_bits = 0;      // 2^warp_bits warps share each of those of warps
  std::uint32_t of_group_most = 0;  // entries of the others, at most
  std::uint32_t team_bits = 0;      // 2^team_bits groups share each of them
  PartsLaunch parts = {};
};

/// CSR, cut into the same pieces as the packed form.
template <class T>
struct RowsCopy {
  Buffer<RowSpan> spans;  // [rows]
  // [rows] the same, longest first, and their numbers; empty where groups of lanes have all rows,
  // and those beside each other are about as long:
  Buffer<RowSpan> sorted;
  Buffer<std::int32_t> order;
  Buffer<std::int32_t> columns;  // [nnz], zero-based
  Buffer<T> values;              // [nnz]
  Buffer<RowPart> of_blocks;     // in any order; there is room for more
  std::int64_t parts = 0;        // of blocks
  std::int32_t pieces_most = 0;  // of these
  std::uint32_t by_blocks = 0;   // of the first of the sorted rows, those that blocks have
  RowShares shares[kRowCounts] = {};

  std::int64_t bytes() const { return bytes_of(spans, sorted, order, columns, values, of_blocks); }
};

template <class T>
struct ColumnsCopy {
  // One of them, for tensor cores or CUDA cores:
  std::optional<Tiles<T>> tiles = {};
  std::optional<RowsCopy<T>> rows = {};

  std::int64_t bytes() const { return (tiles ? tiles->bytes() : 0) + (rows ? rows->bytes() : 0); }
  /// Whether products of so many columns are by tiles.
  bool tiled(std::int64_t columns) const {
    return tiles && columns >= tiled_columns_least(kDType<T>);
  }
};

}  // namespace lanky::sparse
