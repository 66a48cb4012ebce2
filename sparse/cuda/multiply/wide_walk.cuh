// How a warp multiplies a wide slice on CUDA cores: lane l sums pieces l, l + 32, ..., whose values
// of a step are one word (docs/packed_format.md draws the slots); or several slices of few steps.
#pragma once

#include <cstdint>

#include "sparse/cuda/multiply/cells.cuh"
#include "sparse/cuda/multiply/decode.cuh"

namespace lanky::sparse::cuda {

/// A byte, times this, four times.
inline constexpr std::uint32_t kEachByte = 0x01010101U;

/// By how many steps each of the pieces 4 lane .. 4 lane + 3 of a slice is shorter than the slice
/// is deep, a byte each, for each lane: pieces that have the step before which so many are left.
__device__ inline int pieces_longer(std::uint32_t shorter, int left) {
  const unsigned longer = __vcmpltu4(shorter, static_cast<unsigned>(max(left, 0)) * kEachByte);
  return static_cast<int>(__reduce_add_sync(kAllLanes, __popc(longer)) / 8);
}

/// kCount steps of a wide slice: what the plan holds of them, and how they are multiplied.
template <class E, int kPieces, IndexKind kKind, int kCount>
struct WideSteps {
  StepCodes<kPieces, kKind> codes[kCount];
  E value[kCount][kPieces];

  /// factor = x of kAtOnce steps from `first` on, or of what is left of them; exists(i, r): whether
  /// piece r has step i.
  template <int kAtOnce, class Gather, class Exists>
  __device__ void gather(const Gather& gather, int first, Exists exists,
                         E (&factor)[kAtOnce][kPieces]) const {
    gather.template wait<kKind>();
#pragma unroll
    for (int i = first; i < first + kAtOnce && i < kCount; ++i) {
#pragma unroll
      for (int r = 0; r < kPieces; ++r)
        gather.template load<kKind>(factor[i - first][r], codes[i].column(r), codes[i].further(r),
                                    exists(i, r));
    }
  }

  /// Adds these steps to the cells of the lane's pieces.
  template <int kAtOnce>
  __device__ void add(int first, const E (&factor)[kAtOnce][kPieces],
                      Cell<E> (&cells)[kPieces]) const {
#pragma unroll
    for (int i = first; i < first + kAtOnce && i < kCount; ++i) {
#pragma unroll
      for (int r = 0; r < kPieces; ++r)
        cells[r].add(value[i][r], factor[i - first][r]);
    }
  }
};

/// What the plan holds of a wide slice, from some step on.
template <class E, int kPieces, IndexKind kKind>
class WideEntries {
 public:
  __device__ WideEntries(const SliceView<E>& slice, int lane)
      : columns_(slice, lane), values_(slice.values + lane * kPieces) {}

  /// exists(i): whether the slice has step i of these.
  template <int kCount, class Exists>
  __device__ void load(WideSteps<E, kPieces, kKind, kCount>& steps, Exists exists) const {
    columns_.load(steps.codes, exists);
#pragma unroll
    for (int i = 0; i < kCount; ++i)
      device::load_if<Stay::briefly>(steps.value[i], values_ + i * kPieces * kLanes, exists(i));
  }

  __device__ void advance(int steps) {
    columns_.advance(steps);
    values_ += steps * kPieces * kLanes;
  }

 private:
  WideColumns<kPieces, kKind> columns_;
  const E* values_;  // of the lane, in the next step
};

/// A wide slice, of kPieces pieces a lane. What is read for a piece that does not exist, of the
/// last slice of a window, leads to some column that does.
template <class E, int kPieces, IndexKind kKind>
class WideWalk {
 public:
  __device__ WideWalk(const SliceView<E>& slice, int lane)
      : entries_(slice, lane), left_(slice.depth) {}

  /// Adds to the cells of the lane's pieces. Not all of these have the last `ragged` steps; then
  /// shorter() is as above.
  template <class Gather, class Shorter>
  __device__ void add(const Gather& gather, int ragged, Shorter shorter,
                      Cell<E> (&cells)[kPieces]) {
    constexpr int kRest = Gather::kSpare ? kLastSteps : kSteps - 1;
    if (kWholeFirst || ragged == 0) {
      const int rest = ragged == 0 ? kRest : kSteps - 1;
      for (; left_ - ragged > rest; left_ -= kSteps)
        add_steps<kSteps>(gather, cells);
    }
    if constexpr (Gather::kRagged) {
      if (ragged != 0) return add_all_ragged(gather, shorter(), cells);
    }
    add_rest<kRest>(gather, cells);
  }

