// Operands of the kernels of a product of several columns.
#pragma once

#include <cstdint>

#include "device/element.cuh"

namespace lanky::sparse::cuda {

/// The columns of X and Y that one launch multiplies, in strips.
template <class T>
struct DeviceColumns {
  const device::DeviceElement<T>* x;  // [cols, columns]
  std::int64_t x_column;              // elements from column to column
  std::uint32_t x_row_bytes;          // from row to row
  std::int32_t columns;
  void* y;  // [rows, columns], of elements or, of halves, also of floats
  std::int64_t y_row;
  std::int64_t y_column;
  bool y_words;     // what a lane has of a row of Y are words of memory
  bool y_adjacent;  // rows of a column of Y are
  bool y_sums;      // Y is of the type of sums
  device::DeviceScalar<Accumulator<T>> alpha;
  device::DeviceScalar<Accumulator<T>> beta;
  std::uint32_t strips;
  std::uint32_t parts = 1;          // of a window whose rows are not cut, a block for each
  std::int32_t lane_pieces = 1;     // of wide slices; 1: there are none
  std::int32_t vector_threads = 0;  // that add up the parts of split rows in products of one vector
  std::int64_t partials = 0;        // of a strip, in the workspace
};

}  // namespace lanky::sparse::cuda
