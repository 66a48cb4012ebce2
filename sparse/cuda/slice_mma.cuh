// How a warp multiplies one slice on tensor cores: for each 8 pieces, fragments a[8,D] of their
// entries and b[D,8] of the x that they meet, D steps deep; the diagonal of a b adds to their sums.
//
//            step k    k+1    k+2    k+3        f64, D = 4: lane 4 g + t has a[g][t] and b[t][g].
//  piece 0  | lane 0 | lane 1| lane 2| lane 3|  Half types, D = 8: it has steps 2t and 2t + 1.
//  piece 1  | lane 4 | ...
//   ...                                         c[g][g] = sum over k of a[g][k] x[column(g, k)];
//  piece 7  | lane 28| ...                      elements off the diagonal are thrown away.
#pragma once

#include "device/memory.cuh"
#include "device/mma.cuh"
#include "sparse/cuda/slice_walk.cuh"

namespace lanky::sparse::cuda {

/// A fragment's part of a lane: kOwn adjacent steps of one piece.
template <class E>
struct Fragment {
  static constexpr int kDepth = sizeof(E) == 2 ? 8 : 4;
  static constexpr int kOwn = kDepth / 4;

  E value[kOwn];
  E factor[kOwn];
};

__device__ inline void multiply(double (&c)[2], const Fragment<double>& f) {
  device::mma_m8n8k4(c, f.value[0], f.factor[0]);
}
template <class E>
__device__ void multiply(float (&c)[4], const Fragment<E>& f) {
  device::mma_m8n8k8<E>(c, device::pair_bits(f.value[0], f.value[1]),
                        device::pair_bits(f.factor[0], f.factor[1]));
}

/// The diagonal of c, element lane % 8: c[g][g] is held by lane 4 g + g / 2, in its
/// register g % 2.
template <class Sum, int kRegisters>
__device__ Sum diagonal_of_lane(const Sum (&c)[kRegisters], int lane) {
  const Sum held = lane / 4 % 2 == 0 ? c[0] : c[1];
  const int g = lane % 8;
  return __shfl_sync(kWholeWarp, held, g * 4 + g / 2);
}

/// A slice on tensor cores: sums[r] of piece 32 r + lane.
template <class E, int kPieces>
class SliceMma {
 public:
  using Sum = decltype(device::widen(E{}));

  __device__ SliceMma(const SliceView<E>& slice, IndexKind kind, const Factors<E>& factors,
                      int lane)
      : slice_(slice),
        kind_(kind),
        x_(kind == IndexKind::staged ? factors.staged : factors.x),
        lane_(lane) {}

  /// `length`: of the lane's piece, where a lane has one.
  __device__ void walk(Sum (&sums)[kPieces], int length) const {
    for (int group = 0; group < kLanes / 8; ++group) {  // pieces 8 group .. 8 group + 7 of each r
      Sum c[kPieces][kRegisters] = {};
      // The length of the pieces whose entries this lane has.
      const int own = __shfl_sync(kWholeWarp, length, group * 8 + lane_ / 4);
      int ragged = slice_.shortest * slice_.width;  // slot of the first ragged step's piece 0
      for (int k = 0; k < slice_.depth; k += kDepth) {
        int first[kOwn];  // slots of piece 0 in the lane's steps
#pragma unroll
        for (int i = 0; i < kDepth; ++i) {
          const bool whole = k + i < slice_.shortest;
          if (i / kOwn == lane_ % 4) first[i % kOwn] = whole ? (k + i) * slice_.width : ragged;
          if (!whole) ragged += __popc(__ballot_sync(kWholeWarp, k + i < length));
        }
#pragma unroll
        for (int r = 0; r < kPieces; ++r)
          multiply(c[r], fragment(k, r, group * 8 + lane_ / 4, own, first));
      }
#pragma unroll
      for (int r = 0; r < kPieces; ++r) {
        const Sum sum = diagonal_of_lane(c[r], lane_);
        if (lane_ / 8 == group) sums[r] = sum;
      }
    }
  }

 private:
  static constexpr int kDepth = Fragment<E>::kDepth;
  static constexpr int kOwn = Fragment<E>::kOwn;
  static constexpr int kRegisters = sizeof(E) == 2 ? 4 : 2;

  /// Of the piece that lane `place` has as its r-th. Zeros where it has no entry: nothing that
  /// exists is multiplied by them.
  __device__ Fragment<E> fragment(int k, int r, int place, int length,
                                  const int (&first)[kOwn]) const {
    Fragment<E> f;
#pragma unroll
    for (int i = 0; i < kOwn; ++i) {
      const int step = k + lane_ % 4 * kOwn + i;
      const int slot = first[i] + place * kPieces + r;
      const bool exists = step < length;
      f.value[i] = E{};
      f.factor[i] = E{};
      if (exists) {
        f.value[i] = slice_.values[slot];
        f.factor[i] = x_[column(slot, step, r * kLanes + place)];
      }
    }
    return f;
  }

  __device__ std::uint32_t column(int slot, int step, int piece) const {
    const auto* const offsets = reinterpret_cast<const std::uint16_t*>(slice_.indices);
    switch (kind_) {
      case IndexKind::shared:
        return slice_.bases[step] + offsets[piece];
      case IndexKind::staged:
        return offsets[slot];
      case IndexKind::offset8:
        return slice_.bases[step] + slice_.indices[slot];
      case IndexKind::offset16:
        return slice_.bases[step] + offsets[slot];
      case IndexKind::absolute:
        break;
    }
    return reinterpret_cast<const std::uint32_t*>(slice_.indices)[slot];
  }

  SliceView<E> slice_;
  IndexKind kind_;
  const E* x_;
  int lane_;
};

}  // namespace lanky::sparse::cuda
