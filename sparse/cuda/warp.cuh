// A warp of kLanes threads.
#pragma once

#include "sparse/packed.hpp"

namespace lanky::sparse::cuda {

inline constexpr unsigned kAllLanes = 0xffffffffU;

__device__ inline int lane_of_warp() {
  return static_cast<int>(threadIdx.x % kLanes);
}

}  // namespace lanky::sparse::cuda
