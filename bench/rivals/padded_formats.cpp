#include "bench/rivals/padded_formats.hpp"

#include <algorithm>
#include <array>
#include <lanky/error.hpp>
#include <limits>
#include <numeric>
#include <string>

namespace lanky::bench {

namespace {

std::int64_t units(std::int64_t rows, std::int64_t unit) {
  return (rows + unit - 1) / unit;
}

void require_countable(std::int64_t slots) {
  if (slots > std::numeric_limits<std::int32_t>::max())
    throw Error(ErrorCode::unsupported, std::to_string(slots) + " slots are more than 2^31 - 1");
}

std::int64_t row_length(const CsrMatrix<double>& matrix, std::int64_t row) {
  const auto r = static_cast<std::size_t>(row);
  return matrix.row_offsets[r + 1] - matrix.row_offsets[r];
}

/// Entries in the longest row of a slice.
std::int64_t slice_width(const CsrMatrix<double>& matrix, std::int64_t slice, int height) {
  const std::int64_t end = std::min((slice + 1) * height, matrix.rows);
  std::int64_t width = 0;
  for (std::int64_t row = slice * height; row < end; ++row)
    width = std::max(width, row_length(matrix, row));
  return width;
}

/// The blocks of one row of blocks in ascending order: visit_block(column in blocks), then
/// visit_entry(row in the block, column in the block, entry) for each entry of it.
template <class VisitBlock, class VisitEntry>
void visit_blocks(const CsrMatrix<double>& matrix, std::int64_t block_row, int side,
                  VisitBlock visit_block, VisitEntry visit_entry) {
  const std::int64_t first = block_row * side;
  const auto height = static_cast<int>(std::min<std::int64_t>(side, matrix.rows - first));
  const std::int32_t* columns = matrix.col_indices.data();
  std::array<std::int64_t, kLargestBlock> next{};
  std::array<std::int64_t, kLargestBlock> end{};
  for (int r = 0; r < height; ++r) {
    const auto row = static_cast<std::size_t>(first + r);
    next[r] = matrix.row_offsets[row];
    end[r] = matrix.row_offsets[row + 1];
  }
  for (;;) {
    constexpr std::int32_t kNone = std::numeric_limits<std::int32_t>::max();
    std::int32_t least = kNone;
    for (int r = 0; r < height; ++r) {
      if (next[r] < end[r]) least = std::min(least, columns[next[r]]);
    }
    if (least == kNone) return;
    const std::int32_t block = least / side;
    visit_block(block);
    const std::int64_t beyond = (std::int64_t{block} + 1) * side;
    for (int r = 0; r < height; ++r) {
      for (; next[r] < end[r] && columns[next[r]] < beyond; ++next[r])
        visit_entry(r, columns[next[r]] - block * side, next[r]);
    }
  }
}

struct BlockCount {
  std::int64_t blocks = 0;
  std::int64_t entries = 0;
};

BlockCount count_blocks(const CsrMatrix<double>& matrix, std::int64_t block_row, int side) {
  BlockCount count;
  visit_blocks(
      matrix, block_row, side, [&](std::int32_t) { ++count.blocks; },
      [&](int, int, std::int64_t) { ++count.entries; });
  return count;
}

}  // namespace

std::int64_t sliced_ell_slots(const CsrMatrix<double>& matrix, int height) {
  const std::int64_t slices = units(matrix.rows, height);
  std::int64_t slots = 0;
#pragma omp parallel for schedule(static) reduction(+ : slots)
  for (std::int64_t s = 0; s < slices; ++s)
    slots += slice_width(matrix, s, height) * height;
  return slots;
}

PaddedPattern to_sliced_ell(const CsrMatrix<double>& matrix, int height) {
  const std::int64_t slots = sliced_ell_slots(matrix, height);
  require_countable(slots);
  const std::int64_t slices = units(matrix.rows, height);
  PaddedPattern padded{std::vector<std::int32_t>(static_cast<std::size_t>(slices) + 1),
                       std::vector<std::int32_t>(static_cast<std::size_t>(slots)),
                       std::vector<std::int32_t>(static_cast<std::size_t>(slots))};
#pragma omp parallel for schedule(static)
  for (std::int64_t s = 0; s < slices; ++s)
    padded.offsets[s + 1] = static_cast<std::int32_t>(slice_width(matrix, s, height) * height);
  std::partial_sum(padded.offsets.begin(), padded.offsets.end(), padded.offsets.begin());
#pragma omp parallel for schedule(guided)
  for (std::int64_t s = 0; s < slices; ++s) {
    for (std::int32_t slot = padded.offsets[s]; slot < padded.offsets[s + 1]; ++slot) {
      const std::int64_t row = s * height + (slot - padded.offsets[s]) % height;
      const std::int64_t step = (slot - padded.offsets[s]) / height;
      const bool holds = row < matrix.rows && step < row_length(matrix, row);
      const std::int64_t entry = holds ? matrix.row_offsets[row] + step : -1;
      padded.sources[slot] = static_cast<std::int32_t>(entry);
      padded.col_indices[slot] = holds ? matrix.col_indices[entry] : -1;
    }
  }
  return padded;
}

double block_fill(const CsrMatrix<double>& matrix, int side) {
  constexpr std::int64_t kLarge = 1 << 16;  // rows of blocks
  const std::int64_t block_rows = units(matrix.rows, side);
  const std::int64_t step = block_rows > kLarge ? 64 : 1;
  std::int64_t blocks = 0;
  std::int64_t entries = 0;
#pragma omp parallel for schedule(guided) reduction(+ : blocks, entries)
  for (std::int64_t b = 0; b < block_rows; b += step) {
    const BlockCount count = count_blocks(matrix, b, side);
    blocks += count.blocks;
    entries += count.entries;
  }
  return entries == 0 ? 0
                      : static_cast<double>(blocks * side * side) / static_cast<double>(entries);
}

PaddedPattern to_blocks(const CsrMatrix<double>& matrix, int side) {
  const std::int64_t block_rows = units(matrix.rows, side);
  const std::int64_t area = side * side;
  std::vector<std::int64_t> starts(static_cast<std::size_t>(block_rows) + 1);
#pragma omp parallel for schedule(guided)
  for (std::int64_t b = 0; b < block_rows; ++b)
    starts[b + 1] = count_blocks(matrix, b, side).blocks;
  std::partial_sum(starts.begin(), starts.end(), starts.begin());
  require_countable(starts.back() * area);
  PaddedPattern padded{
      std::vector<std::int32_t>(starts.begin(), starts.end()),
      std::vector<std::int32_t>(static_cast<std::size_t>(starts.back())),
      std::vector<std::int32_t>(static_cast<std::size_t>(starts.back() * area), -1)};
#pragma omp parallel for schedule(guided)
  for (std::int64_t b = 0; b < block_rows; ++b) {
    std::int64_t block = padded.offsets[b] - 1;
    visit_blocks(
        matrix, b, side, [&](std::int32_t column) { padded.col_indices[++block] = column; },
        [&](int row, int col, std::int64_t entry) {
          padded.sources[(block * side + row) * side + col] = static_cast<std::int32_t>(entry);
        });
  }
  return padded;
}

}  // namespace lanky::bench
