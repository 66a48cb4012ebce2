// Kernels over rows, entries or columns in blocks of kThreads: what a thread has of them, what
// blocks add up, launches, and values that come back.
#pragma once

#include <algorithm>
#include <cstdint>
#include <lanky/stream.hpp>

#include "core/runtime.hpp"
#include "device/arrival.cuh"
#include "device/block_scan.cuh"
#include "device/launch.cuh"

namespace lanky::sparse::cuda {

inline constexpr int kThreads = 256;
inline constexpr std::int64_t kGridMost = 1024;  // of kernels whose blocks go on to further parts

inline unsigned blocks_of(std::int64_t count, int of_block = kThreads) {
  return static_cast<unsigned>(device::ceil_div<std::int64_t>(count, of_block));
}
inline unsigned blocks_at_most(std::int64_t blocks) {
  return static_cast<unsigned>(std::min(blocks, kGridMost));
}

__device__ inline std::int64_t thread_of_grid() {
  return std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
}
__device__ inline std::int64_t threads_of_grid() {
  return std::int64_t{gridDim.x} * kThreads;
}

using Count = unsigned long long;  // what atomics take

__device__ inline void add_to(std::int64_t& target, std::int64_t value) {
  if (value > 0) atomicAdd(reinterpret_cast<Count*>(&target), static_cast<Count>(value));
}
/// Adds the values of the block's threads.
__device__ inline void add_of_block(std::int64_t& target, std::int64_t value) {
  std::int64_t sum;
  device::block_exclusive_sum(value, sum);
  if (threadIdx.x == 0) add_to(target, sum);
}

/// True for all threads of the block that is the last to arrive: it sees what the others wrote.
__device__ inline bool is_last_block(unsigned* arrivals) {
  __shared__ bool last;
  __syncthreads();  // all of this block has been written
  if (threadIdx.x == 0) last = device::arrive_at(arrivals, gridDim.x);
  __syncthreads();  // `last` is there
  return last;
}

/// The last of the rows `first` .. `end` - 1 that begins at `place` or before it.
template <class Offset, class Row>
__device__ Row row_of(const Offset* offsets, Row first, Row end, Row place) {
  while (end - first > 1) {
    const Row middle = (first + end) / 2;
    if (offsets[middle] <= place) {
      first = middle;
    } else {
      end = middle;
    }
  }
  return first;
}

/// Launches a kernel of `blocks` blocks, called `what` in an error.
template <class... Parameters, class... Arguments>
void launch(const Stream& stream, const char* what, void (*kernel)(Parameters...), unsigned blocks,
            const Arguments&... arguments) {
  const device::LaunchScope scope(stream);
  kernel<<<blocks, kThreads, 0, stream.native()>>>(arguments...);
  scope.check(what);
}

/// One value out of device memory. Waits for the stream.
template <class T>
T to_host(const Stream& stream, const T* data) {
  T value;
  runtime::copy(&value, data, sizeof(T), stream.native(), stream.device().index());
  stream.synchronize();
  return value;
}

}  // namespace lanky::sparse::cuda
