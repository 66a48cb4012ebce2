// How a warp multiplies one slice on CUDA cores: lane l sums pieces l, l + 32, ... of the slice,
// step by step (docs/packed_format.md draws the slots). What the plan holds of several steps is
// loaded before the first of it is used, and the gathers from x likewise.
#pragma once

#include <cstdint>
#include <type_traits>

#include "device/element.cuh"
#include "device/guarded_load.cuh"
#include "sparse/packed.hpp"

namespace lanky::sparse::cuda {

inline constexpr unsigned kWholeWarp = 0xffffffffU;

/// A slice as a warp sees it.
template <class E>
struct SliceView {
  const E* values;              // by slots
  const std::uint8_t* indices;  // by slots (shared: by pieces)
  const std::uint32_t* bases;   // by steps
  int width;                    // pieces
  int depth;                    // steps
  int shortest;                 // steps that all pieces have
};

/// What a slice is multiplied by.
template <class E>
struct Factors {
  const E* x;
  const E* staged;  // the part of x that the window staged in shared memory
};

/// A slice of up to kLanes pieces. Kind: IndexKind, for short code, or a constant, for fewer
/// registers.
template <class E, class Kind>
class NarrowWalk {
 public:
  using Sum = decltype(device::widen(E{}));

  /// `length`: of the lane's piece, 0 where there is none.
  __device__ NarrowWalk(const SliceView<E>& slice, Kind kind, int lane, int length)
      : slice_(slice), kind_(kind), lane_(lane), length_(length), slot_(lane) {
    device::load_stream_widened_if(shift_, indices<std::uint16_t>() + lane,
                                   kind == IndexKind::shared && length > 0);
  }

  /// Of the lane's piece. ready() is called before x is read, when the first steps are loaded.
  template <class Ready>
  __device__ Sum sum(const Factors<E>& factors, Ready ready) {
    Sum sum{0};
    int k = 0;
    do {
      Steps steps;
      load(k, steps);
      if (k == 0) ready();
      multiply(k, steps, factors, sum);
      k += kSteps;
    } while (k < slice_.depth);
    return sum;
  }

 private:
  static constexpr bool kShort = std::is_same_v<Kind, IndexKind>;
  // In flight: as many as there are registers for.
  static constexpr int kSteps = sizeof(E) < 8 || (kShort && sizeof(E) == 8) ? 8
                                : sizeof(E) == 8                            ? 6
                                                                            : 4;

  /// What is loaded of kSteps steps.
  struct Steps {
    std::uint32_t column[kSteps];
    E value[kSteps];
  };

  template <class Index>
  __device__ const Index* indices() const {
    return reinterpret_cast<const Index*>(slice_.indices);
  }

  __device__ bool exists(int step) const { return step < length_; }

  __device__ void load(int k, Steps& steps) {
    std::uint32_t base = 0;  // of step k + lane_
    if (has_bases(kind_)) {
      device::load_stream_widened_if(base, slice_.bases + k + lane_,
                                     lane_ < kSteps && k + lane_ < slice_.depth);
    }
    load_entries(k, steps);
    if (!kShort && !has_bases(kind_)) return;
#pragma unroll
    for (int i = 0; i < kSteps; ++i)
      steps.column[i] += __shfl_sync(kWholeWarp, base, i);
  }

  /// Values, and columns less their bases.
  __device__ void load_entries(int k, Steps& steps) {
    switch (kind_) {
      case IndexKind::shared:
#pragma unroll
        for (int i = 0; i < kSteps; ++i)
          steps.column[i] = shift_;
        return load_steps(k, steps, [](int /*slot*/, int /*i*/, bool /*exists*/) {});
      case IndexKind::offset8:
        return load_with<std::uint8_t>(k, steps);
      case IndexKind::staged:
      case IndexKind::offset16:
        return load_with<std::uint16_t>(k, steps);
      case IndexKind::absolute:
        return load_with<std::uint32_t>(k, steps);
    }
  }

  template <class Index>
  __device__ void load_with(int k, Steps& steps) {
    load_steps(k, steps, [&](int slot, int i, bool exists) {
      device::load_stream_widened_if(steps.column[i], indices<Index>() + slot, exists);
    });
  }

