// Who multiplies a window: all threads of a block, or one of several teams of it.
#pragma once

#include "device/warp_group.cuh"
#include "sparse/cuda/multiply/block.hpp"
#include "sparse/cuda/warp.cuh"

namespace lanky::sparse::cuda {

/// All threads of a block, which has kMost warps or fewer.
template <int kMost>
struct WholeBlock {
  static constexpr int kTeams = 1;  // of a block
  static constexpr int kTeamWarps = kMost;

  static __device__ int team() { return 0; }
  static __device__ int thread() { return static_cast<int>(threadIdx.x); }
  static __device__ int threads() { return static_cast<int>(blockDim.x); }
  static __device__ int warp() { return static_cast<int>(threadIdx.x / kLanes); }
  static __device__ int warps() { return static_cast<int>(blockDim.x / kLanes); }
  static __device__ void sync() { __syncthreads(); }
};

/// Where the matrix has hot columns, one of several teams of a block, which share x of these.
struct HotTeam {
  static constexpr int kTeams = kHotTeams;
  static constexpr int kTeamWarps = kHotTeamWarps;
  static constexpr unsigned kThreads = kTeamWarps * kLanes;

  static __device__ int team() { return static_cast<int>(threadIdx.x / kThreads); }
  static __device__ int thread() { return static_cast<int>(threadIdx.x % kThreads); }
  static __device__ int threads() { return kThreads; }
  static __device__ int warp() { return static_cast<int>(threadIdx.x % kThreads / kLanes); }
  static __device__ int warps() { return kTeamWarps; }
  static __device__ void sync() { device::warps_barrier(1 + team(), kThreads); }
};

}  // namespace lanky::sparse::cuda
