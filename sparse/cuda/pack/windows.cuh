// Where the windows of a matrix begin, found on the device from its row offsets.
#pragma once

#include <cstdint>
#include <lanky/buffer.hpp>

#include "sparse/csr.hpp"
#include "sparse/packed.hpp"

namespace lanky::sparse::cuda {

/// What row lengths tell of a window.
struct WindowStart {
  std::int64_t first_entry;
  std::int32_t first_row;
  std::int32_t rows;
  std::int32_t pieces;
  std::int32_t split;    // number of the split row that it is of; -1: of none
  std::int32_t partial;  // number among the windows of split rows; -1
  std::uint8_t cut;      // 1: has cut rows, none of them split
  std::uint8_t empty;    // 1: has empty rows

  __host__ __device__ int cells() const { return cut == 1 || split >= 0 ? pieces : rows; }
};

struct WindowTotals {
  std::int64_t windows;
  std::int64_t split_rows;
  std::int64_t partials;
  std::int64_t split_cost;  // what split rows would cost if they were not
  std::int64_t class_rows[kRowClasses];
  std::int64_t class_entries[kRowClasses];
  std::int32_t pieces_most;  // of a window
  std::int32_t cells_most;
  std::int32_t cut_rows_most;  // rows of a window with cut rows
  std::int32_t too_large;      // 1: a window passes kCellsLimit
  unsigned arrivals[2];        // of blocks, while kernels run
};

struct Windows {
  Buffer<WindowStart> starts;  // [totals.windows + 1, and more]: the last one's first_entry is nnz
  WindowTotals totals;
};

/// Waits for the stream. Throws Error(unsupported) as place_rows does on the host.
Windows cut_windows(const Stream& stream, const CsrPattern& a, const Shape& shape);

}  // namespace lanky::sparse::cuda
