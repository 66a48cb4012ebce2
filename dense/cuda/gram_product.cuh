// The products of one warp on a segment of a gram product: kWarpM rows of A and kWarpN columns of
// B, each 128 bytes of adjacent k in shared memory, 16-byte unit u of row r at place u ^ (r % 8)
// (the swizzle of device/tensor_map.cuh).
#pragma once

#include <cstring>
#include <lanky/operation.hpp>

#include "device/element.cuh"
#include "device/mma.cuh"
#include "device/warp_sum.cuh"

namespace lanky::dense::cuda {

inline constexpr int kSegmentBytes = 128;  // of k, in each row of a segment

// On tensor cores. Of row group r (8 rows) lane g * 4 + t reads unit 4 s + t of row mixed(g), for
// s = 0, 1. An mma takes from each operand what the same t read, so that k is the same on both
// sides; in which order its k stand in memory does not matter. mixed() swaps rows so that the 8
// lanes that one cycle serves (two g, four t) meet all 8 units of the banks:
//
//   g          0  1  2  3  4  5  6  7
//   mixed(g)   0  4  1  5  2  6  3  7     units (4 s + t) ^ mixed(g): g = 0 has 0..3, g = 1 4..7

__device__ inline int mixed_row(int g) {
  return g >> 1 | (g & 1) << 2;
}

/// c[16,8] += a[16, 16 bytes x 4 lanes] b; a_low are rows 0..7, a_high rows 8..15.
template <class E>
__device__ void multiply_units(float (&c)[4], const uint4& a_low, const uint4& a_high,
                               const uint4& b) {
  device::mma_m16n8k16<E>(c, a_low.x, a_high.x, a_low.y, a_high.y, b.x, b.y);
  device::mma_m16n8k16<E>(c, a_low.z, a_high.z, a_low.w, a_high.w, b.z, b.w);
}

template <class E>
__device__ void multiply_units(double (&c)[4], const uint4& a_low, const uint4& a_high,
                               const uint4& b) {
  double low[2];
  double high[2];
  double right[2];
  memcpy(low, &a_low, sizeof(low));
  memcpy(high, &a_high, sizeof(high));
  memcpy(right, &b, sizeof(right));
  device::mma_m16n8k8(c, low[0], high[0], low[1], high[1], right[0], right[1]);
}

template <class E, Math kMath, int kWarpM, int kWarpN>
class WarpProduct {
 public:
  using Acc = decltype(device::widen(E()));

  /// Adds the product of one segment.
  __device__ void add(const unsigned char* a, const unsigned char* b) {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const int row = mixed_row(lane / 4);
#pragma unroll
    for (int s = 0; s < 2; ++s) {
      const int place = row * kSegmentBytes + ((s * 4 + lane % 4) ^ row) * 16;
      uint4 left[kWarpM / 8];
      uint4 right[kWarpN / 8];
#pragma unroll
      for (int r = 0; r < kWarpM / 8; ++r)
        left[r] = *reinterpret_cast<const uint4*>(a + r * 8 * kSegmentBytes + place);
#pragma unroll
      for (int r = 0; r < kWarpN / 8; ++r)
        right[r] = *reinterpret_cast<const uint4*>(b + r * 8 * kSegmentBytes + place);
#pragma unroll
      for (int i = 0; i < kWarpM / 16; ++i) {
#pragma unroll
        for (int j = 0; j < kWarpN / 8; ++j)
          multiply_units<E>(sums_[i][j], left[2 * i], left[2 * i + 1], right[j]);
      }
    }
  }

  /// store(i, j, sum) for every element of the warp's tile, each by one lane.
  template <class Store>
  __device__ void finish(Store store) {
    const int lane = static_cast<int>(threadIdx.x) % 32;
#pragma unroll
    for (int i = 0; i < kWarpM / 16; ++i) {
#pragma unroll
      for (int j = 0; j < kWarpN / 8; ++j) {
#pragma unroll
        for (int e = 0; e < 4; ++e)
          store(i * 16 + e / 2 * 8 + mixed_row(lane / 4), j * 8 + mixed_row(lane % 4 * 2 + e % 2),
                sums_[i][j][e]);
      }
    }
  }

 private:
  Acc sums_[kWarpM / 16][kWarpN / 8][4] = {};
};

/// IEEE float on CUDA cores: four tiles of 8 x 8 side by side (2 x 2). Lane: unit lane % 8 (4 k) of
/// tile lane / 8. 8 lanes that one cycle serves read the 8 units of one row.
template <>
class WarpProduct<float, Math::ieee, 16, 16> {
 public:
  using Acc = float;

  __device__ void add(const unsigned char* a, const unsigned char* b) {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const int unit = lane % 8;
    a += lane / 16 * 8 * kSegmentBytes;
    b += lane / 8 % 2 * 8 * kSegmentBytes;
    float4 left[8];
#pragma unroll
    for (int r = 0; r < 8; ++r)
      left[r] = *reinterpret_cast<const float4*>(a + r * kSegmentBytes + (unit ^ r) * 16);
    const auto load_right = [&](int j) {
      return *reinterpret_cast<const float4*>(b + j * kSegmentBytes + (unit ^ j) * 16);
    };
    float4 right = load_right(0);
#pragma unroll
    for (int j = 0; j < 8; ++j) {
      const float4 next = load_right(j < 7 ? j + 1 : 7);
#pragma unroll
      for (int i = 0; i < 8; ++i) {
        float& sum = sums_[i * 8 + j];
        sum = fmaf(left[i].x, right.x, sum);
        sum = fmaf(left[i].y, right.y, sum);
        sum = fmaf(left[i].z, right.z, sum);
        sum = fmaf(left[i].w, right.w, sum);
      }
      right = next;
    }
    if (++segments_ == kSegmentsPerFlush) flush();
  }

  template <class Store>
  __device__ void finish(Store store) {
    flush();
    const int lane = static_cast<int>(threadIdx.x) % 32;
#pragma unroll
    for (int j = 0; j < 8; ++j)
      store(lane / 16 * 8 + lane % 8, lane / 8 % 2 * 8 + j, totals_[j]);
  }

 private:
  /// Long sums lose accuracy: after 256 terms a chain is added to a total, row lane % 8 of the
  /// tile.
  static constexpr int kSegmentsPerFlush = 64;

  __device__ void flush() {
    device::scatter_sums<8>(sums_);
#pragma unroll
    for (int j = 0; j < 8; ++j)
      totals_[j] += sums_[j];
#pragma unroll
    for (float& sum : sums_)
      sum = 0;
    segments_ = 0;
  }

  float sums_[64] = {};
  float totals_[8] = {};
  int segments_ = 0;
};

}  // namespace lanky::dense::cuda
