// The packed matrix as an argument of kernels.
#pragma once

#include "sparse/cuda/multiply/arguments.cuh"
#include "sparse/launch.hpp"

namespace lanky::sparse::cuda {

template <class T>
DeviceMatrix<device::DeviceElement<T>> device_matrix(const PackedView<T>& a, const Launch& launch) {
  const PackedHeader& header = a.header;
  return {.windows = a.windows,
          .slices = a.slices,
          .slices_most = header.slices_most,
          .cells_most = header.cells_most,
          .shares = launch.shares,
          .values = device::device_pointer(a.values),
          .indices = a.indices,
          .bases = a.bases,
          .lengths = header.pieces_told > 0 ? a.lengths : nullptr,
          .cells = a.cells,
          .row_cells = a.row_cells,
          .columns_most = header.columns_most,
          .window_count = static_cast<std::uint32_t>(header.windows),
          .split_starts = a.split_starts,
          .order = ordered_windows(header) > 0 ? a.order : nullptr,
          .hot_columns = a.hot_columns,
          .hot = static_cast<std::int32_t>(header.hot),
          .split_rows = static_cast<std::int32_t>(header.split_rows),
          .slots = header.slots,
          .index_units = header.index_units,
          .fetch_ahead = launch.fetch_ahead};
}

}  // namespace lanky::sparse::cuda
