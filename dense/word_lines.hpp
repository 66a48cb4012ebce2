// Lines of adjacent elements off 16 bytes, as they pass through shared memory in the aligned words
// of 16 bytes that hold them: where each element lies there.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/host_device.hpp"
#include "dense/problem.hpp"

namespace lanky::dense {

/// Of rows x columns of a matrix whose rows or columns are adjacent. Every element has the address,
/// modulo 16, that it has in the matrix, and no two lines have a word in common.
struct WordLinesPlan {
  bool by_columns;
  bool tight;  // rows with no gaps, or short ones: one line
  int row;     // bytes, from row to row
  int column;  // and from column to column
  int bytes;   // of all, a multiple of 16

  /// most_gap: bytes between rows that are copied with them.
  LANKY_HOST_DEVICE constexpr WordLinesPlan(Strides strides, int rows, int columns,
                                            std::size_t element, int most_gap = 0)
      : by_columns(strides.row == 1 && strides.col != 1),
        tight(!by_columns && strides.row >= columns &&
              (strides.row - columns) * static_cast<std::int64_t>(element) <= most_gap) {
    const int of_element = static_cast<int>(element);
    const int line = (by_columns ? rows : columns) * of_element;
    const std::int64_t stride = (by_columns ? strides.col : strides.row) * of_element;
    const int least = line + 15;
    const int pitch = tight ? static_cast<int>(stride)
                            : least + static_cast<int>((stride - least % 16 + 16) % 16);
    row = by_columns ? of_element : pitch;
    column = by_columns ? pitch : of_element;
    bytes = ((by_columns ? columns : rows) * pitch + 47) / 16 * 16;
  }
};

/// Whether rows or columns are lines of adjacent elements.
constexpr bool has_lines(Strides strides) noexcept {
  return strides.row == 1 || strides.col == 1;
}
/// Whether columns are; where both are, lines are rows.
constexpr bool has_line_columns(Strides strides) noexcept {
  return WordLinesPlan(strides, 1, 1, 1).by_columns;
}

}  // namespace lanky::dense
