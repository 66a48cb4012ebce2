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
  int whole;                    // steps whose slots are in lane order
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
/// The same where lengths differ, and each piece has a load of its own.
template <int kPieces>
inline constexpr int kRaggedSteps = 8 / kPieces;

/// Adds the products of `kSteps` steps after another to the sums of the lane's kPieces pieces.
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
    for (int k = 0; k < slice_.whole; k += kCount) {
      Steps<kCount> steps;
      if constexpr (kHasBases) load_bases(steps, k);
#pragma unroll
      for (int i = 0; i < kCount; ++i) {
        if constexpr (kKind != IndexKind::shared)
          device::load_stream_if(steps.index[i], indices() + slot_of(k + i), k + i < slice_.whole);
      }
#pragma unroll
      for (int i = 0; i < kCount; ++i)
        device::load_stream_if(steps.value[i], slice_.values + slot_of(k + i),
                               k + i < slice_.whole);
      multiply(steps, sums, [&](int i, int /*r*/) { return k + i < slice_.whole; });
    }
  }

  /// The steps from `whole` on, each of the pieces that reach it; lengths[r] is the length of the
  /// lane's piece r, 0 where there is none.
  __device__ void walk_ragged(Sum (&sums)[kPieces], const int (&lengths)[kPieces]) const {
    constexpr int kCount = kRaggedSteps<kPieces>;
    int slot = slice_.whole * slice_.width + lane_;  // of the lane's piece 0
    for (int k = slice_.whole; k < slice_.depth; k += kCount) {
      const auto exists = [&](int i, int r) { return k + i < lengths[r]; };
      int first[kCount];
#pragma unroll
      for (int i = 0; i < kCount; ++i) {
        first[i] = slot;
#pragma unroll
        for (int r = 0; r < kPieces; ++r)
          slot += __popc(__ballot_sync(kWholeWarp, exists(i, r)));
      }
      Steps<kCount> steps;
#pragma unroll
      for (int i = 0; i < kCount; ++i) {
        if constexpr (kHasBases)
          device::load_if(steps.base[i], slice_.bases + k + i, k + i < slice_.depth);
#pragma unroll
        for (int r = 0; r < kPieces; ++r) {
          if constexpr (kKind != IndexKind::shared)
            load_one(steps.index[i][r], indices() + first[i] + r * kLanes, exists(i, r));
        }
      }
#pragma unroll
      for (int i = 0; i < kCount; ++i) {
#pragma unroll
        for (int r = 0; r < kPieces; ++r)
          load_one(steps.value[i][r], slice_.values + first[i] + r * kLanes, exists(i, r));
      }
      multiply(steps, sums, exists);
    }
  }

 private:
  static constexpr bool kHasBases = kKind != IndexKind::absolute;

  /// What is loaded of kCount steps.
  template <int kCount>
  struct Steps {
    std::uint32_t base[kCount];
    Index index[kCount][kPieces];
    E value[kCount][kPieces];
  };

  /// Those of whole steps, in words of kBaseUnit; k is a multiple of it.
  template <int kCount>
  __device__ void load_bases(Steps<kCount>& steps, int k) const {
#pragma unroll
    for (int i = 0; i < kCount; i += kBaseUnit) {
      std::uint32_t word[kBaseUnit];
      device::load_stream_if(word, slice_.bases + k + i, k + i < slice_.whole);
      memcpy(steps.base + i, word, sizeof(word));
    }
  }

  /// The first of the lane's slots in whole step k.
  __device__ int slot_of(int k) const {
    return (k * kLanes + lane_) * kPieces;
  }

  template <class Word>
  static __device__ void load_one(Word& out, const Word* source, bool exists) {
    Word one[1];
    device::load_stream_if(one, source, exists);
    out = one[0];
  }

  __device__ const Index* indices() const {
    return reinterpret_cast<const Index*>(slice_.indices);
  }

  template <int kCount>
  __device__ std::uint32_t column(const Steps<kCount>& steps, int i, int r) const {
    if constexpr (kKind == IndexKind::absolute) return steps.index[i][r];
    if constexpr (kKind == IndexKind::shared) return steps.base[i] + shared_[r];
    return steps.base[i] + steps.index[i][r];
  }

  template <int kCount, class Exists>
  __device__ void multiply(const Steps<kCount>& steps, Sum (&sums)[kPieces], Exists exists) const {
    E factor[kCount][kPieces];
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
#pragma unroll
      for (int r = 0; r < kPieces; ++r)
        device::load_if(factor[i][r], x_ + column(steps, i, r), exists(i, r));
    }
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
#pragma unroll
      for (int r = 0; r < kPieces; ++r) {
        if (exists(i, r))
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
