// Sums over the lanes of a warp, in an order that is always the same.
#pragma once

#include "device/element.cuh"

namespace lanky::device {

/// Sums of kCount values over groups of kLanes neighbouring lanes, scattered over the group: where
/// kCount >= kLanes, lane l of a group ends with values[r] = sum of value l * kCount / kLanes + r,
/// r < kCount / kLanes; otherwise with values[0] = sum of value l / (kLanes / kCount). Both are
/// powers of two. Each step halves what a lane is still responsible for: kCount shuffles in all.
template <int kLanes, int kCount, class Acc>
__device__ void scatter_sums(Acc (&values)[kCount]) {
  const unsigned lane = threadIdx.x % kLanes;
  int count = kCount;
#pragma unroll
  for (int offset = kLanes / 2; offset > 0; offset /= 2) {
    if (count == 1) {
      values[0] += shuffle_xor(values[0], offset);
      continue;
    }
    count /= 2;
    const bool upper = (lane & static_cast<unsigned>(offset)) != 0;
#pragma unroll
    for (int v = 0; v < kCount / 2; ++v) {
      if (v >= count) break;
      const Acc sent = upper ? values[v] : values[v + count];
      const Acc kept = upper ? values[v + count] : values[v];
      values[v] = kept + shuffle_xor(sent, offset);
    }
  }
}

}  // namespace lanky::device
