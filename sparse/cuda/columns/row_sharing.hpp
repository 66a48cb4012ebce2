// How lanes share the rows of a RowsCopy, and what their product takes, both predicted of the rows'
// lengths. Host code alone, also in builds without CUDA.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <lanky/dtype.hpp>

#include "core/machine.hpp"
#include "sparse/columns_copy.hpp"
#include "sparse/packed.hpp"

namespace lanky::sparse::cuda {

/// Entries of a row that a group of lanes has at most, as it adds up the cells of so many pieces in
/// their order, and that a warp has.
constexpr std::int64_t group_most(const Shape& shape) {
  constexpr std::int64_t kPieces = 16;  // kCellsOfThread of cells.cuh
  return std::min<std::int64_t>(kPieces * shape.piece_most, shape.window_cost);
}
constexpr std::int64_t warp_most(const Shape& shape) {
  return std::min<std::int64_t>(std::int64_t{kWarpPieces} * shape.piece_most, shape.window_cost);
}

/// Lanes of a group that has a row of X of up to `words` words of 16 bytes at once, and the words
/// of each of them.
struct GroupLanes {
  int lanes;
  int words;
};
constexpr GroupLanes group_lanes(int words) {
  if (words <= 8)
    return {static_cast<int>(std::bit_ceil(static_cast<unsigned>(std::max(words, 2)))), 1};
  return {words <= 16 ? 8 : 16, 2};
}

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

/// What groups have, where they have rows of up to a limit: entries, and as many if each group took
/// as long as the longest of kRowsTogether rows that stand beside each other.
struct GroupTotals {
  unsigned long long entries;
  unsigned long long taken;
};
inline constexpr int kRowsTogether = 16;

/// Rows by their lengths, and their entries: [i] those of 2^(i-1) + 1 to 2^i entries.
inline constexpr int kRowLengths = 32;
struct RowLengths {
  unsigned rows[kRowLengths];
  unsigned long long entries[kRowLengths];
  GroupTotals groups[kGroupLimits];
  unsigned longest;  // entries of the longest row: RowFacts::longest
};
/// Whether groups with rows of up to a limit are to have them longest first: those beside each
/// other would wait for each other.
bool is_uneven(const RowLengths& lengths, int limit);

/// How rows are shared out: which of these limits groups have, and how many groups a row has,
/// 2^team_bits. Longer rows are in parts, in a kernel of their own: 2^warp_bits warps have those
/// that are not for blocks. And what that takes, in microseconds: one launch more than another
/// product, if any; all rows, which share the lanes that the device holds; the row that takes
/// longest.
struct RowSharing {
  int limit = 0;
  int team_bits = 0;
  int warp_bits = 0;
  double parts_us = 0;
  double work_us = 0;
  double longest_us = 0;
};

/// That which is predicted to take least, of products of `words` words of 16 bytes. Where Y is
/// `staged` by columns, rows are taken as they stand, and each has one group.
RowSharing share_rows(const RowLengths& lengths, const Shape& shape, int words, DType dtype,
                      const Machine& machine, bool staged = false);

}  // namespace lanky::sparse::cuda
