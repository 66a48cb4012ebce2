// How a warp multiplies one slice on tensor cores: for each 8 pieces, fragments a[8,D] of their
// entries and b[D,8] of the x that they meet, D steps deep; the diagonal of a b adds to their sums.
//
//            step k    k+1    k+2    k+3        f64, tf32, D = 4: lane 4 g + t has a[g][t],
//            b[t][g].
//  piece 0  | lane 0 | lane 1| lane 2| lane 3|  Half types, D = 8: it has steps 2t and 2t + 1.
//  piece 1  | lane 4 | ...
//   ...                                         c[g][g] = sum over k of a[g][k] x[column(g, k)];
//  piece 7  | lane 28| ...                      elements off the diagonal are thrown away.
#pragma once

#include <cstdint>

#include "device/guarded_load.cuh"
#include "device/memory.cuh"
#include "device/mma.cuh"
#include "device/tf32.cuh"
#include "sparse/cuda/multiply/cells.cuh"
#include "sparse/cuda/multiply/decode.cuh"

namespace lanky::sparse::cuda {

/// Steps of a fragment, and those of them that a lane has: adjacent ones of one piece.
template <class E>
inline constexpr int kFragmentSteps = sizeof(E) == 2 ? 8 : 4;
template <class E>
inline constexpr int kOwnSteps = kFragmentSteps<E> / 4;

/// The diagonal of c, element lane % 8: c[g][g] is held by lane 4 g + g / 2, in its
/// register g % 2.
template <class Sum, int kRegisters>
__device__ Sum diagonal_of_lane(const Sum (&c)[kRegisters], int lane) {
  const Sum held = lane / 4 % 2 == 0 ? c[0] : c[1];
  const int g = lane % 8;
  return __shfl_sync(kAllLanes, held, g * 4 + g / 2);
}

/// The diagonal of the sum of products a b of fragments, of which a lane has parts.
template <class E, Path kPath>
class DiagonalBlock {
 public:
  using Sum = decltype(device::widen(E{}));

  __device__ void add(const E (&value)[kOwnSteps<E>], const E (&factor)[kOwnSteps<E>]) {
    if constexpr (sizeof(E) == 2) {
      device::mma_m8n8k8<E>(c_, device::pair_bits(value[0], value[1]),
                            device::pair_bits(factor[0], factor[1]));
    } else if constexpr (sizeof(E) == 8) {
      device::mma_m8n8k4(c_, value[0], factor[0]);
    } else {
      device::mma_m8n8k4_tf32(c_, device::round_to_tf32(value[0]),
                              device::round_to_tf32(factor[0]));
    }
  }

  /// Element lane % 8.
  __device__ Sum of_lane(int lane) const { return diagonal_of_lane(c_, lane); }

 private:
  Sum c_[sizeof(E) == 8 ? 2 : 4] = {};
};

/// Factors as sums of two tf32. Tensor cores cut the sums that they carry, towards zero: the large
/// products of each fragment start at zero and are added in IEEE arithmetic. Those with a low part
/// are 2^-11 of them, and stay in the fragment. Of an Inf the low part is NaN.
template <>
class DiagonalBlock<float, Path::tf32x3> {
 public:
  using Sum = float;

  __device__ void add(const float (&value)[1], const float (&factor)[1]) {
    const Split a(value[0]);
    const Split b(factor[0]);
    device::mma_m8n8k4_tf32(small_, a.low, b.high);
    device::mma_m8n8k4_tf32(small_, a.high, b.low);
    float large[4] = {};
    device::mma_m8n8k4_tf32(large, a.high, b.high);
    large_[0] += large[0];
    large_[1] += large[1];
  }

  __device__ Sum of_lane(int lane) const {
    const float large = diagonal_of_lane(large_, lane);
    const float small = diagonal_of_lane(small_, lane);
    return isfinite(large) ? large + small : large;  // where a factor is Inf, it knows all
  }

 private:
  /// NaN in both parts: where one row has NaN and Inf, the sum of the high parts tells.
  struct Split {
    std::uint32_t high;
    std::uint32_t low;

    __device__ explicit Split(float value) {
      high = device::round_to_tf32(value);
      low = __float_as_uint(value - device::cut_to_tf32(__uint_as_float(high)));
    }
  };

  float large_[2] = {};
  float small_[4] = {};
};

/// A slice on tensor cores: cells[r] of piece 32 r + lane. What a lane loads of a step are the
/// entries of its kPieces pieces, as on CUDA cores, but of steps and pieces that fragments have.
template <class E, Path kPath, int kPieces, IndexKind kKind>
class SliceMma {
 public:
  __device__ SliceMma(const SliceView<E>& slice, int lane)
      : slice_(slice), indices_(reinterpret_cast<const Index*>(slice.indices)), lane_(lane) {}

