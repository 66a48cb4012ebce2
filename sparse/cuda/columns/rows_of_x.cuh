// Column-major X made row-major, so that a row of it is a few words: gathers of single elements
// take a sector each.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <type_traits>

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

/// How a block moves a tile. In shared memory it has units: elements or, of halves, two that are
/// adjacent in a row, as halves alone would take as many accesses as floats do.
template <int kColumns, class E>
struct TileOf {
  static constexpr int kRows = tile_rows<E>(kColumns);
  static constexpr int kOfUnit = sizeof(E) == 2 ? 2 : 1;
  using Unit = std::conditional_t<kOfUnit == 2, std::uint32_t, E>;
  // Threads read parts of kColumnsAtOnce columns, each thread every kRowsAtOnce-th element.
  static constexpr int kRowsAtOnce = std::min(kRows, kTileThreads);
  static constexpr int kColumnsAtOnce = kTileThreads / kRowsAtOnce;
  static constexpr int kParts = kRows / kRowsAtOnce;
  static constexpr int kTurns = kColumns / kColumnsAtOnce;
  static_assert(kOfUnit == 1 || kColumnsAtOnce == 1, "a thread has all halves of a unit");
  // They write words of kRowsWritten rows.
  static constexpr int kWord = kWordBytes / static_cast<int>(sizeof(E));
  static constexpr int kUnits = kWord / kOfUnit;
  static constexpr int kWords = kColumns / kWord;  // of a row
  static constexpr int kRowsWritten = kTileThreads / kWords;
  // Units from column to column: lanes whose units are loaded at once have banks of their own.
  static constexpr int kRowsLoaded = 128 / static_cast<int>(sizeof(Unit)) / kWords;
  static constexpr int kPitch = kRows + std::max(kRowsLoaded / kUnits, 1);
};

/// rows[i, j] = x[i + j stride], i < row_count, j < columns; 0 for columns <= j < pitch, of which
/// words are filled. A block has a tile of X: warps read parts of columns, all of them before any
/// is stored, and write words of rows.
template <int kColumns, class E>
__global__ void __launch_bounds__(kTileThreads)
    rows_of_x_kernel(const E* __restrict__ x, std::int64_t stride, std::int64_t row_count,
                     int columns, E* __restrict__ rows, int pitch) {
  using Tile = TileOf<kColumns, E>;
  using Unit = typename Tile::Unit;
  __shared__ Unit tile[kColumns / Tile::kOfUnit][Tile::kPitch];
  device::let_next_kernel_start();
  device::wait_for_kernel_ahead();
  const unsigned thread = threadIdx.x;
  const std::int64_t first = std::int64_t{blockIdx.x} * Tile::kRows;
  const int column = static_cast<int>(blockIdx.y) * kColumns;
  const auto height = static_cast<int>(min(row_count - first, std::int64_t{Tile::kRows}));
  const int width = columns - column;

  const auto i = static_cast<int>(thread % Tile::kRowsAtOnce);
  const auto j = static_cast<int>(thread / Tile::kRowsAtOnce);
  E own[Tile::kTurns][Tile::kParts];
  const auto read = [&](auto exists) {
    const E* from = x + first + i + (column + j) * stride;
#pragma unroll
    for (int c = 0; c < Tile::kTurns; ++c) {
#pragma unroll
      for (int p = 0; p < Tile::kParts; ++p) {
        own[c][p] = E{};
        if (exists(i + p * Tile::kRowsAtOnce, j + c * Tile::kColumnsAtOnce))
          own[c][p] = from[p * Tile::kRowsAtOnce];
      }
      from += Tile::kColumnsAtOnce * stride;
    }
  };
  if (height == Tile::kRows && width >= kColumns) {
    read([](int, int) { return true; });
  } else {
    read([&](int row, int of_tile) { return row < height && of_tile < width; });
  }
#pragma unroll
  for (int c = 0; c < Tile::kTurns; c += Tile::kOfUnit) {
#pragma unroll
    for (int p = 0; p < Tile::kParts; ++p) {
      Unit& unit = tile[(j + c * Tile::kColumnsAtOnce) / Tile::kOfUnit][i + p * Tile::kRowsAtOnce];
      if constexpr (Tile::kOfUnit == 2) {
        unit = device::pair_bits(own[c][p], own[c + 1][p]);
      } else {
        unit = own[c][p];
      }
    }
  }
  __syncthreads();  // the tile is there

  const auto row = static_cast<int>(thread / Tile::kWords);
  const auto word = static_cast<int>(thread % Tile::kWords);
  if (column + word * Tile::kWord >= pitch) return;
  E* to = rows + (first + row) * pitch + column + word * Tile::kWord;
#pragma unroll
  for (int k = 0; k < Tile::kRows; k += Tile::kRowsWritten) {
    if (row + k >= height) return;
    Unit units[Tile::kUnits];
#pragma unroll
    for (int u = 0; u < Tile::kUnits; ++u)
      units[u] = tile[word * Tile::kUnits + u][row + k];
    E elements[Tile::kWord];
    memcpy(elements, units, sizeof(elements));
    device::store_wide(to, elements);
    to += static_cast<std::int64_t>(Tile::kRowsWritten) * pitch;
  }
}

}  // namespace lanky::sparse::cuda
