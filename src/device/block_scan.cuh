// Sums over the threads of a block, which is made of whole warps; exact for integers, in any order.
#pragma once

#include <cstdint>

namespace lanky::device {

inline constexpr int kWarpsOfBlockMost = 32;

/// The sum over the lanes up to and with this one.
template <class Integer>
__device__ Integer warp_inclusive_sum(Integer value) {
  const unsigned lane = threadIdx.x % 32;
#pragma unroll
  for (unsigned distance = 1; distance < 32; distance *= 2) {
    const Integer before = __shfl_up_sync(0xffffffffU, value, distance);
    if (lane >= distance) value += before;
  }
  return value;
}

/// The sum over the threads before this one; `total` is that over all. All threads take part.
template <class Integer>
__device__ Integer block_exclusive_sum(Integer value, Integer& total) {
  __shared__ Integer warp_sums[kWarpsOfBlockMost];
  const unsigned warp = threadIdx.x / 32;
  const Integer inclusive = warp_inclusive_sum(value);
  __syncthreads();  // the sums of an earlier call have been read
  if (threadIdx.x % 32 == 31) warp_sums[warp] = inclusive;
  __syncthreads();  // the sums of all warps are there
  Integer before = inclusive - value;
  total = 0;
  for (unsigned w = 0; w < blockDim.x / 32; ++w) {
    if (w < warp) before += warp_sums[w];
    total += warp_sums[w];
  }
  return before;
}

/// values[i] = sum of those before it, by one block; the sum of all is returned.
template <class Integer>
__device__ Integer scan_by_block(Integer* values, std::int64_t count) {
  constexpr int kOfThread = 8;
  Integer sum = 0;
  for (std::int64_t chunk = 0; chunk < count; chunk += std::int64_t{blockDim.x} * kOfThread) {
    const std::int64_t first = chunk + std::int64_t{threadIdx.x} * kOfThread;
    Integer own[kOfThread];
    Integer own_sum = 0;
#pragma unroll
    for (int i = 0; i < kOfThread; ++i) {
      own[i] = first + i < count ? values[first + i] : Integer{0};
      own_sum += own[i];
    }
    Integer total;
    Integer before = sum + block_exclusive_sum(own_sum, total);
#pragma unroll
    for (int i = 0; i < kOfThread; ++i) {
      if (first + i < count) values[first + i] = before;
      before += own[i];
    }
    sum += total;
  }
  return sum;
}

}  // namespace lanky::device
