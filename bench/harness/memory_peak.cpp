#include "bench/harness/memory_peak.hpp"

#include <algorithm>
#include <thread>

#include "bench/harness/gpu.hpp"

namespace lanky::bench {

double MemoryPeak::least_us(std::int64_t bytes) const {
  const auto all = static_cast<double>(bytes);
  const auto uncached = static_cast<double>(std::max<std::int64_t>(0, bytes - cache_bytes));
  return std::max(all / processors_bytes_per_us, uncached / memory_bytes_per_us);
}

MemoryPeak memory_peak(Device device) {
  if (device.is_cuda()) return gpu::memory_peak(device);
  constexpr double kBytesPerClock = 128;
  constexpr double kClocksPerUs = 6000;
  const double threads = std::max(1U, std::thread::hardware_concurrency());
  return {.processors_bytes_per_us = threads * kBytesPerClock * kClocksPerUs};
}

}  // namespace lanky::bench
