// How fast a device can move data at the very most: the bound below which a time is no time of a
// product.
#pragma once

#include <cstdint>
#include <lanky/device.hpp>
#include <limits>

namespace lanky::bench {

struct MemoryPeak {
  double processors_bytes_per_us = std::numeric_limits<double>::infinity();  // into all of them
  double memory_bytes_per_us = std::numeric_limits<double>::infinity();      // into the last cache
  std::int64_t cache_bytes = 0;  // of that cache, which may hold them already

  /// Microseconds below which nothing reads or writes so many bytes, each once.
  double least_us(std::int64_t bytes) const;
};

/// Of a GPU from what its driver says: 64 bytes a clock from the L2 into each SM, two transfers a
/// clock over the width of the memory's bus. Of a CPU two 64-byte accesses a clock at 6 GHz, more
/// than any core's first cache gives, and no bound for its memory.
MemoryPeak memory_peak(Device device);

}  // namespace lanky::bench
