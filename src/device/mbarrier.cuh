// Barriers in shared memory for producers and consumers (PTX ISA, mbarrier). A barrier completes a
// phase when all its arrivals, and all bytes that were announced to it (sm_90), have come; phases
// alternate in parity, the first is 0.
#pragma once

#include <cstdint>

#include "device/code.cuh"

namespace lanky::device {

using Mbarrier = std::uint64_t;

__device__ inline std::uint32_t shared_address(const void* pointer) {
  return static_cast<std::uint32_t>(__cvta_generic_to_shared(pointer));
}

__device__ inline void mbarrier_init(Mbarrier* barrier, unsigned arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(barrier)),
               "r"(arrivals)
               : "memory");
}

/// Lets bulk copies see the barriers that this thread has initialized; for other threads a
/// block-wide barrier must follow.
__device__ inline void publish_mbarriers() {
  if constexpr (kBulkCopies) asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

__device__ inline void mbarrier_arrive(Mbarrier* barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_address(barrier))
               : "memory");
}

/// What this thread has read of shared memory stays read when bulk copies that it lets go ahead
/// overwrite it: an arrival alone overtakes loads that wait for their turn.
__device__ inline void end_reads_before_copies() {
  if constexpr (kBulkCopies) asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

/// Arrives and announces `bytes` of bulk copies.
__device__ inline void mbarrier_arrive_expecting(Mbarrier* barrier, unsigned bytes) {
  if constexpr (kBulkCopies) {
    asm volatile(
        "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(barrier)),
        "r"(bytes)
        : "memory");
  } else {
    mbarrier_arrive(barrier);
  }
}

/// Until the phase of this parity is complete. From sm_90 on a thread sleeps meanwhile.
__device__ inline void mbarrier_wait(Mbarrier* barrier, unsigned parity) {
  if constexpr (kBulkCopies) {
    asm volatile(
        "{\n"
        ".reg .pred done;\n"
        "again:\n"
        "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
        "@!done bra again;\n"
        "}\n" ::"r"(shared_address(barrier)),
        "r"(parity)
        : "memory");
  } else {
    asm volatile(
        "{\n"
        ".reg .pred done;\n"
        "again:\n"
        "mbarrier.test_wait.parity.shared::cta.b64 done, [%0], %1;\n"
        "@!done bra again;\n"
        "}\n" ::"r"(shared_address(barrier)),
        "r"(parity)
        : "memory");
  }
}

}  // namespace lanky::device
