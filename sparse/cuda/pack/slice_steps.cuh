// A warp goes through a slice step by step, from CSR entries to slots: each lane reads along its
// pieces, kBatchSteps entries at a time, and the warp writes the slots of a step side by side.
#pragma once

#include "device/memory.cuh"
#include "sparse/cuda/warp.cuh"
#include "sparse/packed.hpp"

namespace lanky::sparse::cuda {

/// The pieces of a slice that a lane has: pieces lane, lane + 32, ... of the slice, which is wide
/// where a lane has several.
template <int kPieces>
struct LanePieces {
  std::uint32_t entries[kPieces];  // first entry of each, from the window's
  std::uint32_t strides[kPieces];  // from entry to entry
  int lengths[kPieces];            // 0 where there is no piece
  int width;                       // of the slice
  int depth;

  /// The slice's entries.
  __device__ unsigned entries_of_slice() const {
    unsigned sum = 0;
#pragma unroll
    for (const int length : lengths)
      sum += static_cast<unsigned>(length);
    return __reduce_add_sync(kAllLanes, sum);
  }
  /// The slice's slots.
  __device__ unsigned slots_of_slice() const {
    return kPieces > 1 ? static_cast<unsigned>(depth * kLanes * kPieces) : entries_of_slice();
  }
};

/// The lane's pieces of a slice, piece i of which is cell_of(i). `tables` tell of each cell of the
/// window its first entry, the stride to the next one, and how many it has.
template <int kPieces, class Tables, class CellOf>
__device__ LanePieces<kPieces> lane_pieces(const Tables& tables, int width, int depth,
                                           CellOf cell_of) {
  LanePieces<kPieces> pieces;
  pieces.width = width;
  pieces.depth = depth;
#pragma unroll
  for (int r = 0; r < kPieces; ++r) {
    const int i = r * kLanes + lane_of_warp();
    const bool exists = i < width;
    const int cell = exists ? cell_of(i) : 0;
    pieces.entries[r] = tables.entries[cell];
    pieces.strides[r] = tables.stride(cell);
    pieces.lengths[r] = exists ? tables.lengths[cell] : 0;
  }
  return pieces;
}

/// visit(step, entries) for each step of the slice by the whole warp: entries[r] is that of the
/// lane's piece r, if it is longer than `step`. `source` is that of the window's first entry.
template <int kPieces, class E, class Visit>
__device__ void for_each_step(const LanePieces<kPieces>& pieces, const E* source, Visit visit) {
  // Loads in flight. The rest of a sector of 32 bytes is read while the first cache has it: by the
  // lane's next steps or, of a cut row, by the lanes and warps that have its other pieces.
  constexpr int kBatchSteps = 4;
  for (int first = 0; first < pieces.depth; first += kBatchSteps) {
    E entries[kBatchSteps][kPieces];
#pragma unroll
    for (int i = 0; i < kBatchSteps; ++i) {
#pragma unroll
      for (int r = 0; r < kPieces; ++r) {
        if (first + i < pieces.lengths[r])
          entries[i][r] = __ldg(source + (pieces.entries[r] + (first + i) * pieces.strides[r]));
      }
    }
#pragma unroll
    for (int i = 0; i < kBatchSteps; ++i) {
      if (first + i < pieces.depth) visit(first + i, entries[i]);
    }
  }
}

/// Writes one array of a slice, step after step.
template <int kPieces, class E>
class SlotWriter {
 public:
  /// `slots` is the slice's first, aligned to kPieces elements.
  __device__ SlotWriter(const LanePieces<kPieces>& pieces, E* slots)
      : pieces_(pieces), slots_(slots) {}

  __device__ void store(int step, const E (&entries)[kPieces]) {
    const int lane = lane_of_warp();
    if constexpr (kPieces > 1) {
      E word[kPieces];
#pragma unroll
      for (int r = 0; r < kPieces; ++r)
        word[r] = step < pieces_.lengths[r] ? entries[r] : E{};
      device::store_streaming(slots_ + lane * kPieces, word);
      slots_ += kLanes * kPieces;
    } else {
      const bool active = step < pieces_.lengths[0];
      if (active) slots_[lane] = entries[0];
      slots_ += __popc(__ballot_sync(kAllLanes, active));
    }
  }

  /// Zeros from the last slot on to `end`, once all steps are stored.
  __device__ void pad(const E* end) const {
    for (E* slot = slots_ + lane_of_warp(); slot < end; slot += kLanes)
      *slot = E{};
  }

 private:
  const LanePieces<kPieces>& pieces_;
  E* slots_;  // of the next step
};

}  // namespace lanky::sparse::cuda
