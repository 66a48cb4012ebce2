// Teams that multiply a window: all threads of a block or, where columns are hot, some of them, who
// take one window after another.
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

/// Turns of a HotTeam: the first is its number among the teams of all blocks, the others come from
/// a counter, which ends as it began.
class HotTurns {
 public:
  /// `count`: of the turns of all teams.
  __device__ HotTurns(unsigned* counter, unsigned count)
      : counter_(counter),
        count_(count),
        turn_(static_cast<unsigned>(HotTeam::team()) * gridDim.x + blockIdx.x) {}

  __device__ bool goes_on() const { return turn_ < count_; }
  __device__ unsigned turn() const { return turn_; }

  /// Asks for the next turn, which is there long before advance() needs it.
  __device__ void ask() {
    if (HotTeam::thread() != 0) return;
    ahead_ = atomicAdd(counter_, 1U);
    if (ahead_ + 1 == count_) *counter_ = 0;  // nobody adds any more
  }
  /// The next turn, for all threads.
  __device__ void advance() {
    __shared__ unsigned taken[kHotTeams];
    HotTeam::sync();  // what the team shares is read before it is that of the next turn
    if (HotTeam::thread() == 0)
      taken[HotTeam::team()] = gridDim.x * (blockDim.x / HotTeam::kThreads) + ahead_;
    HotTeam::sync();  // the next turn is known
    turn_ = taken[HotTeam::team()];
  }

 private:
  unsigned* counter_;
  unsigned count_;
  unsigned turn_;
  unsigned ahead_ = 0;  // thread 0: turns that were asked for before
};

}  // namespace lanky::sparse::cuda
