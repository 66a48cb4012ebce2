// The GPU's wall clock (PTX ISA, %globaltimer): nanoseconds, in ticks of up to a microsecond.
#pragma once

#include <cstdint>

namespace lanky::device {

__device__ inline std::int64_t wall_clock_ns() {
  std::int64_t time;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(time));
  return time;
}

}  // namespace lanky::device