  /// `lengths`: of the lane's pieces.
  template <class Gather>
  __device__ void walk(const Gather& gather, const int (&lengths)[kPieces],
                       Cell<E> (&cells)[kPieces]) const {
    for (int group = 0; group < kLanes / 8; ++group) {  // pieces 8 group .. 8 group + 7 of each r
      const Place place = place_of(group * 8 + lane_ / 4, lengths);
      DiagonalBlock<E, kPath> block[kPieces];
      int ragged = slice_.shortest * slice_.width;  // slot of the first ragged step's piece 0
      for (int k = 0; k < slice_.depth; k += kFragments * kDepth) {
        Steps steps[kFragments];
#pragma unroll
        for (int i = 0; i < kFragments; ++i)
          load(k + i * kDepth, place, lengths[0], ragged, steps[i]);
        __syncwarp();  // ptxas keeps the loads above it ahead of the gathers, which wait for some
#pragma unroll
        for (int i = 0; i < kFragments; ++i)
          multiply_with(gather, k + i * kDepth, place, steps[i]);
#pragma unroll
        for (int i = 0; i < kFragments; ++i) {
#pragma unroll
          for (int r = 0; r < kPieces; ++r)
            block[r].add(steps[i].value[r], steps[i].factor[r]);
        }
      }
#pragma unroll
      for (int r = 0; r < kPieces; ++r) {
        const Cell<E> cell{block[r].of_lane(lane_)};
        if (lane_ / 8 == group) cells[r] = cell;
      }
    }
  }

 private:
  using Codes = StepCodes<kPieces, kKind>;
  using Index = typename Codes::Index;
  static constexpr int kDepth = kFragmentSteps<E>;
  static constexpr int kOwn = kOwnSteps<E>;
  static constexpr int kFragments = sizeof(E) == 2 ? 1 : 2;  // in flight

  /// The lane whose pieces this one multiplies.
  struct Place {
    int lane;
    int lengths[kPieces];
    PieceOffsets<kPieces, kKind> offsets;
  };
  __device__ Place place_of(int lane, const int (&lengths)[kPieces]) const {
    Place place;
    place.lane = lane;
    place.offsets.load(indices_, slice_.width, lane);
#pragma unroll
    for (int r = 0; r < kPieces; ++r)
      place.lengths[r] = __shfl_sync(kAllLanes, lengths[r], lane);
    return place;
  }

  /// The lane's part of a fragment for each of the pieces. Zeros where there is no entry: nothing
  /// that exists is multiplied by them.
  struct Steps {
    std::uint32_t column[kOwn][kPieces];
    E value[kPieces][kOwn];
    E factor[kPieces][kOwn];
  };

  __device__ int own_step(int k, int i) const {
    return k + lane_ % 4 * kOwn + i;
  }

  /// Slots of piece 0 in the lane's steps of the fragment at step k; `length`: of the lane's own
  /// piece, if the slice is not wide.
  __device__ void find_slots(int k, int length, int& ragged, int (&first)[kOwn]) const {
#pragma unroll
    for (int i = 0; i < kDepth; ++i) {
      const bool whole = kPieces > 1 || k + i < slice_.shortest;
      const int width = kPieces > 1 ? kPieces * kLanes : slice_.width;
      if (i / kOwn == lane_ % 4) first[i % kOwn] = whole ? (k + i) * width : ragged;
      if (kPieces == 1 && !whole) ragged += __popc(__ballot_sync(kAllLanes, k + i < length));
    }
  }

  /// Values and codes of the fragment at step k.
  __device__ void load(int k, const Place& place, int length, int& ragged, Steps& steps) const {
    int first[kOwn];
    find_slots(k, length, ragged, first);
#pragma unroll
    for (int i = 0; i < kOwn; ++i) {
      const int step = own_step(k, i);
      const bool exists = step < (kPieces > 1 ? slice_.depth : place.lengths[0]);
      const int slot = first[i] + place.lane * kPieces;
      Codes codes;
      E value[kPieces];
      if constexpr (has_bases(kKind))
        device::load_widened_if<Stay::briefly>(codes.base, slice_.bases + step, exists);
      codes.load_index(indices_ + slot, place.offsets, exists);
      device::load_if<Stay::briefly>(value, slice_.values + slot, exists);
#pragma unroll
      for (int r = 0; r < kPieces; ++r) {
        steps.column[i][r] = codes.column(r);
        steps.value[r][i] = value[r];
      }
    }
  }

  /// x that the entries of the fragment at step k meet.
  template <class Gather>
  __device__ void multiply_with(const Gather& gather, int k, const Place& place,
                                Steps& steps) const {
#pragma unroll
    for (int i = 0; i < kOwn; ++i) {
#pragma unroll
      for (int r = 0; r < kPieces; ++r)
        gather.template load<kKind>(steps.factor[r][i], steps.column[i][r], Codes::further(r),
                                    own_step(k, i) < place.lengths[r]);
    }
  }

  SliceView<E> slice_;
  const Index* indices_;
  int lane_;
};

}  // namespace lanky::sparse::cuda
