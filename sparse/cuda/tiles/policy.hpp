// Whether a plan has tiles, and in which strips they multiply columns. Host code alone, also in
// builds without CUDA.
#pragma once

#include <cstdint>
#include <lanky/dtype.hpp>
#include <lanky/sparse.hpp>

#include "core/machine.hpp"
#include "sparse/cuda/tiles/strip.hpp"
#include "sparse/tiles.hpp"

namespace lanky::sparse::cuda {

/// Entries of the longest row of a matrix that has tiles which nobody asked for: rows are merged a
/// column after the other, 0.16 us each (H200: 13 ms for the 79,213 entries of a row of
/// titan_cholesky_mc), so that setup takes 1.3 ms more at most.
inline constexpr std::int64_t kMergedMost = 8192;

/// Whether a plan with these options of so many entries may have tiles: `path` says so, or costs
/// are asked.
bool may_have_tiles(const SparseOptions& options, DType dtype, std::int64_t nnz);

/// Strips of so many columns.
std::int64_t strips_of(TileStrip kind, std::int64_t columns, DType dtype);
/// Warps of such strips that a multiprocessor has room for.
int strip_warps(TileStrip kind, DType dtype);

/// What warps of strips that are alike take of a product, in microseconds: all of them share the
/// machine. Shared blocks come first. The last warp begins when all but those that the machine
/// holds at once have ended, and it may have the longest of the blocks that are not shared.
double strips_us(const StripTimes& times, std::int64_t strips);
/// The strips of adjacent columns, no wider than these, that are predicted to take least.
TileStrip best_tile_strip(const StripTimes (&times)[kTileStrips], std::int64_t columns,
                          DType dtype);

/// Strips of one kind, which multiply the next columns.
struct NextTileStrips {
  TileStrip kind;
  std::int64_t columns;
  friend bool operator==(const NextTileStrips&, const NextTileStrips&) = default;
};

/// What is left of the columns, at least 1.
struct ColumnsLeft {
  std::int64_t columns;
  std::int64_t readable;  // of each row of X: columns, or what is filled behind them as well
  int word_bytes;         // that they stand in, of 16 at most; 0: apart
};

/// No strip wider than `widest` or than the columns need; strips of 8 columns (of halves, 16) pad
/// least at the end. Words are read whole: what is no whole word is left to strips of columns
/// apart.
NextTileStrips next_tile_strips(const ColumnsLeft& left, TileStrip widest, DType dtype);

}  // namespace lanky::sparse::cuda
