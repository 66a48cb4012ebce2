// Threads of a block as warps of kLanes.
#pragma once

#include "sparse/packed.hpp"

namespace lanky::sparse::cuda {

inline constexpr unsigned kAllLanes = 0xffffffffU;

__device__ inline int lane_of_warp() {
  return static_cast<int>(threadIdx.x % kLanes);
}

__device__ inline int thread_of_block() {
  return static_cast<int>(threadIdx.x);
}
__device__ inline int threads_of_block() {
  return static_cast<int>(blockDim.x);
}
__device__ inline int warp_of_block() {
  return static_cast<int>(threadIdx.x / kLanes);
}
__device__ inline int warps_of_block() {
  return static_cast<int>(blockDim.x / kLanes);
}

}  // namespace lanky::sparse::cuda
