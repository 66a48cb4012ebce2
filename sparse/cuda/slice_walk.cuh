// How a warp multiplies one slice on CUDA cores: lane l sums pieces l, l + 32, ... of the slice,
// step by step (docs/packed_format.md draws the slots).
#pragma once

#include <cstdint>

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

/// Steps that a warp has in flight. With 4 pieces a lane 8 steps had no registers left on an H200
/// and took 1.1 to 2 times as long as 4, 2 steps 1.02 to 1.2 times.
template <int kPieces>
inline constexpr int kWholeSteps = kPieces == 1 ? 8 : 4;

/// Adds products to the sums of the lane's kPieces pieces: 1, or kLanePiecesMost of a wide slice.
/// `x` stands in shared memory, from the window's first column on, for kind staged.
template <class E, int kPieces, IndexKind kKind>
class SliceWalk {
 public:
  using Sum = decltype(device::widen(E{}));
  using Index = typename IndexWordOf<kKind>::Type;

  __device__ SliceWalk(const SliceView<E>& slice, const E* x, int lane)
      : slice_(slice), x_(x), lane_(lane) {
    if constexpr (kKind == IndexKind::shared) {
#pragma unroll
      for (int r = 0; r < kPieces; ++r)
        device::load_if(shared_[r], indices() + r * kLanes + lane, r * kLanes + lane < slice.width);
    }
  }

  /// The steps that all pieces have.
  __device__ void walk_whole(Sum (&sums)[kPieces]) const {
    constexpr int kCount = kWholeSteps<kPieces>;
    const bool mine = kPieces > 1 || lane_ < slice_.width;
    for (int k = 0; k < slice_.shortest; k += kCount) {
      const auto exists = [&](int i) { return mine && k + i < slice_.shortest; };
      Steps<kCount> steps;
      if constexpr (kHasBases) load_bases(steps, k);
#pragma unroll
      for (int i = 0; i < kCount; ++i) {
        if constexpr (kKind != IndexKind::shared)
          device::load_stream_if(steps.index[i], indices() + slot_of(k + i), exists(i));
      }
#pragma unroll
      for (int i = 0; i < kCount; ++i)
        device::load_stream_if(steps.value[i], slice_.values + slot_of(k + i), exists(i));
      multiply(steps, sums, exists);
    }
  }

  /// The steps beyond those, each of the pieces that reach it; `length` is that of the lane's
  /// piece, 0 where there is none.
  __device__ void walk_ragged(Sum (&sums)[kPieces], int length) const {
    static_assert(kPieces == 1, "pieces of a wide slice are equally long");
    constexpr int kCount = kWholeSteps<kPieces>;
    int slot = slice_.shortest * slice_.width + lane_;
    for (int k = slice_.shortest / kBaseUnit * kBaseUnit; k < slice_.depth; k += kCount) {
      const auto exists = [&](int i) { return k + i >= slice_.shortest && k + i < length; };
      Steps<kCount> steps;
      if constexpr (kHasBases) load_bases(steps, k);
      int at[kCount];
#pragma unroll
      for (int i = 0; i < kCount; ++i) {
        at[i] = slot;
        slot += __popc(__ballot_sync(kWholeWarp, exists(i)));
        if constexpr (kKind != IndexKind::shared)
          device::load_stream_if(steps.index[i], indices() + at[i], exists(i));
      }
#pragma unroll
      for (int i = 0; i < kCount; ++i)
        device::load_stream_if(steps.value[i], slice_.values + at[i], exists(i));
      multiply(steps, sums, exists);
    }
  }

 private:
  static constexpr bool kHasBases = kKind != IndexKind::absolute && kKind != IndexKind::staged;

  /// What is loaded of kCount steps.
  template <int kCount>
  struct Steps {
    std::uint32_t base[kCount];
    Index index[kCount][kPieces];
    E value[kCount][kPieces];
  };

  /// The first of the lane's slots in step k, which all pieces have.
  __device__ int slot_of(int k) const {
    return k * slice_.width + lane_ * kPieces;
  }

  __device__ const Index* indices() const {
    return reinterpret_cast<const Index*>(slice_.indices);
  }

  /// In words; k is a multiple of kBaseUnit.
  template <int kCount>
  __device__ void load_bases(Steps<kCount>& steps, int k) const {
#pragma unroll
    for (int i = 0; i < kCount; i += kBaseUnit) {
      std::uint32_t word[kBaseUnit];
      device::load_stream_if(word, slice_.bases + k + i, k + i < slice_.depth);
      memcpy(steps.base + i, word, sizeof(word));
    }
  }

  template <int kCount>
  __device__ std::uint32_t column(const Steps<kCount>& steps, int i, int r) const {
    if constexpr (kKind == IndexKind::shared) return steps.base[i] + shared_[r];
    if constexpr (kKind == IndexKind::offset8 || kKind == IndexKind::offset16)
      return steps.base[i] + steps.index[i][r];
    return steps.index[i][r];
  }

  template <int kCount, class Exists>
  __device__ void multiply(const Steps<kCount>& steps, Sum (&sums)[kPieces], Exists exists) const {
    E factor[kCount][kPieces];
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
#pragma unroll
      for (int r = 0; r < kPieces; ++r) {
        if constexpr (kKind == IndexKind::staged) {
          factor[i][r] = E{};
          if (exists(i)) factor[i][r] = x_[column(steps, i, r)];
        } else {
          device::load_if(factor[i][r], x_ + column(steps, i, r), exists(i));
        }
      }
    }
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
#pragma unroll
      for (int r = 0; r < kPieces; ++r) {
        if (exists(i))
          sums[r] = fma(device::widen(steps.value[i][r]), device::widen(factor[i][r]), sums[r]);
      }
    }
  }

  SliceView<E> slice_;
  const E* x_;
  int lane_;
  std::uint16_t shared_[kPieces];  // kind shared: offsets of the lane's pieces
};

}  // namespace lanky::sparse::cuda
