// Warps with different roles in a block: registers move from those that copy to those that compute
// (PTX ISA, setmaxnreg; sm_90a), and some of the warps meet at a barrier of their own.
#pragma once

#include "device/code.cuh"

namespace lanky::device {

/// A warp group (four warps, the first a multiple of four) keeps this many registers a thread.
/// Other architectures do without.
template <int kRegisters>
__device__ void keep_registers() {
  if constexpr (kWarpGroups) asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(kRegisters));
}
/// A warp group waits until it has this many registers a thread.
template <int kRegisters>
__device__ void take_registers() {
  if constexpr (kWarpGroups) asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(kRegisters));
}

/// Registers a thread that `takers` threads of a block can take when `givers` keep `kept` each. All
/// have equally many at first, as a block has the multiprocessor to itself; they come in eights.
constexpr int registers_to_take(int takers, int givers, int kept) {
  const int at_first = (1 << 16) / (takers + givers) / 8 * 8;
  return (at_first * (takers + givers) - kept * givers) / takers / 8 * 8;
}

/// Barrier `number` (1 to 15) of `threads` threads, whole warps.
__device__ inline void warps_barrier(int number, int threads) {
  asm volatile("barrier.sync.aligned %0, %1;" ::"r"(number), "r"(threads) : "memory");
}

}  // namespace lanky::device
