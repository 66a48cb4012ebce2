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

/// Steps of a slice that is not wide in flight: as many as there are registers for.
template <class E, bool kShort>
inline constexpr int kStepsAtOnce = sizeof(E) == 16             ? 4
                                    : sizeof(E) == 8 && !kShort ? 6
                                                                : 8;

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
  /// Where `other` stands.
  template <class Other>
  __device__ NarrowWalk(const NarrowWalk<E, Other>& other, Kind kind)
      : slice_(other.slice_),
        kind_(kind),
        lane_(other.lane_),
        length_(other.length_),
        slot_(other.slot_),
        step_(other.step_),
        shift_(other.shift_) {}

  /// Whether steps are left.
  __device__ bool goes_on() const { return step_ < slice_.depth; }

  /// Adds the next steps to the sum of the lane's piece. ready() is called before x is read, when
  /// the rest is loaded.
  template <class Ready>
  __device__ void add(const Factors<E>& factors, Sum& sum, Ready ready) {
    Steps steps;
    load(step_, steps);
    ready();
    multiply(step_, steps, factors, sum);
    step_ += kSteps;
  }

 private:
  template <class OtherE, class Other>
  friend class NarrowWalk;

  static constexpr bool kShort = std::is_same_v<Kind, IndexKind>;
  static constexpr int kSteps = kStepsAtOnce<E, kShort>;

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
  int slot_;             // of the lane in the next step
  int step_ = 0;         // the next one
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

  __device__ WideWalk(const SliceView<E>& slice, int lane)
      : values_(slice.values + lane * kPieces),
        indices_(reinterpret_cast<const Index*>(slice.indices) + lane * kPieces),
        bases_(slice.bases),
        left_(slice.depth) {
    if constexpr (kKind == IndexKind::shared) {
      const auto* const offsets = reinterpret_cast<const Index*>(slice.indices) + lane;
#pragma unroll
      for (int r = 0; r < kPieces; ++r)
        offset_[r] = __ldg(offsets + r * kLanes);
    }
  }

  /// Adds to the sums of the lane's pieces.
  __device__ void add(const Factors<E>& factors, Sum (&sums)[kPieces]) {
    for (; left_ >= kSteps; left_ -= kSteps)
      add_steps<kSteps>(factors, sums);
    switch (left_) {
      case 3:
        return add_steps<3>(factors, sums);
      case 2:
        return add_steps<2>(factors, sums);
      case 1:
        return add_steps<1>(factors, sums);
      default:
        break;
    }
  }

 private:
  // In flight: 8 had no registers left on an H200 and took 1.1 to 2 times as long as 4, 2 took
  // 1.02 to 1.2 times.
  static constexpr int kSteps = 4;
  static constexpr int kWidth = kPieces * kLanes;
  using Index = typename IndexWordOf<kKind>::Type;

  /// The next kCount steps.
  template <int kCount>
  __device__ void add_steps(const Factors<E>& factors, Sum (&sums)[kPieces]) {
    std::uint32_t base[kBaseUnit];
    Index index[kCount][kPieces];
    E value[kCount][kPieces];
    E factor[kCount][kPieces];
    static_assert(kSteps == kBaseUnit);
    if constexpr (has_bases(kKind)) device::load_stream_if(base, bases_, true);
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      if constexpr (kKind == IndexKind::shared) {
        memcpy(index[i], offset_, sizeof(offset_));
      } else {
        device::load_stream_if(index[i], indices_ + i * kWidth, true);
      }
    }
#pragma unroll
    for (int i = 0; i < kCount; ++i)
      device::load_stream_if(value[i], values_ + i * kWidth, true);
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
#pragma unroll
      for (int r = 0; r < kPieces; ++r) {
        if constexpr (kKind == IndexKind::staged) {
          factor[i][r] = factors.staged[index[i][r]];
        } else {
          std::uint32_t column = index[i][r];
          if constexpr (has_bases(kKind)) column += base[i];
          device::load_if(factor[i][r], factors.x + column, true);
        }
      }
    }
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
#pragma unroll
      for (int r = 0; r < kPieces; ++r)
        sums[r] = fma(device::widen(value[i][r]), device::widen(factor[i][r]), sums[r]);
    }
    bases_ += kCount;
    indices_ += kCount * kWidth;
    values_ += kCount * kWidth;
  }

  const E* values_;                // of the lane, in the next step
  const Index* indices_;           // likewise
  const std::uint32_t* bases_;     // of the next step
  int left_;                       // steps
  std::uint16_t offset_[kPieces];  // kind shared: of the lane's pieces
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
