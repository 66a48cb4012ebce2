// Column-major X made row-major, so that a row of it is a few words: gathers of single elements
// take a sector each.
#pragma once

#include <cstdint>

#include "device/element.cuh"
#include "device/grid_dependency.cuh"
#include "sparse/cuda/warp.cuh"

namespace lanky::sparse::cuda {

inline constexpr int kTileRows = 64;
inline constexpr int kTileColumns = 32;
inline constexpr int kTileThreads = 256;

/// rows[i, j] = x[i + j stride], i < row_count, j < columns; 0 for columns <= j < pitch. A block
/// has kTileRows rows and kTileColumns columns, by way of shared memory: a warp reads a part of a
/// column, and writes parts of rows.
template <class E>
__global__ void __launch_bounds__(kTileThreads)
    rows_of_x_kernel(const E* __restrict__ x, std::int64_t stride, std::int64_t row_count,
                     int columns, E* __restrict__ rows, int pitch) {
  __shared__ E tile[kTileColumns][kTileRows + 1];
  device::let_next_kernel_start();
  device::wait_for_kernel_ahead();
  const std::int64_t first = std::int64_t{blockIdx.x} * kTileRows;
  const int column = static_cast<int>(blockIdx.y) * kTileColumns;
  const auto height = static_cast<int>(min(row_count - first, std::int64_t{kTileRows}));
  const int width = min(pitch - column, kTileColumns);
  for (int j = warp_of_block(); j < width; j += warps_of_block()) {
    for (int i = lane_of_warp(); i < height; i += kLanes)
      tile[j][i] = column + j < columns ? x[first + i + (column + j) * stride] : E{};
  }
  __syncthreads();  // the tile is there
  for (int k = thread_of_block(); k < height * width; k += threads_of_block())
    rows[(first + k / width) * pitch + column + k % width] = tile[k % width][k / width];
}

}  // namespace lanky::sparse::cuda
