// Tiles of C that a block of gram_fma_kernel computes, as a kernel has them.
#pragma once

#include "dense/cuda/gram/policy.hpp"
#include "dense/cuda/gram/ring.cuh"

namespace lanky::dense::cuda {

template <class T, int kIndex>
inline constexpr FmaTile kFmaTile = fma_tiles(kDType<T>)[kIndex];

/// Row-major, rows are cut into panels of kSegmentBytes: a slot has whole ones.
template <class E>
constexpr int fma_slot_bytes(const FmaTile& tile) {
  constexpr int kPanel = kSegmentBytes / sizeof(E);
  const int columns = !tile.wide && tile.n < kPanel ? kPanel : tile.n;
  return (tile.m + columns) * tile.segments * kSegmentBytes;
}

/// Where a warp stands in its block, and what of C it has.
struct FmaWarp {
  int group;
  int i0;  // first row and column in the tile
  int j0;
  int rows;  // that exist from there on
  int columns;
  int ahead;  // of its first row to its first column, where what lies above the diagonal is left
              // out
};

}  // namespace lanky::dense::cuda
