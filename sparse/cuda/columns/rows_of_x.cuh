// Column-major X made row-major, so that a row of it is a few words: gathers of single elements
// take a sector each.
#pragma once

#include <cstdint>

#include "device/element.cuh"
#include "device/grid_dependency.cuh"
#include "device/memory.cuh"
#include "sparse/cuda/multiply/block.hpp"
#include "sparse/cuda/warp.cuh"

namespace lanky::sparse::cuda {

inline constexpr int kTileThreads = 256;
inline constexpr int kTileBytes = 16 << 10;  // that a block has in flight
/// Columns of a tile: as many as rows of X have, or more, but one of these.
inline constexpr int kTileColumnsFew = 8;
inline constexpr int kTileColumnsMany = 32;
template <class E>
constexpr int tile_rows(int tile_columns) {
  return kTileBytes / static_cast<int>(sizeof(E)) / tile_columns;
}

/// rows[i, j] = x[i + j stride], i < row_count, j < columns; 0 for columns <= j < pitch, of which
/// words are filled. A block has a tile of X, by way of shared memory: warps read parts of columns,
/// all of them before any is stored, and write words of rows.
template <int kColumns, class E>
__global__ void __launch_bounds__(kTileThreads)
    rows_of_x_kernel(const E* __restrict__ x, std::int64_t stride, std::int64_t row_count,
                     int columns, E* __restrict__ rows, int pitch) {
  constexpr int kRows = tile_rows<E>(kColumns);
  constexpr int kEach = kRows * kColumns / kTileThreads;
  constexpr int kWord = kWordBytes / static_cast<int>(sizeof(E));
  __shared__ E tile[kColumns][kRows + 1];
  device::let_next_kernel_start();
  device::wait_for_kernel_ahead();
  const std::int64_t first = std::int64_t{blockIdx.x} * kRows;
  const int column = static_cast<int>(blockIdx.y) * kColumns;
  const auto height = static_cast<int>(min(row_count - first, std::int64_t{kRows}));
  E own[kEach];
#pragma unroll
  for (int k = 0; k < kEach; ++k) {
    const int i = (thread_of_block() + k * kTileThreads) % kRows;
    const int j = (thread_of_block() + k * kTileThreads) / kRows;
    own[k] = E{};
    if (i < height && column + j < columns) own[k] = x[first + i + (column + j) * stride];
  }
#pragma unroll
  for (int k = 0; k < kEach; ++k) {
    const int at = thread_of_block() + k * kTileThreads;
    tile[at / kRows][at % kRows] = own[k];
  }
  __syncthreads();                          // the tile is there
  constexpr int kWords = kColumns / kWord;  // of a row
#pragma unroll
  for (int k = 0; k < kEach / kWord; ++k) {
    const int i = (thread_of_block() + k * kTileThreads) / kWords;
    const int j = (thread_of_block() + k * kTileThreads) % kWords * kWord;
    if (i >= height || column + j >= pitch) continue;
    E word[kWord];
#pragma unroll
    for (int e = 0; e < kWord; ++e)
      word[e] = tile[j + e][i];
    device::store_wide(rows + (first + i) * pitch + column + j, word);
  }
}

}  // namespace lanky::sparse::cuda
