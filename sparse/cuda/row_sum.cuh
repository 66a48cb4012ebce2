// How a warp sums the tile rows of tiles: two ways over the same slots, with one interface.
//   MmaSum   tensor cores: the diagonal of c[8,8] = a[8,D] b[D,8], accumulated over tiles
//   CudaSum  CUDA cores: each lane sums its slots, then the four lanes of a quad add up
// Lane l holds slots of tile row l / 4, and learns that row's sum from row_sum().
#pragma once

#include <lanky/dtype.hpp>

#include "device/element.cuh"
#include "device/memory.cuh"
#include "device/mma.cuh"
#include "sparse/policy.hpp"

namespace lanky::sparse::cuda {

inline constexpr unsigned kWholeWarp = 0xffffffffU;

/// A lane's slots of one tile: values of A and the entries of x that they meet.
template <class E>
struct LaneSlots {
  E a[kLaneSlots<E>];
  E x[kLaneSlots<E>];
};

template <class E>
class CudaSum {
 public:
  using Sum = decltype(device::widen(E{}));

  template <int kCount>
  __device__ void add(const LaneSlots<E> (&tiles)[kCount]) {
#pragma unroll
    for (int t = 0; t < kCount; ++t) {
#pragma unroll
      for (int s = 0; s < kLaneSlots<E>; ++s) {
        sum_ = fma(device::widen(tiles[t].a[s]), device::widen(tiles[t].x[s]), sum_);
      }
    }
  }

  /// The sum of tile row lane / 4, alike in its four lanes.
  __device__ Sum row_sum(int /*lane*/) const {
    const Sum half_quad = sum_ + __shfl_xor_sync(kWholeWarp, sum_, 1);
    return half_quad + __shfl_xor_sync(kWholeWarp, half_quad, 2);
  }

 private:
  Sum sum_ = 0;
};

/// The diagonal: c[g][g] is held by lane g * 4 + g / 2, in its register g % 2.
template <class Sum>
__device__ Sum diagonal_of_lane(Sum even, Sum odd, int lane) {
  const int row = lane / 4;
  return __shfl_sync(kWholeWarp, row % 2 == 0 ? even : odd, row * 4 + row / 2);
}

/// Half types: two tiles a product (m16n8k16), the odd one alone (m16n8k8). In the first, lane
/// g * 4 + t gives slots 2t, 2t + 1 of both tiles, as columns of a and as rows of b alike.
template <class E>
class MmaSum {
 public:
  using Sum = float;

  template <int kCount>
  __device__ void add(const LaneSlots<E> (&tiles)[kCount]) {
#pragma unroll
    for (int t = 0; t + 1 < kCount; t += 2) {
      device::mma_m8n8k16<E>(c_, a_bits(tiles[t]), a_bits(tiles[t + 1]), x_bits(tiles[t]),
                             x_bits(tiles[t + 1]));
    }
    if constexpr (kCount % 2 != 0) {
      device::mma_m8n8k8<E>(c_, a_bits(tiles[kCount - 1]), x_bits(tiles[kCount - 1]));
    }
  }

  __device__ Sum row_sum(int lane) const {
    return diagonal_of_lane(c_[0], c_[1], lane);
  }

 private:
  static __device__ std::uint32_t a_bits(const LaneSlots<E>& slots) {
    return device::pair_bits(slots.a[0], slots.a[1]);
  }
  static __device__ std::uint32_t x_bits(const LaneSlots<E>& slots) {
    return device::pair_bits(slots.x[0], slots.x[1]);
  }

  float c_[4] = {};  // [0], [1]: c[g][2t + {0, 1}]; [2], [3]: of the unused rows 8..15
};

/// f64: one tile a product (m8n8k4), lane g * 4 + t gives a[g][t] and b[t][g].
template <>
class MmaSum<double> {
 public:
  using Sum = double;

  template <int kCount>
  __device__ void add(const LaneSlots<double> (&tiles)[kCount]) {
#pragma unroll
    for (int t = 0; t < kCount; ++t)
      device::mma_m8n8k4(c_, tiles[t].a[0], tiles[t].x[0]);
  }

  __device__ Sum row_sum(int lane) const {
    return diagonal_of_lane(c_[0], c_[1], lane);
  }

 private:
  double c_[2] = {};
};

}  // namespace lanky::sparse::cuda
