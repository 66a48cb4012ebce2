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

/// factor = x of kAtOnce steps from `first` on, or of what is left of them; exists(i, r): whether
/// piece r has step i.
template <int kAtOnce, class V, class E, int kPieces, IndexKind kKind, int kCount, class Gather,
          class Exists>
__device__ void gather_steps(const StepEntries<V, kPieces, kKind, kCount>& steps, int first,
                             const Gather& gather, Exists exists, E (&factor)[kAtOnce][kPieces]) {
  gather.template wait<kKind>();
#pragma unroll
  for (int i = first; i < first + kAtOnce && i < kCount; ++i) {
    const auto& codes = steps.codes[i];
#pragma unroll
    for (int r = 0; r < kPieces; ++r)
      gather.template load<kKind>(factor[i - first][r], codes.column(r), codes.further(r),
                                  exists(i, r));
  }
}

/// Adds the same steps to the cells of the lane's pieces.
template <int kAtOnce, class V, class E, int kPieces, IndexKind kKind, int kCount>
__device__ void add_steps(const StepEntries<V, kPieces, kKind, kCount>& steps, int first,
                          const E (&factor)[kAtOnce][kPieces], Cell<E> (&cells)[kPieces]) {
#pragma unroll
  for (int i = first; i < first + kAtOnce && i < kCount; ++i) {
#pragma unroll
    for (int r = 0; r < kPieces; ++r)
      cells[r].add(steps.values[i][r], factor[i - first][r]);
  }
}

/// Steps of a wide slice that are multiplied at once where not all pieces have them: registers,
/// which more of them lost to.
template <class E>
inline constexpr int kRaggedSteps = sizeof(E) == 2 ? 4 : 2;

/// A wide slice, of kPieces pieces a lane. What is read for a piece that does not exist, of the
/// last slice of a window, leads to some column that does. E: of x, or of a few columns of X.
template <class E, int kPieces, IndexKind kKind>
class WideWalk {
 public:
  using Value = device::MatrixElement<E>;

  __device__ WideWalk(const SliceView<Value>& slice, int lane)
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
        add_whole<kSteps>(gather, cells);
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
  static constexpr int kGathers = device::kColumnsOf<E> > 4 ? 1 : 4 / device::kColumnsOf<E>;
  static constexpr int kSteps = sizeof(E) == 2 && is_repeated(kKind) ? 8 : 4;
  static constexpr int kRaggedSteps = cuda::kRaggedSteps<Value>;
  // The last steps of stencils of floats at once. Doubles had no registers left.
  static constexpr int kLastSteps = sizeof(E) == 4 && is_repeated(kKind) ? 7 : kSteps - 1;
  static constexpr bool kWholeFirst = sizeof(Value) > 2;  // steps of ragged slices

  /// The last steps, of which there are kMost or fewer.
  template <int kMost, class Gather>
  __device__ void add_rest(const Gather& gather, Cell<E> (&cells)[kPieces]) {
    if constexpr (kMost > 0) {
      if (left_ == kMost) return add_whole<kMost>(gather, cells);
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
  __device__ void add_whole(const Gather& gather, Cell<E> (&cells)[kPieces]) {
    StepEntries<Value, kPieces, kKind, kCount> steps;
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
    StepEntries<Value, kPieces, kKind, kRaggedSteps> steps;
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
  __device__ void multiply(const StepEntries<Value, kPieces, kKind, kCount>& steps, int first,
                           const Gather& gather, Exists exists, Cell<E> (&cells)[kPieces]) const {
    E factor[kAtOnce][kPieces];
    gather_steps(steps, first, gather, exists, factor);
    add_steps(steps, first, factor, cells);
  }

  WideEntries<Value, kPieces, kKind> entries_;
  int left_;  // steps
};

/// Several wide slices of kDepth steps, which are all of theirs: as many gathers in flight as of
/// one that is deep. cells[j]: of slice j's pieces.
template <class E, int kPieces, IndexKind kKind, int kDepth, int kSlices, class Gather>
__device__ void multiply_shallow(const StepEntries<E, kPieces, kKind, kDepth> (&slices)[kSlices],
                                 const Gather& gather, Cell<E> (&cells)[kSlices][kPieces]) {
  E factor[kSlices][kDepth][kPieces];
  __syncwarp();  // as in WideWalk
#pragma unroll
  for (int j = 0; j < kSlices; ++j)
    gather_steps(
        slices[j], 0, gather, [](int /*step*/, int /*r*/) { return true; }, factor[j]);
#pragma unroll
  for (int j = 0; j < kSlices; ++j)
    add_steps(slices[j], 0, factor[j], cells[j]);
}

}  // namespace lanky::sparse::cuda
