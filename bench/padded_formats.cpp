#include "bench/padded_formats.hpp"

#include <algorithm>
#include <array>
#include <lanky/error.hpp>
#include <limits>
#include <string>

namespace lanky::bench {

namespace {

std::int64_t units(std::int64_t rows, std::int64_t unit) {
  return (rows + unit - 1) / unit;
}

/// Offsets of units from their sizes, each in the place after its unit's.
void accumulate(std::vector<std::int32_t>& offsets) {
  for (std::size_t i = 1; i < offsets.size(); ++i)
    offsets[i] += offsets[i - 1];
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

std::int64_t count_blocks_of_row(const CsrMatrix<double>& matrix, std::int64_t block_row,
                                 int side) {
  std::int64_t count = 0;
  visit_blocks(
      matrix, block_row, side, [&](std::int32_t) { ++count; }, [](int, int, std::int64_t) {});
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
  accumulate(padded.offsets);
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

std::int64_t count_blocks(const CsrMatrix<double>& matrix, int side) {
  const std::int64_t block_rows = units(matrix.rows, side);
  std::int64_t blocks = 0;
#pragma omp parallel for schedule(guided) reduction(+ : blocks)
  for (std::int64_t b = 0; b < block_rows; ++b)
    blocks += count_blocks_of_row(matrix, b, side);
  return blocks;
}

PaddedPattern to_blocks(const CsrMatrix<double>& matrix, int side) {
  const std::int64_t block_rows = units(matrix.rows, side);
  const std::int64_t blocks = count_blocks(matrix, side);
  require_countable(blocks * side * side);
  PaddedPattern padded{
      std::vector<std::int32_t>(static_cast<std::size_t>(block_rows) + 1),
      std::vector<std::int32_t>(static_cast<std::size_t>(blocks)),
      std::vector<std::int32_t>(static_cast<std::size_t>(blocks * side * side), -1)};
#pragma omp parallel for schedule(guided)
  for (std::int64_t b = 0; b < block_rows; ++b)
    padded.offsets[b + 1] = static_cast<std::int32_t>(count_blocks_of_row(matrix, b, side));
  accumulate(padded.offsets);
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