  /// Values, after load_index(slot, i, exists) of the same step.
  template <class LoadIndex>
  __device__ void load_steps(int k, Steps& steps, LoadIndex load_index) {
    const auto load_step = [&](int i, int slot) {
      E value[1];
      load_index(slot, i, exists(k + i));
      device::load_stream_if(value, slice_.values + slot, exists(k + i));
      steps.value[i] = value[0];
    };
    if (!kShort && k + kSteps <= slice_.shortest) {
#pragma unroll
      for (int i = 0; i < kSteps; ++i)
        load_step(i, slot_ + i * slice_.width);
      slot_ += kSteps * slice_.width;
    } else {
#pragma unroll
      for (int i = 0; i < kSteps; ++i) {
        load_step(i, slot_);
        slot_ += __popc(__ballot_sync(kWholeWarp, exists(k + i)));
      }
    }
  }

  __device__ void multiply(int k, const Steps& steps, const Factors<E>& factors, Sum& sum) const {
    E factor[kSteps];
    if (kind_ == IndexKind::staged) {
#pragma unroll
      for (int i = 0; i < kSteps; ++i)
        factor[i] = exists(k + i) ? factors.staged[steps.column[i]] : E{};
    } else {
#pragma unroll
      for (int i = 0; i < kSteps; ++i)
        device::load_if(factor[i], factors.x + steps.column[i], exists(k + i));
    }
#pragma unroll
    for (int i = 0; i < kSteps; ++i) {
      if (exists(k + i)) sum = fma(device::widen(steps.value[i]), device::widen(factor[i]), sum);
    }
  }

  SliceView<E> slice_;
  Kind kind_;
  int lane_;
  int length_;
  int slot_;             // of the lane in the next step to be loaded
  std::uint32_t shift_;  // kind shared: the offset of the lane's piece
};

template <IndexKind kKind>
struct IndexWordOf {
  using Type = std::uint16_t;
};
template <>
struct IndexWordOf<IndexKind::offset8> {
  using Type = std::uint8_t;
};
template <>
struct IndexWordOf<IndexKind::absolute> {
  using Type = std::uint32_t;
};

/// A wide slice, of kPieces pieces a lane.
template <class E, int kPieces, IndexKind kKind>
class WideWalk {
 public:
  using Sum = decltype(device::widen(E{}));
  using Index = typename IndexWordOf<kKind>::Type;

  __device__ WideWalk(const SliceView<E>& slice, int lane) : slice_(slice), lane_(lane) {
    if constexpr (kKind == IndexKind::shared) {
#pragma unroll
      for (int r = 0; r < kPieces; ++r)
        shift_[r] = __ldg(indices() + r * kLanes + lane);
    }
  }

  /// Adds to the sums of the lane's pieces.
  __device__ void add(const Factors<E>& factors, Sum (&sums)[kPieces]) const {
    for (int k = 0; k < slice_.depth; k += kSteps) {
      const auto exists = [&](int i) { return k + i < slice_.depth; };
      Steps steps;
      if constexpr (has_bases(kKind)) load_bases(steps, k);
#pragma unroll
      for (int i = 0; i < kSteps; ++i) {
        if constexpr (kKind != IndexKind::shared)
          device::load_stream_if(steps.index[i], indices() + slot_of(k + i), exists(i));
      }
#pragma unroll
      for (int i = 0; i < kSteps; ++i)
        device::load_stream_if(steps.value[i], slice_.values + slot_of(k + i), exists(i));
      multiply(steps, factors, sums, exists);
    }
  }

 private:
  // In flight: 8 had no registers left on an H200 and took 1.1 to 2 times as long as 4, 2 took
  // 1.02 to 1.2 times.
  static constexpr int kSteps = 4;

  /// What is loaded of kSteps steps.
  struct Steps {
    std::uint32_t base[kSteps];
    Index index[kSteps][kPieces];
    E value[kSteps][kPieces];
  };

  /// The first of the lane's slots in step k.
  __device__ int slot_of(int k) const {
    return k * slice_.width + lane_ * kPieces;
  }

  __device__ const Index* indices() const {
    return reinterpret_cast<const Index*>(slice_.indices);
  }

