// What TSM2's model needs to know of a GPU: how long a load and an FMA take, and how many of them
// the card does in a second.
#include <algorithm>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "bench/cases/draw.hpp"
#include "bench/harness/floor.hpp"
#include "bench/harness/gpu.hpp"
#include "bench/ladder/ladder.hpp"
#include "core/cuda_check.hpp"
#include "device/launch.cuh"

namespace lanky::ladder {

namespace {

constexpr int kSteps = 4096;  // of a chain whose links take one latency each
constexpr int kSpacing = 32;  // 32-bit words from one link of a chase to the next: a line each

/// One thread: follows next[] from `place` [1] on, each load waiting for the one before, and leaves
/// there where it came to. clocks [1].
__global__ void chase_kernel(const std::uint32_t* next, std::uint32_t* place,
                             std::int64_t* clocks) {
  std::uint32_t here = *place;
  const std::int64_t begin = clock64();
#pragma unroll 16
  for (int step = 0; step < kSteps; ++step)
    here = next[here];
  *place = here;
  const std::int64_t end = clock64();  // the last load is waited for before it is stored
  *clocks = end - begin;
}

/// One thread: a chain of FMAs, each needing the one before. factor is 0 at run time.
template <class T>
__global__ void fma_chain_kernel(T factor, std::int64_t* clocks) {
  T sum = static_cast<T>(threadIdx.x);
  const std::int64_t begin = clock64();
#pragma unroll 16
  for (int step = 0; step < kSteps; ++step)
    sum = sum * factor + factor;
  const std::int64_t end = clock64();
  *clocks = sum == T(-1) ? 0 : end - begin;
}

/// Clocks per step: the second of two launches, since the first loads the kernel.
template <class LaunchOnce>
double clocks_per_step(const Stream& stream, LaunchOnce launch_once) {
  Buffer<std::int64_t> clocks(stream, 1);
  for (int launch = 0; launch < 2; ++launch) {
    const device::LaunchScope scope(stream);
    launch_once(clocks.data());
    scope.check("a kernel of card.cu");
  }
  return static_cast<double>(clocks.to_host()[0]) / kSteps;
}

/// The lines of more memory than any cache holds, in an order that no prefetcher guesses: one cycle
/// through a random permutation.
Buffer<std::uint32_t> chase(const Stream& stream) {
  constexpr std::uint64_t kSeed = 1;
  const auto l2_bytes = static_cast<std::int64_t>(stream.device().properties().l2_bytes);
  const std::int64_t lines = 4 * std::max<std::int64_t>(l2_bytes, 1 << 24) / (kSpacing * 4);
  std::vector<std::uint32_t> order(static_cast<std::size_t>(lines));
  std::iota(order.begin(), order.end(), 0U);
  bench::Draw draw(kSeed);
  for (std::int64_t i = lines - 1; i > 0; --i)
    std::swap(order[static_cast<std::size_t>(i)],
              order[static_cast<std::size_t>(draw.between(0, i))]);
  std::vector<std::uint32_t> next(static_cast<std::size_t>(lines * kSpacing));
  for (std::size_t i = 0; i < order.size(); ++i)
    next[std::size_t{order[i]} * kSpacing] = order[(i + 1) % order.size()] * kSpacing;
  return Buffer<std::uint32_t>::from(stream, next);
}

}  // namespace

Tsm2Card measure_card(bench::Session& session, DType dtype) {
  const Stream& stream = session.stream;
  const DeviceGuard guard(stream.device().index());
  cudaDeviceProp properties{};
  check_cuda(cudaGetDeviceProperties(&properties, stream.device().index()),
             "cudaGetDeviceProperties");
  Tsm2Card card;
  card.multiprocessors = properties.multiProcessorCount;
  card.threads_per_multiprocessor = properties.maxThreadsPerMultiProcessor;
  card.blocks_per_multiprocessor = properties.maxBlocksPerMultiProcessor;
  card.registers_per_multiprocessor = properties.regsPerMultiprocessor;
  card.shared_bytes_per_multiprocessor =
      static_cast<std::int64_t>(properties.sharedMemPerMultiprocessor);
  card.bytes_per_second = bench::read_floor_tbs(session) * 1e12;
  const Buffer<std::uint32_t> next = chase(stream);
  Buffer<std::uint32_t> place(stream, 1);
  place.fill_zero();
  card.memory_latency = clocks_per_step(stream, [&](std::int64_t* clocks) {
    session.flush.fill_zero();  // no line that is visited is in a cache
    chase_kernel<<<1, 1, 0, stream.native()>>>(next.data(), place.data(), clocks);
  });
  const bool wide = dtype == DType::f64;
  card.arithmetic_latency = clocks_per_step(stream, [&](std::int64_t* clocks) {
    if (wide) {
      fma_chain_kernel<<<1, 1, 0, stream.native()>>>(0.0, clocks);
    } else {
      fma_chain_kernel<<<1, 1, 0, stream.native()>>>(0.0F, clocks);
    }
  });
  card.flops_per_second = bench::gpu::cuda_core_flops(stream, dtype);
  card.clock_hz = bench::gpu::sm_clock_mhz(stream) * 1e6;
  return card;
}

}  // namespace lanky::ladder
