// Which kernels multiply a packed matrix with several columns, in which blocks and strips. Host
// code alone, also in builds without CUDA.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <lanky/dtype.hpp>

#include "core/machine.hpp"
#include "sparse/columns_copy.hpp"
#include "sparse/launch.hpp"
#include "sparse/packed.hpp"

namespace lanky::sparse::cuda {

/// Columns of a strip, and of each lane's words.
struct StripColumns {
  int all;
  int of_word;
};
StripColumns columns_of(StripKind kind, DType dtype);

/// The blocks of each kind, where one vector is multiplied by `vector`.
StripLaunches choose_strips(const PackedHeader& a, DType dtype, const Launch& vector,
                            const Machine& machine);

/// The most of so many columns that kernels of one vector multiply at once; 0: they multiply none.
std::int64_t widest_word(const StripLaunches& launches, std::int64_t columns);
/// Whether they multiply X by columns as it stands, in two launches or fewer besides one for a
/// single last column.
bool in_words_by_columns(const StripLaunches& launches, std::int64_t columns, DType dtype);
/// Whether they multiply so many columns at least as fast as any copy for several would.
bool in_words(const StripLaunches& launches, std::int64_t columns, Layout layout, DType dtype);

/// Entries of a row that a group of lanes has at most, as it adds up the cells of so many pieces in
/// their order, and that a warp has.
constexpr std::int64_t group_most(const Shape& shape) {
  constexpr std::int64_t kPieces = 16;  // kCellsOfThread of cells.cuh
  return std::min<std::int64_t>(kPieces * shape.piece_most, shape.window_cost);
}
constexpr std::int64_t warp_most(const Shape& shape) {
  return std::min<std::int64_t>(std::int64_t{kWarpPieces} * shape.piece_most, shape.window_cost);
}

/// Rows by their lengths, and their entries: [i] those of 2^(i-1) + 1 to 2^i entries.
inline constexpr int kRowLengths = 32;
struct RowLengths {
  unsigned rows[kRowLengths];
  unsigned long long entries[kRowLengths];
};
/// What a group may have of a row, at most: powers of two and, the last, group_most().
inline constexpr int kGroupLimits = 5;
struct GroupLimits {
  std::uint32_t of[kGroupLimits];
};
constexpr GroupLimits group_limits(const Shape& shape) {
  GroupLimits limits{};
  auto limit = std::bit_ceil(static_cast<std::uint32_t>(shape.piece_most));
  for (std::uint32_t& each : limits.of) {
    each = static_cast<std::uint32_t>(std::min<std::int64_t>(limit, group_most(shape)));
    limit *= 2;
  }
  return limits;
}
/// Which of these rows are shared out by in products of `words` words of 16 bytes, by prediction.
/// Longer rows have a warp each.
int group_limit(const RowLengths& lengths, const Shape& shape, int words, const Machine& machine);

/// Blocks for rows in parts, in strips of so many words: their shared memory has the sums of a row
/// for each warp, or of a part of `pieces_most` pieces, 0 of which are none.
PartsLaunch parts_launch(int words, std::int64_t pieces_most, DType dtype, const Machine& machine);

/// Strips of one kind, which multiply the next columns.
struct NextStrips {
  StripKind kind;
  std::int64_t columns;
};

/// Of `columns` that are left, at least 1, which are adjacent in words of `word_bytes`, of 16 at
/// most, or apart (0). The widest strips that shared memory has room for, and no wider than the
/// columns need.
NextStrips next_strips(const StripLaunches& launches, int word_bytes, std::int64_t columns,
                       DType dtype);

}  // namespace lanky::sparse::cuda
