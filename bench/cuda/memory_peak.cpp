// The peak of a GPU's memory, from what its driver says of it.
#include "bench/harness/memory_peak.hpp"

#include "bench/harness/gpu.hpp"
#include "core/cuda_check.hpp"

namespace lanky::bench::gpu {

namespace {

/// What the driver says of the device.
double reported(cudaDeviceAttr which, Device device) {
  int value = 0;
  check_cuda(cudaDeviceGetAttribute(&value, which, device.index()), "cudaDeviceGetAttribute");
  return value;
}

}  // namespace

MemoryPeak memory_peak(Device device) {
  constexpr double kBytesPerClock = 64;  // from the L2 into an SM
  const double clocks_per_us = reported(cudaDevAttrClockRate, device) / 1e3;           // of kHz
  const double transfers_per_us = reported(cudaDevAttrMemoryClockRate, device) / 500;  // two each
  const double bus_bytes = reported(cudaDevAttrGlobalMemoryBusWidth, device) / 8;
  return {.processors_bytes_per_us =
              reported(cudaDevAttrMultiProcessorCount, device) * kBytesPerClock * clocks_per_us,
          .memory_bytes_per_us = transfers_per_us * bus_bytes,
          .cache_bytes = static_cast<std::int64_t>(reported(cudaDevAttrL2CacheSize, device))};
}

}  // namespace lanky::bench::gpu
