// What a lane has of a strip: its columns of a row of X, and their sums.
#pragma once

#include <cstdint>

#include "device/guarded_load.cuh"
#include "device/memory.cuh"
#include "sparse/cuda/columns/strip.hpp"
#include "sparse/cuda/multiply/cells.cuh"
#include "sparse/cuda/multiply/decode.cuh"
#include "sparse/cuda/warp.cuh"

namespace lanky::sparse::cuda {

/// The lane's number in its group, and the group's in the warp.
template <class Strip>
__device__ int lane_of_group() {
  return lane_of_warp() % Strip::kGroup;
}
template <class Strip>
__device__ int group_of_warp() {
  return lane_of_warp() / Strip::kGroup;
}

/// A lane's columns of X.
template <class E, class Strip>
class StripGather {
 public:
  /// `x`: row 0 of the strip's first column, of which X has `columns` from there on; rows are
  /// `row_bytes` apart, columns `column_stride` elements. A lane whose columns do not exist reads
  /// the last ones.
  __device__ StripGather(const E* x, std::uint32_t row_bytes, std::int64_t column_stride,
                         int columns)
      : row_bytes_(row_bytes), column_stride_(column_stride) {
#pragma unroll
    for (int w = 0; w < Strip::kWords; ++w) {
      const int word = w * Strip::kGroup + lane_of_group<Strip>();
      const int column = min(word * Strip::kEach, (columns - 1) / Strip::kEach * Strip::kEach);
      x_[w] = device::opaque(x + column * column_stride);
      columns_ = columns - column;
    }
  }

  __device__ void load(E (&factors)[Strip::kWords][Strip::kEach], std::uint32_t row) const {
#pragma unroll
    for (int w = 0; w < Strip::kWords; ++w) {
      const E* const source = device::advanced(x_[w], row, row_bytes_);
      if constexpr (Strip::kAdjacent && sizeof(device::RealPart<E>) == 8) {
        device::load_constant_pairs(factors[w], source);
      } else if constexpr (Strip::kAdjacent) {
        device::load_constant(factors[w], source);
      } else {
#pragma unroll
        for (int e = 0; e < Strip::kEach; ++e)
          device::load_if<Stay::normally>(factors[w][e], source + e * column_stride_,
                                          e == 0 || e < columns_);
      }
    }
  }

 private:
  const E* x_[Strip::kWords];
  std::uint32_t row_bytes_;
  std::int64_t column_stride_;
  int columns_;  // of the lane's word; kWords is 1 where columns are not adjacent
};

/// The cells of a lane's columns in one piece, or their sums.
template <class E, class Strip>
struct StripCells {
  Cell<E> of[Strip::kWords][Strip::kEach];
};

}  // namespace lanky::sparse::cuda
