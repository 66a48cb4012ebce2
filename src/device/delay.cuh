// Delays where blocks meet: a build with -DLANKY_DELAYS=ON tries the protocols between blocks in
// orders that undisturbed runs never take (tests/faults/protocols.cpp). Others have no code of it.
#pragma once

#include <cstdint>

namespace lanky::device {

#ifdef LANKY_DELAYS

/// Spins for a time that differs from warp to warp and from call to call: up to 255 cycles, and
/// each eighth time up to 16,383 of them, as long as a small product takes.
__device__ inline void delay() {
  std::uint32_t number = static_cast<std::uint32_t>(clock64()) + blockIdx.x * 0x9e3779b9U +
                         (blockIdx.y * 64 + threadIdx.x / 32) * 0x85ebca6bU;
  number ^= number >> 16U;
  number *= 0x7feb352dU;
  number ^= number >> 15U;
  number *= 0x846ca68bU;
  number ^= number >> 16U;
  const std::int64_t cycles = number >> (number % 8 == 0 ? 18U : 24U);
  const std::int64_t begin = clock64();
  while (clock64() - begin < cycles) {
  }
}

#else

__device__ inline void delay() {}

#endif

}  // namespace lanky::device
