// Tiles as kernels take them.
#pragma once

#include <cstdint>

#include "sparse/tiles.hpp"

namespace lanky::sparse::cuda {

template <class E>
struct DeviceTiles {
  const TileStart* starts;      // [blocks + 1]
  const std::int32_t* columns;  // [steps + 1][t][j]
  const std::uint32_t* masks;   // [steps + 1][j]
  const E* values;
  const TilePart* parts;  // [shared_blocks][kTileWarps]
  std::uint32_t shared_blocks;
  std::uint32_t share_above;
  std::uint32_t blocks;
  std::int32_t rows;
};

}  // namespace lanky::sparse::cuda
