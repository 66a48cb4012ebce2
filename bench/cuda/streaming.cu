// The streaming floor: a kernel that only reads R bytes and writes W bytes; and the SM clock.
#include <algorithm>
#include <lanky/buffer.hpp>

#include "bench/harness/gpu.hpp"
#include "core/cuda_check.hpp"
#include "device/wall_clock.cuh"

namespace lanky::bench::gpu {

namespace {

constexpr int kThreads = 256;
constexpr unsigned kSentinel = 0xa5a5a5a5U;

struct Vectors {
  const uint4* source;  // [read]
  std::int64_t read;
  uint4* target;  // [write]
  std::int64_t write;
  std::uint64_t writer_share;  // of the blocks, in units of 2^-32, rounded up
  unsigned* seen;
};

/// One block moves kThreads * kUnroll 16-byte words, all loads of a thread in flight at once; a
/// block either reads or writes, the writing ones spread evenly over the grid. What is read is
/// folded into a word that is compared, so that the compiler keeps the loads. No shared memory.
template <int kUnroll>
__global__ void __launch_bounds__(kThreads) streaming_kernel(Vectors v) {
  const std::uint64_t block = blockIdx.x;
  const auto writers_before = static_cast<std::int64_t>(block * v.writer_share >> 32);
  const bool writes =
      static_cast<std::int64_t>((block + 1) * v.writer_share >> 32) > writers_before;
  const std::int64_t chunk =
      writes ? writers_before : static_cast<std::int64_t>(block) - writers_before;
  const std::int64_t first = chunk * (kThreads * kUnroll) + threadIdx.x;
  if (writes) {
#pragma unroll
    for (int u = 0; u < kUnroll; ++u) {
      const std::int64_t i = first + u * kThreads;
      if (i < v.write) v.target[i] = make_uint4(kSentinel, kSentinel, kSentinel, kSentinel);
    }
    return;
  }
  uint4 words[kUnroll];
#pragma unroll
  for (int u = 0; u < kUnroll; ++u) {
    const std::int64_t i = first + u * kThreads;
    words[u] = i < v.read ? __ldg(v.source + i) : make_uint4(0, 0, 0, 0);
  }
  uint4 fold = make_uint4(0, 0, 0, 0);
#pragma unroll
  for (int u = 0; u < kUnroll; ++u) {
    fold.x ^= words[u].x;
    fold.y ^= words[u].y;
    fold.z ^= words[u].z;
    fold.w ^= words[u].w;
  }
  const bool sentinel =
      fold.x == kSentinel && fold.y == kSentinel && fold.z == kSentinel && fold.w == kSentinel;
  if (sentinel && v.seen != nullptr) *v.seen = 1;
}

template <int kUnroll>
void launch(const Stream& stream, Vectors vectors) {
  constexpr std::int64_t kPerBlock = kThreads * kUnroll;
  const std::int64_t readers = (vectors.read + kPerBlock - 1) / kPerBlock;
  const std::int64_t writers = (vectors.write + kPerBlock - 1) / kPerBlock;
  const auto blocks = static_cast<unsigned>(std::max<std::int64_t>(1, readers + writers));
  // Rounded up by less than 2^-32 of a block per block: blocks * share still ends below writers
  // + 1.
  vectors.writer_share = ((static_cast<std::uint64_t>(writers) << 32) + blocks - 1) / blocks;
  streaming_kernel<kUnroll><<<blocks, kThreads, 0, stream.native()>>>(vectors);
}

/// Waits until the wall clock ticks, so that both ends of the interval stand on a tick.
__device__ std::int64_t next_tick_ns() {
  const std::int64_t before = device::wall_clock_ns();
  std::int64_t now = before;
  while (now == before)
    now = device::wall_clock_ns();
  return now;
}

/// One thread. elapsed[0]: SM clocks, elapsed[1]: nanoseconds, over at least 0.1 ms.
__global__ void clock_kernel(std::int64_t* elapsed) {
  constexpr std::int64_t kIntervalNs = 100'000;
  const std::int64_t start_ns = next_tick_ns();
  const std::int64_t start = clock64();
  while (device::wall_clock_ns() - start_ns < kIntervalNs) {
  }
  const std::int64_t end_ns = next_tick_ns();
  elapsed[0] = clock64() - start;
  elapsed[1] = end_ns - start_ns;
}

}  // namespace

void stream_bytes(const Stream& stream, const Traffic& traffic, int unroll) {
  const DeviceGuard device(stream.device().index());
  const Vectors vectors{static_cast<const uint4*>(traffic.source),
                        (traffic.read + 15) / 16,
                        static_cast<uint4*>(traffic.target),
                        (traffic.write + 15) / 16,
                        0,
                        traffic.seen};
  switch (unroll) {
    case 1:
      launch<1>(stream, vectors);
      break;
    case 2:
      launch<2>(stream, vectors);
      break;
    case 4:
      launch<4>(stream, vectors);
      break;
    default:
      launch<8>(stream, vectors);
  }
  check_cuda(cudaGetLastError(), "streaming_kernel");
}

double sm_clock_mhz(const Stream& stream) {
  const DeviceGuard device(stream.device().index());
  Buffer<std::int64_t> elapsed(stream, 2);
  clock_kernel<<<1, 1, 0, stream.native()>>>(elapsed.data());
  check_cuda(cudaGetLastError(), "clock_kernel");
  const std::vector<std::int64_t> host = elapsed.to_host();
  return static_cast<double>(host[0]) / static_cast<double>(host[1]) * 1e3;
}

}  // namespace lanky::bench::gpu
