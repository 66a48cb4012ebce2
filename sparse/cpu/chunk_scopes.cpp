#include "sparse/cpu/chunk_scopes.hpp"

#include <algorithm>
#include <limits>

namespace lanky::sparse::cpu {

ChunkCounts& ChunkCounts::operator+=(const ChunkCounts& other) {
  rows += other.rows;
  entries += other.entries;
  chunks += other.chunks;
  slots += other.slots;
  code_bytes += other.code_bytes;
  empty_rows += other.empty_rows;
  short_rows += other.short_rows;
  short_entries += other.short_entries;
  beside_rows += other.beside_rows;
  beside_entries += other.beside_entries;
  beside_steps += other.beside_steps;
  alone_rows += other.alone_rows;
  listed_rows += other.listed_rows;
  uneven_chunks += other.uneven_chunks;
  for (int i = 0; i < kCodes; ++i)
    code_entries[i] += other.code_entries[i];
  return *this;
}

std::span<const std::uint16_t> ScopeOrder::of(const CsrPattern& a, std::int64_t first,
                                              std::int64_t last, bool sorts) {
  int rows = 0;
  std::int64_t longest = 0;
  std::int64_t shortest = kCutEntries;
  for (std::int64_t row = first; row < last; ++row) {
    const std::int64_t length = a.row_offsets[row + 1] - a.row_offsets[row];
    if (is_cut(length)) continue;
    rows_[rows] = static_cast<std::uint16_t>(row - first);
    lengths_[rows] = static_cast<std::uint16_t>(length);
    longest = std::max(longest, length);
    shortest = std::min(shortest, length);
    ++rows;
  }
  const auto all = static_cast<std::size_t>(rows);
  if (!sorts || longest == shortest || rows <= kChunkRows) return {rows_.data(), all};
  if (longest <= kCountedMost) {
    sort_by_counting(static_cast<int>(longest), rows);
  } else {
    sort_by_comparing(rows);
  }
  return {order_.data(), all};
}

void ScopeOrder::sort_by_counting(int longest, int rows) {
  std::fill_n(counts_.begin(), longest + 2, std::uint16_t{0});
  for (int i = 0; i < rows; ++i)
    ++counts_[longest - lengths_[i] + 1];
  for (int i = 0; i <= longest; ++i)
    counts_[i + 1] = static_cast<std::uint16_t>(counts_[i + 1] + counts_[i]);
  for (int i = 0; i < rows; ++i)
    order_[counts_[longest - lengths_[i]]++] = rows_[i];
}

void ScopeOrder::sort_by_comparing(int rows) {
  std::array<std::uint32_t, kScopeMost> keys;
  constexpr std::uint32_t kPlaces = kScopeMost;
  for (int i = 0; i < rows; ++i)
    keys[i] = static_cast<std::uint32_t>(kCutEntries - lengths_[i]) * kPlaces +
              static_cast<std::uint32_t>(i);
  std::sort(keys.begin(), keys.begin() + rows);
  for (int i = 0; i < rows; ++i)
    order_[i] = rows_[keys[i] % kPlaces];
}

namespace {

/// The codes that all steps of rows side by side can have.
Codes codes_beside(const CsrPattern& a, const PlannedChunk& planned) {
  const Chunk& chunk = planned.chunk;
  const std::int32_t* columns[kChunkRows] = {};
  for (int i = 0; i < chunk.kind.rows; ++i)
    columns[i] = a.columns + planned.begin[i];
  std::int32_t spread = 0;
  std::int32_t strays = 0;  // other than 0 where a step is not along diagonals
  for (std::int64_t k = 0; k < chunk.shortest; ++k) {
    const std::int32_t first = columns[0][k];
    std::int32_t least = first;
    std::int32_t most = first;
#pragma GCC unroll 8
    for (int i = 1; i < kChunkRows; ++i) {
      const std::int32_t column = columns[i][k];
      least = std::min(least, column);
      most = std::max(most, column);
      strays |= column - first - i;
    }
    spread = std::max(spread, most - least);
  }
  if (!is_uneven(chunk)) return strays == 0 ? Codes::none : codes_of_spread(spread);
  for (std::int64_t k = chunk.shortest; k < chunk.depth; ++k) {
    std::int32_t least = std::numeric_limits<std::int32_t>::max();
    std::int32_t most = 0;
    for (int i = 0; i < chunk.kind.rows; ++i) {
      if (k >= planned.length[i]) continue;
      least = std::min(least, columns[i][k]);
      most = std::max(most, columns[i][k]);
    }
    spread = std::max(spread, most - least);
  }
  return codes_of_spread(spread);
}

/// Those that each of some rows alone can have.
Codes codes_alone(const CsrPattern& a, const PlannedChunk& planned) {
  bool follow = true;
  std::int64_t spread = 0;
  for (int i = 0; i < planned.chunk.kind.rows; ++i) {
    const std::int32_t* const columns = a.columns + planned.begin[i];
    const std::int64_t length = planned.length[i];
    if (length == 0) continue;
    std::int32_t least = columns[0];
    std::int32_t most = columns[0];
    bool follows = true;
    for (std::int64_t k = 0; k < length; ++k) {
      least = std::min(least, columns[k]);
      most = std::max(most, columns[k]);
      follows &= columns[k] == columns[0] + k;
    }
    follow = follow && follows;
    spread = std::max(spread, std::int64_t{most} - least);
  }
  return follow ? Codes::none : codes_of_spread(spread);
}

}  // namespace

PlannedChunk place_chunk(const CsrPattern& a, std::int64_t first,
                         std::span<const std::uint16_t> order, const ChunkShape& shape) {
  PlannedChunk planned;
  Chunk& chunk = planned.chunk;
  chunk = {};
  planned.entries = 0;
  chunk.kind.rows = static_cast<std::uint8_t>(order.size());
  std::int64_t depth = 0;
  std::int64_t shortest = kCutEntries;
  std::int64_t least = first + order[0];
  bool consecutive = true;
  for (int i = 0; i < chunk.kind.rows; ++i) {
    const std::int64_t row = first + order[i];
    planned.row[i] = row;
    planned.begin[i] = a.row_offsets[row];
    planned.length[i] = a.row_offsets[row + 1] - a.row_offsets[row];
    planned.entries += planned.length[i];
    depth = std::max(depth, planned.length[i]);
    shortest = std::min(shortest, planned.length[i]);
    least = std::min(least, row);
    consecutive = consecutive && row == planned.row[0] + i;
  }
  chunk.first_row = static_cast<std::int32_t>(least);
  chunk.kind.target = consecutive ? Target::consecutive : Target::listed;
  chunk.kind.beside =
      depth == 0 || stands_beside(depth, planned.entries, chunk.kind.rows, shape) ? 1 : 0;
  if (chunk.kind.beside == 1) {
    chunk.depth = static_cast<std::uint16_t>(depth);
    chunk.shortest = static_cast<std::uint16_t>(chunk.kind.rows == kChunkRows ? shortest : 0);
    planned.slots = depth * kChunkRows;
  } else {
    planned.slots = planned.entries;
  }
  return planned;
}

Codes choose_codes(const CsrPattern& a, const PlannedChunk& planned) {
  return planned.chunk.kind.beside == 1 ? codes_beside(a, planned) : codes_alone(a, planned);
}

PlannedChunk place_piece(const CsrPattern& a, std::int64_t row, std::int64_t piece,
                         std::int32_t partial) {
  PlannedChunk planned;
  planned.chunk = {};
  planned.chunk.first_row = partial;
  planned.chunk.kind.rows = 1;
  planned.chunk.kind.target = Target::partial;
  planned.row[0] = row;
  planned.begin[0] = a.row_offsets[row] + piece * kPieceEntries;
  planned.length[0] = std::min(kPieceEntries, a.row_offsets[row + 1] - planned.begin[0]);
  planned.entries = planned.slots = planned.length[0];
  return planned;
}

void count_chunk(const PlannedChunk& planned, ChunkCounts& counts) {
  const Chunk& chunk = planned.chunk;
  counts.entries += planned.entries;
  ++counts.chunks;
  counts.slots += planned.slots;
  counts.code_bytes += codes_size(chunk, planned.slots);
  counts.code_entries[static_cast<int>(chunk.kind.codes)] += planned.entries;
  if (chunk.kind.target == Target::partial) return;
  counts.rows += chunk.kind.rows;
  int filled = 0;
  for (int i = 0; i < chunk.kind.rows; ++i) {
    const std::int64_t length = planned.length[i];
    filled += length > 0 ? 1 : 0;
    const bool is_short = length > 0 && length <= kShortRow;
    counts.short_rows += is_short ? 1 : 0;
    counts.short_entries += is_short ? length : 0;
  }
  counts.empty_rows += chunk.kind.rows - filled;
  if (chunk.kind.target == Target::listed) counts.listed_rows += chunk.kind.rows;
  if (chunk.kind.beside == 1) {
    counts.beside_rows += filled;
    counts.beside_entries += planned.entries;
    counts.beside_steps += chunk.depth;
    counts.uneven_chunks += is_uneven(chunk) ? 1 : 0;
  } else {
    counts.alone_rows += filled;
  }
}

}  // namespace lanky::sparse::cpu
