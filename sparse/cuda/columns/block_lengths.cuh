// RowLengths, counted by blocks of a thread a row.
#pragma once

#include <cstdint>

#include "sparse/cuda/columns/row_sharing.hpp"
#include "sparse/cuda/pack/grid.cuh"
#include "sparse/cuda/pack/power_counts.cuh"
#include "sparse/cuda/warp.cuh"

namespace lanky::sparse::cuda {

static_assert(kRowLengths == kPowerClasses);

/// A block's sums on their way to RowLengths; in shared memory. All threads clear it, and wait for
/// each other, before they add rows, and before they add it up.
class BlockLengths {
 public:
  __device__ void clear() {
    lengths_.clear();
    for (int i = thread_of_block(); i < kGroupLimits; i += kThreads) {
      entries_[i] = 0;
      taken_[i] = 0;
    }
  }
  /// A row's length, 0 where there is none; all lanes of a warp take part.
  __device__ void add(bool exists, std::uint32_t length, const GroupLimits& limits) {
    if (exists) lengths_.add(length);
#pragma unroll
    for (int i = 0; i < kGroupLimits; ++i) {
      const std::uint32_t grouped = length <= limits.of[i] ? length : 0;
      std::uint32_t longest = grouped;
#pragma unroll
      for (int mask = 1; mask < kRowsTogether; mask *= 2)
        longest = max(longest, __shfl_xor_sync(kAllLanes, longest, mask));
      const std::uint32_t entries = __reduce_add_sync(kAllLanes, grouped);
      const std::uint32_t taken = __reduce_add_sync(kAllLanes, longest);
      if (lane_of_warp() > 0) continue;
      atomicAdd(entries_ + i, entries);
      atomicAdd(taken_ + i, taken);
    }
  }
  __device__ void add_to(RowLengths& all) const {
    lengths_.add_to(all.rows, all.entries);
    for (int i = thread_of_block(); i < kGroupLimits; i += kThreads) {
      if (entries_[i] == 0) continue;
      atomicAdd(&all.groups[i].entries, Count{entries_[i]});
      atomicAdd(&all.groups[i].taken, Count{taken_[i]});
    }
  }

 private:
  PowerCounts lengths_;
  unsigned entries_[kGroupLimits];
  unsigned taken_[kGroupLimits];
};

}  // namespace lanky::sparse::cuda
