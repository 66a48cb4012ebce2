// Counters of arriving blocks in device memory (PTX ISA, atom; sm_70).
#pragma once

#include "device/delay.cuh"

namespace lanky::device {

/// True for the last of `count` arrivals, to which all is visible that the others saw written
/// before they arrived (their blocks', if a barrier stands before it); `arrivals` is zero again.
__device__ inline bool arrive_at(unsigned* arrivals, unsigned count) {
  delay();
  unsigned before;
  asm volatile("atom.acq_rel.gpu.global.inc.u32 %0, [%1], %2;"
               : "=r"(before)
               : "l"(arrivals), "r"(count - 1)
               : "memory");
  delay();
  return before == count - 1;
}

}  // namespace lanky::device