  /// In a word; k is a multiple of kBaseUnit.
  __device__ void load_bases(Steps& steps, int k) const {
    static_assert(kSteps == kBaseUnit);
    device::load_stream_if(steps.base, slice_.bases + k, true);
  }

  __device__ std::uint32_t column(const Steps& steps, int i, int r) const {
    if constexpr (kKind == IndexKind::shared) return steps.base[i] + shift_[r];
    if constexpr (kKind == IndexKind::offset8 || kKind == IndexKind::offset16)
      return steps.base[i] + steps.index[i][r];
    return steps.index[i][r];
  }

  template <class Exists>
  __device__ void multiply(const Steps& steps, const Factors<E>& factors, Sum (&sums)[kPieces],
                           Exists exists) const {
    E factor[kSteps][kPieces];
#pragma unroll
    for (int i = 0; i < kSteps; ++i) {
#pragma unroll
      for (int r = 0; r < kPieces; ++r) {
        if constexpr (kKind == IndexKind::staged) {
          factor[i][r] = exists(i) ? factors.staged[column(steps, i, r)] : E{};
        } else {
          device::load_if(factor[i][r], factors.x + column(steps, i, r), exists(i));
        }
      }
    }
#pragma unroll
    for (int i = 0; i < kSteps; ++i) {
#pragma unroll
      for (int r = 0; r < kPieces; ++r) {
        if (exists(i))
          sums[r] = fma(device::widen(steps.value[i][r]), device::widen(factor[i][r]), sums[r]);
      }
    }
  }

  SliceView<E> slice_;
  int lane_;
  std::uint16_t shift_[kPieces];  // kind shared: offsets of the lane's pieces
};

/// Several wide slices of kDepth steps, which are all of theirs: as many loads in flight as of one
/// that is deep.
template <class E, int kPieces, IndexKind kKind, int kDepth>
class ShallowWalk {
 public:
  using Sum = decltype(device::widen(E{}));
  static constexpr int kSlices = 4 / kDepth;

  /// Slice j of them; there is none where its width is 0.
  __device__ void load(int j, const SliceView<E>& slice, int lane) {
    const auto* const indices = reinterpret_cast<const Index*>(slice.indices);
    const bool exists = slice.width > 0;
#pragma unroll
    for (int k = 0; k < kDepth; ++k) {
      const int slot = (k * kLanes + lane) * kPieces;
      base_[j][k] = 0;
      if constexpr (has_bases(kKind))
        device::load_stream_widened_if(base_[j][k], slice.bases + k, exists);
      device::load_stream_if(index_[j][k], indices + slot, exists);
      device::load_stream_if(value_[j][k], slice.values + slot, exists);
    }
  }

  /// leave(j, sums) for each slice j that exists(j), with those of the lane's pieces.
  template <class Exists, class Leave>
  __device__ void multiply(const Factors<E>& factors, Exists exists, Leave leave) const {
    E factor[kSlices][kDepth][kPieces];
#pragma unroll
    for (int j = 0; j < kSlices; ++j) {
#pragma unroll
      for (int i = 0; i < kDepth * kPieces; ++i) {
        const int k = i / kPieces;
        const int r = i % kPieces;
        if constexpr (kKind == IndexKind::staged) {
          factor[j][k][r] = exists(j) ? factors.staged[index_[j][k][r]] : E{};
        } else {
          device::load_if(factor[j][k][r], factors.x + (base_[j][k] + index_[j][k][r]), exists(j));
        }
      }
    }
#pragma unroll
    for (int j = 0; j < kSlices; ++j) {
      Sum sums[kPieces];
#pragma unroll
      for (int r = 0; r < kPieces; ++r) {
        sums[r] = Sum{0};
#pragma unroll
        for (int k = 0; k < kDepth; ++k)
          sums[r] = fma(device::widen(value_[j][k][r]), device::widen(factor[j][k][r]), sums[r]);
      }
      if (exists(j)) leave(j, sums);
    }
  }

 private:
  using Index = typename IndexWordOf<kKind>::Type;

  std::uint32_t base_[kSlices][kDepth];
  Index index_[kSlices][kDepth][kPieces];
  E value_[kSlices][kDepth][kPieces];
};

}  // namespace lanky::sparse::cuda
