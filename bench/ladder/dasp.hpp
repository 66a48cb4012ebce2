// DASP's format, from the paper's description: rows in classes by length, each shaped for products
// of 8 x W blocks on tensor cores. Y. Lu and W. Liu, "DASP: Specific Dense Matrix
// Multiply-Accumulate Units Accelerated General Sparse Matrix-Vector Multiplication", SC '23.
#pragma once

#include <cstdint>
#include <lanky/csr.hpp>
#include <lanky/dtype.hpp>
#include <string>
#include <vector>

namespace lanky::ladder {

/// Rows of a tile, which is the operand A of one mma.
inline constexpr int kDaspTileRows = 8;
/// Longest row that is not long, and longest that is short.
inline constexpr std::int64_t kDaspMediumMost = 256;
inline constexpr std::int64_t kDaspShortMost = 4;
/// Tiles of a group, the part of a long row that a warp sums.
inline constexpr int kDaspGroupTiles = 2;
/// A tile of medium rows is regular where entries fill more than this of its slots.
inline constexpr int kDaspFillPercent = 75;

/// A matrix in DASP's layout, without its values: those stand as its columns do, at their slots.
///
/// Slots are numbered tile by tile, a tile row by row, and after the last tile come loose entries,
/// which CUDA cores multiply. Slot (tile, g, k) is number (tile * 8 + g) * W + k, with W =
/// tile_width.
///
///   long rows     > 256      [ group: 2 tiles, all of one row ][ group ] ..., the last one padded
///   medium rows   5 .. 256   sorted by length, longest first, 8 rows a block:
///
///       row 0  [ tile 0 ][ tile 1 ][ tile 2 ] x x x x x x     tiles reach as far as more than 75 %
///       row 1  [        ][        ][        ] x x x           of a tile are entries; missing ones
///       ...    [        ][        ][      00]                 are padding (0), longer rows go on
///       row 7  [        ][      00][     000]                 in a loose tail (x)
///
///   short rows    1 .. 4     put together as pieced rows of 4 slots, 2 W of them a tile:
///
///       1+3  [a|b b b]    a row of 1 and one of 3, as long as there are both
///       2+2  [a a|b b]    two rows of 2; of an odd number the last one is with nobody
///       4    [a a a a]    a row of 4, or one of 3 that is left, padded
///
///     The tiles of a kind begin with a new tile. Rows of 1 that are left are loose entries.
///
/// Order of tiles: long, medium, 1+3, 2+2, 4; of loose entries: tails in the order of medium_rows,
/// then rows of 1. Entries of a row keep the order of CSR; padding has column and source -1.
struct DaspPattern {
  int tile_width = 0;  // W: 4 of f64, 8 of f16
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  std::int64_t nnz = 0;

  std::vector<std::int32_t> columns;  // [slots, then loose entries]
  std::vector<std::int32_t> sources;  // [slots, then loose entries]: which entry of CSR

  std::vector<std::int32_t> long_rows;  // [long rows]: number in the matrix
  std::vector<std::int32_t> long_groups = {
      0};  // [long rows + 1]: first group; group i has tiles 2i..

  std::vector<std::int32_t> medium_rows;         // [medium rows]
  std::vector<std::int32_t> medium_tiles;        // [blocks of 8 of them + 1]: first tile
  std::vector<std::int32_t> tail_offsets = {0};  // [medium rows + 1]: first loose entry

  std::int64_t pieced_13 = 0;  // pieced rows of a kind, those that only fill the last tile aside
  std::int64_t pieced_22 = 0;
  std::int64_t pieced_4 = 0;
  // Rows of pieced rows, -1 where there is none: [1+3 and 2+2, whole tiles][2], then [4, whole
  // tiles].
  std::vector<std::int32_t> pieced_rows;
  std::int64_t single_rows = 0;          // of one loose entry
  std::vector<std::int32_t> other_rows;  // [single rows, then empty ones]

  std::int64_t tile_slots() const { return std::int64_t{kDaspTileRows} * tile_width; }
  std::int64_t pieced_per_tile() const { return tile_slots() / kDaspShortMost; }
  std::int64_t groups() const { return long_groups.back(); }
  /// Tiles that hold so many pieced rows.
  std::int64_t pieced_tiles(std::int64_t pieced) const {
    return (pieced + pieced_per_tile() - 1) / pieced_per_tile();
  }
  std::int64_t split_tiles() const { return pieced_tiles(pieced_13) + pieced_tiles(pieced_22); }
  std::int64_t short_tiles() const { return split_tiles() + pieced_tiles(pieced_4); }
  std::int64_t first_short_tile() const { return medium_tiles.back(); }
  std::int64_t tiles() const { return first_short_tile() + short_tiles(); }
  std::int64_t first_loose() const { return tiles() * tile_slots(); }
};

/// W of a type: k of the mma that multiplies it. Error(unsupported) for others than f64 and f16.
int dasp_tile_width(DType dtype);

/// The arrays of CSR without the values, in host memory.
struct CsrPattern {
  template <class T>
  CsrPattern(const CsrView<T>& a)  // NOLINT: implicit
      : rows(a.rows),
        cols(a.cols),
        nnz(a.nnz),
        offsets(a.row_offsets),
        columns(a.col_indices),
        base(a.index_base) {}

  std::int64_t begin(std::int64_t row) const { return offsets[row] - base; }
  std::int64_t length(std::int64_t row) const { return offsets[row + 1] - offsets[row]; }
  std::int32_t column(std::int64_t entry) const { return columns[entry] - base; }

  std::int64_t rows;
  std::int64_t cols;
  std::int64_t nnz;
  RowOffsets offsets;
  const std::int32_t* columns;
  int base;
};

/// Error(unsupported) from 2^31 rows or entries on.
DaspPattern to_dasp(const CsrPattern& a, int tile_width);

/// What the layout costs.
struct DaspSummary {
  std::int64_t long_rows = 0;
  std::int64_t medium_rows = 0;
  std::int64_t short_rows = 0;
  std::int64_t empty_rows = 0;
  std::int64_t slots = 0;          // of tiles
  std::int64_t padding = 0;        // those that hold no entry
  std::int64_t loose_entries = 0;  // tails and single rows
  std::int64_t index_bytes = 0;    // all but the values

  double padding_share() const;  // of the slots
  std::int64_t bytes(DType dtype) const {
    return index_bytes + (slots + loose_entries) * static_cast<std::int64_t>(size_of(dtype));
  }
  /// "rows: 3 long, ...; of 384 slots 12.5 % are padding; ...".
  std::string text() const;
};
DaspSummary summarize(const DaspPattern& dasp);

}  // namespace lanky::ladder