 private:
  // Steps whose gathers are in flight at once: 8 had no registers left on an H200 and took 1.1 to 2
  // times as long as 4, 2 took 1.02 to 1.2 times. What the plan holds of halves is small enough to
  // be loaded for twice as many, where it is no index.
  static constexpr int kGathers = 4;
  static constexpr int kSteps = sizeof(E) == 2 && is_repeated(kKind) ? 8 : 4;
  // Where not all pieces have the steps, fewer of these: registers, which the others lost to them.
  static constexpr int kRaggedSteps = sizeof(E) == 2 ? 4 : 2;
  // The last steps of stencils of floats at once. Doubles had no registers left.
  static constexpr int kLastSteps = sizeof(E) == 4 && is_repeated(kKind) ? 7 : kSteps - 1;
  static constexpr bool kWholeFirst = sizeof(E) > 2;  // steps of ragged slices

  /// The last steps, of which there are kMost or fewer.
  template <int kMost, class Gather>
  __device__ void add_rest(const Gather& gather, Cell<E> (&cells)[kPieces]) {
    if constexpr (kMost > 0) {
      if (left_ == kMost) return add_steps<kMost>(gather, cells);
      add_rest<kMost - 1>(gather, cells);
    }
  }

  template <class Gather>
  __device__ void add_all_ragged(const Gather& gather, std::uint32_t shorter,
                                 Cell<E> (&cells)[kPieces]) {
    for (; left_ > 0; left_ -= kRaggedSteps)
      add_ragged(gather, shorter, cells);
  }

  /// The next kCount steps, which all pieces have.
  template <int kCount, class Gather>
  __device__ void add_steps(const Gather& gather, Cell<E> (&cells)[kPieces]) {
    WideSteps<E, kPieces, kKind, kCount> steps;
    entries_.load(steps, [](int /*step*/) { return true; });
    __syncwarp();  // ptxas keeps the loads above it ahead of the gathers, which wait for some
#pragma unroll
    for (int first = 0; first < kCount; first += kGathers)
      multiply<kGathers>(
          steps, first, gather, [](int /*step*/, int /*r*/) { return true; }, cells);
    entries_.advance(kCount);
  }

  /// The next kRaggedSteps steps or what is left of them, which not all pieces have.
  template <class Gather>
  __device__ void add_ragged(const Gather& gather, std::uint32_t shorter,
                             Cell<E> (&cells)[kPieces]) {
    WideSteps<E, kPieces, kKind, kRaggedSteps> steps;
    entries_.load(steps, [&](int step) { return step < left_; });
    int end[kRaggedSteps];  // of the lane's pieces that have the step, from its first one
#pragma unroll
    for (int i = 0; i < kRaggedSteps; ++i)
      end[i] = pieces_longer(shorter, left_ - i) - lane_of_warp();
    __syncwarp();  // as above
    multiply<kRaggedSteps>(
        steps, 0, gather, [&](int step, int r) { return r * kLanes < end[step]; }, cells);
    entries_.advance(kRaggedSteps);
  }

  /// Adds kAtOnce steps. Where a piece has not all of them, zeros are multiplied.
  template <int kAtOnce, int kCount, class Gather, class Exists>
  __device__ void multiply(const WideSteps<E, kPieces, kKind, kCount>& steps, int first,
                           const Gather& gather, Exists exists, Cell<E> (&cells)[kPieces]) const {
    E factor[kAtOnce][kPieces];
    steps.gather(gather, first, exists, factor);
    steps.add(first, factor, cells);
  }

  WideEntries<E, kPieces, kKind> entries_;
  int left_;  // steps
};

/// Several wide slices of kDepth steps, which are all of theirs: as many loads in flight as of one
/// that is deep.
template <class E, int kPieces, IndexKind kKind, int kDepth>
class ShallowWalk {
 public:
  static constexpr int kSlices = 4 / kDepth;

  /// Slice j of them.
  __device__ void load(int j, const SliceView<E>& slice, int lane) {
    WideEntries<E, kPieces, kKind>(slice, lane).load(steps_[j], [](int /*step*/) { return true; });
  }

  /// cells[j] = those of slice j's pieces.
  template <class Gather>
  __device__ void multiply(const Gather& gather, Cell<E> (&cells)[kSlices][kPieces]) const {
    E factor[kSlices][kDepth][kPieces];
    __syncwarp();  // as in WideWalk
#pragma unroll
    for (int j = 0; j < kSlices; ++j)
      steps_[j].gather(
          gather, 0, [](int /*step*/, int /*r*/) { return true; }, factor[j]);
#pragma unroll
    for (int j = 0; j < kSlices; ++j) {
#pragma unroll
      for (Cell<E>& cell : cells[j])
        cell = {};
      steps_[j].add(0, factor[j], cells[j]);
    }
  }

 private:
  WideSteps<E, kPieces, kKind, kDepth> steps_[kSlices];
};

}  // namespace lanky::sparse::cuda
