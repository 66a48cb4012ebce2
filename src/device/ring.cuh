// A ring of slots in shared memory that some warps fill and others read, by asynchronous copies and
// mbarriers. Slot s is filled when all arrivals and bytes have come to full[s]; every warp
// that reads it arrives at empty[s] when it is through. Whoever meets the slots in one order needs
// no more than its place among them.
#pragma once

#include "device/mbarrier.cuh"

namespace lanky::device {

/// The slot that comes next, and the parity of the phase in which it is filled.
struct RingPlace {
  int slot = 0;
  unsigned parity = 0;

  /// by <= slots.
  __device__ void advance(int by, int slots) {
    slot += by;
    if (slot < slots) return;
    slot -= slots;
    parity ^= 1U;
  }
};

/// Plan: has `stages`, the number of slots, and `slot_bytes`. It is looked at anew for every slot:
/// a kernel argument or a constant then takes no register.
template <class Plan>
struct Ring {
  const Plan& plan;
  char* slots;      // [plan.stages][plan.slot_bytes]
  Mbarrier* full;   // [plan.stages]
  Mbarrier* empty;  // [plan.stages]

  /// By one thread, ahead of a barrier of the block: so many arrivals fill a slot, so many warps
  /// read it.
  __device__ void init(int fills, int readers) const {
    for (int s = 0; s < plan.stages; ++s) {
      mbarrier_init(full + s, static_cast<unsigned>(fills));
      mbarrier_init(empty + s, static_cast<unsigned>(readers));
    }
    publish_mbarriers();
  }

  __device__ char* slot(const RingPlace& place) const {
    return slots + place.slot * plan.slot_bytes;
  }

  /// Who fills: waits until nobody reads the slot any more; returns the barrier that its bytes are
  /// credited to.
  __device__ Mbarrier* wait_until_read(const RingPlace& place) const {
    mbarrier_wait(empty + place.slot, place.parity ^ 1U);
    return full + place.slot;
  }
  /// Who reads, a warp: waits until the slot is filled.
  __device__ void wait_until_filled(const RingPlace& place) const {
    mbarrier_wait(full + place.slot, place.parity);
  }
  /// The warp is through with the slot.
  __device__ void give_back(int slot, int lane) const {
    end_reads_before_copies();
    __syncwarp();  // all lanes have read it
    if (lane == 0) mbarrier_arrive(empty + slot);
  }
  __device__ void advance(RingPlace& place, int step) const { place.advance(step, plan.stages); }
};

}  // namespace lanky::device
