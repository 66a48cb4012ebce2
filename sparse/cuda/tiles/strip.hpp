// Strips of columns that a warp multiplies a block of tiles with. The same numbers for the kernels
// and for the host code that launches them.
#pragma once

#include <cstddef>
#include <cstdint>

#include "sparse/launch.hpp"
#include "sparse/packed.hpp"
#include "sparse/tiles.hpp"

namespace lanky::sparse::cuda {

/// Lanes g * 4 + t, t < 4, gather the same columns of four rows of X: kWords words of kEach
/// adjacent columns, or kEach columns anywhere. `kBlocks`: of a multiprocessor, that registers are
/// shared out for.
template <int kEach_, int kWords_, bool kAdjacent_, int kBlocks_>
struct TileStripOf {
  static constexpr int kEach = kEach_;
  static constexpr int kWords = kWords_;
  static constexpr bool kAdjacent = kAdjacent_;
  static constexpr int kBlocks = kBlocks_;
  static constexpr int kColumns = kBlockRows * kEach * kWords;
};

// Warps of a thread block. Each has a block of rows and a strip of its own, or all of them share
// one block of rows of many steps.
inline constexpr int kTileWarps = 8;

/// Warps that multiply the blocks with one strip.
constexpr std::int64_t tile_warps(std::int64_t blocks, std::int64_t shared_blocks) {
  return blocks + (kTileWarps - 1) * shared_blocks;
}

/// From the narrowest on; kTileStrips of them. Of doubles and floats, the narrow one takes columns
/// anywhere as well as apart does.
enum class TileStrip : std::uint8_t { apart, narrow, middle, wide };

/// f(strip) with that of a kind.
template <class T, class F>
auto with_tile_strip(TileStrip kind, F f) {
  if constexpr (sizeof(T) == 8) {
    switch (kind) {
      case TileStrip::apart:
      case TileStrip::narrow:
        break;
      case TileStrip::middle:
        return f(TileStripOf<2, 1, true, 4>{});
      case TileStrip::wide:
        return f(TileStripOf<2, 2, true, 3>{});
    }
    return f(TileStripOf<1, 1, false, 5>{});
  } else if constexpr (sizeof(T) == 4) {
    switch (kind) {
      case TileStrip::apart:
      case TileStrip::narrow:
        break;
      case TileStrip::middle:
        return f(TileStripOf<2, 1, true, 4>{});
      case TileStrip::wide:
        return f(TileStripOf<4, 1, true, 4>{});
    }
    return f(TileStripOf<1, 1, false, 5>{});
  } else {
    switch (kind) {
      case TileStrip::apart:
        break;
      case TileStrip::narrow:
        return f(TileStripOf<2, 1, true, 5>{});
      case TileStrip::middle:
        return f(TileStripOf<4, 1, true, 5>{});
      case TileStrip::wide:
        return f(TileStripOf<8, 1, true, 4>{});
    }
    return f(TileStripOf<2, 1, false, 5>{});
  }
}

}  // namespace lanky::sparse::cuda
