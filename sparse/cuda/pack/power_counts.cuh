// Numbers counted by powers of two, by the threads of blocks that have one each.
#pragma once

#include "sparse/cuda/pack/grid.cuh"
#include "sparse/cuda/warp.cuh"

namespace lanky::sparse::cuda {

/// Class i has the numbers of 2^(i-1) + 1 to 2^i; class 0 has 0 and 1.
inline constexpr int kPowerClasses = 32;
__device__ inline int power_class(unsigned number) {
  return number > 1 ? 32 - __clz(static_cast<int>(number - 1)) : 0;
}

/// A block's numbers by their class, and sums of them, which are less than 2^32, on their way to
/// those of the grid; in shared memory. All threads clear it, and wait for each other, before they
/// add numbers, and before they add it up.
class PowerCounts {
 public:
  __device__ void clear() {
    for (int i = thread_of_block(); i < kPowerClasses; i += kThreads) {
      counts_[i] = 0;
      sums_[i] = 0;
    }
  }
  __device__ void add(unsigned number) {
    atomicAdd(counts_ + power_class(number), 1U);
    atomicAdd(sums_ + power_class(number), number);
  }
  __device__ void add_to(unsigned (&counts)[kPowerClasses], Count (&sums)[kPowerClasses]) const {
    for (int i = thread_of_block(); i < kPowerClasses; i += kThreads) {
      if (counts_[i] == 0) continue;
      atomicAdd(counts + i, counts_[i]);
      atomicAdd(sums + i, Count{sums_[i]});
    }
  }

 private:
  unsigned counts_[kPowerClasses];
  unsigned sums_[kPowerClasses];
};

}  // namespace lanky::sparse::cuda
