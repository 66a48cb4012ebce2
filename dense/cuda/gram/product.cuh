// The products of one warp on a segment of a gram product: kWarpM rows of A and kWarpN columns of
// B, each 128 bytes of adjacent k in shared memory, 16-byte unit u of row r at place u ^ (r % 8)
// (the swizzle of device/tensor_map.cuh).
#pragma once

#include <cstring>
#include <lanky/operation.hpp>
#include <type_traits>

#include "device/element.cuh"
#include "device/mma.cuh"
#include "device/tf32.cuh"
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

/// Calls visit(first, second) with the numbers of fragments of B, kMost at most, that a warp
/// multiplies the first and the second of its two tiles of A with, as types
/// (std::integral_constant): the second one's are as many or more, or none. A product that a
/// predicate leaves out takes an H200 as long as another, so that code must know which there are.
template <int kMost, int kFirst = kMost, int kSecond = kMost, class Visit>
__device__ void visit_known(int first, int second, const Visit& visit) {
  if (first == kFirst && second == kSecond) {
    visit(std::integral_constant<int, kFirst>(), std::integral_constant<int, kSecond>());
  } else if constexpr (kFirst > 0) {
    visit_known<kMost, kFirst - 1, kSecond>(first, second, visit);
  } else if constexpr (kSecond > 0) {
    constexpr int kLess = kSecond - 1;
    visit_known<kMost, kLess == 0 ? kMost : kLess, kLess>(first, second, visit);
  }
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
  if constexpr (std::is_same_v<E, float>) {  // widened, which is exact
    float low[4];
    float high[4];
    float right[4];
    memcpy(low, &a_low, sizeof(low));
    memcpy(high, &a_high, sizeof(high));
    memcpy(right, &b, sizeof(right));
    device::mma_m16n8k16(c, {low[0], high[0], low[1], high[1], low[2], high[2], low[3], high[3]},
                         {right[0], right[1], right[2], right[3]});
    return;
  }
  if constexpr (sizeof(E) == 2) {
    E low[8];
    E high[8];
    E right[8];
    memcpy(low, &a_low, sizeof(low));
    memcpy(high, &a_high, sizeof(high));
    memcpy(right, &b, sizeof(right));
#pragma unroll
    for (int v = 0; v < 8; v += 4) {
      double left[8];
      double columns[4];
#pragma unroll
      for (int e = 0; e < 4; ++e) {
        left[2 * e] = device::factor<double>(low[v + e]);
        left[2 * e + 1] = device::factor<double>(high[v + e]);
        columns[e] = device::factor<double>(right[v + e]);
      }
      device::mma_m16n8k16(c, left, columns);
    }
    return;
  }
  double low[2];
  double high[2];
  double right[2];
  memcpy(low, &a_low, sizeof(low));
  memcpy(high, &a_high, sizeof(high));
  memcpy(right, &b, sizeof(right));
  device::mma_m16n8k8(c, low[0], high[0], low[1], high[1], right[0], right[1]);
}

__device__ inline uint4 load_unit(const char* unit) {
  return *reinterpret_cast<const uint4*>(unit);
}

/// The four floats of a unit, split.
struct SplitUnit {
  uint4 high;
  uint4 low;

  SplitUnit() = default;
  __device__ explicit SplitUnit(const uint4& unit) {
    const device::SplitFloat x(__uint_as_float(unit.x));
    const device::SplitFloat y(__uint_as_float(unit.y));
    const device::SplitFloat z(__uint_as_float(unit.z));
    const device::SplitFloat w(__uint_as_float(unit.w));
    high = make_uint4(x.high, y.high, z.high, w.high);
    low = make_uint4(x.low, y.low, z.low, w.low);
  }
};

/// c[16,8] += a b of floats that were rounded to tf32.
__device__ inline void multiply_tf32(float (&c)[4], const uint4& a_low, const uint4& a_high,
                                     const uint4& b) {
  device::mma_m16n8k8_tf32(c, a_low.x, a_high.x, a_low.y, a_high.y, b.x, b.y);
  device::mma_m16n8k8_tf32(c, a_low.z, a_high.z, a_low.w, a_high.w, b.z, b.w);
}

/// sums += a b of the high parts, each mma from zero on, and small += a b with a low part.
__device__ inline void multiply_split(float (&sums)[4], float (&small)[4], const SplitUnit& upper,
                                      const SplitUnit& lower, const SplitUnit& b) {
  multiply_tf32(small, upper.low, lower.low, b.high);
  multiply_tf32(small, upper.high, lower.high, b.low);
  float large[2][4] = {};
  device::mma_m16n8k8_tf32(large[0], upper.high.x, lower.high.x, upper.high.y, lower.high.y,
                           b.high.x, b.high.y);
  device::mma_m16n8k8_tf32(large[1], upper.high.z, lower.high.z, upper.high.w, lower.high.w,
                           b.high.z, b.high.w);
#pragma unroll
  for (int e = 0; e < 4; ++e)
    sums[e] += large[0][e] + large[1][e];
}

/// How tensor cores multiply units of E, as take() has made them of what lies in memory: E itself
/// (floats as doubles), floats that were rounded to tf32, or the three largest products of split
/// ones (tf32x3). Tensor cores cut the sums that they carry, always towards zero: for tf32x3 the
/// large products of each mma start at zero and are added in IEEE arithmetic (H200, 32 x 32 x
/// 30,000, one sign: with four of them in a row errors of 1.6e-7 where IEEE has 4e-8). Those with a
/// low part are 2^-11 of them, and stay in the mma: in sums of their own, which total() adds.
template <class E, Math kMath>
struct UnitProduct {
  using Acc = std::conditional_t<sizeof(E) == 2, float, double>;
  using Unit = uint4;
  static constexpr bool kSplit = false;

  __device__ static Unit take(const uint4& unit) { return unit; }
  __device__ static void multiply(Acc (&sums)[4], Acc (&/*small*/)[4], const Unit& a_low,
                                  const Unit& a_high, const Unit& b) {
    multiply_units<E>(sums, a_low, a_high, b);
  }
};
template <>
struct UnitProduct<double, Math::ieee> {
  using Acc = double;
  using Unit = double2;
  static constexpr bool kSplit = false;

  __device__ static Unit take(const uint4& unit) {
    return {__hiloint2double(static_cast<int>(unit.y), static_cast<int>(unit.x)),
            __hiloint2double(static_cast<int>(unit.w), static_cast<int>(unit.z))};
  }
  __device__ static void multiply(Acc (&sums)[4], Acc (&/*small*/)[4], const Unit& a_low,
                                  const Unit& a_high, const Unit& b) {
    device::mma_m16n8k8(sums, a_low.x, a_high.x, a_low.y, a_high.y, b.x, b.y);
  }
};
template <>
struct UnitProduct<float, Math::tf32> {
  using Acc = float;
  using Unit = uint4;
  static constexpr bool kSplit = false;

  __device__ static Unit take(const uint4& unit) { return device::round_to_tf32(unit); }
  __device__ static void multiply(Acc (&sums)[4], Acc (&/*small*/)[4], const Unit& a_low,
                                  const Unit& a_high, const Unit& b) {
    multiply_tf32(sums, a_low, a_high, b);
  }
};
template <>
struct UnitProduct<float, Math::tf32x3> {
  using Acc = float;
  using Unit = SplitUnit;
  static constexpr bool kSplit = true;

  __device__ static Unit take(const uint4& unit) { return SplitUnit(unit); }
  __device__ static void multiply(Acc (&sums)[4], Acc (&small)[4], const Unit& a_low,
                                  const Unit& a_high, const Unit& b) {
    multiply_split(sums, small, a_low, a_high, b);
  }
};

/// What a lane has of a warp's sums: c[16,8] of each of kTiles tiles.
template <class Units, int kTiles>
struct UnitSums {
  using Acc = typename Units::Acc;

  Acc large[kTiles][4] = {};
  Acc small[Units::kSplit ? kTiles : 1][4] = {};

  __device__ void multiply(int tile, const typename Units::Unit& a_low,
                           const typename Units::Unit& a_high, const typename Units::Unit& b) {
    Units::multiply(large[tile], small[Units::kSplit ? tile : 0], a_low, a_high, b);
  }
  /// Where a factor is Inf, the large products know all.
  __device__ Acc total(int tile, int e) const {
    Acc sum = large[tile][e];
    if constexpr (Units::kSplit) sum += isfinite(sum) ? small[tile][e] : 0;
    return sum;
  }
};

template <class E, Math kMath, int kWarpM, int kWarpN>
class WarpProduct {
 public:
  using Units = UnitProduct<E, kMath>;
  using Acc = typename Units::Acc;

  /// Adds the product of one segment.
  __device__ void add(const char* a, const char* b) {
#pragma unroll
    for (int s = 0; s < 2; ++s) {
      typename Units::Unit left[kWarpM / 8];
#pragma unroll
      for (int r = 0; r < kWarpM / 8; ++r)
        left[r] = load(a, r, s);
#pragma unroll
      for (int j = 0; j < kWarpN / 8; ++j) {
        const typename Units::Unit right = load(b, j, s);
#pragma unroll
        for (int i = 0; i < kWarpM / 16; ++i)
          sums_.multiply(i * (kWarpN / 8) + j, left[2 * i], left[2 * i + 1], right);
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
                sums_.total(i * (kWarpN / 8) + j, e));
      }
    }
  }

 private:
  /// Unit 4 s + lane % 4 of this lane's row of a group of 8.
  __device__ static typename Units::Unit load(const char* rows, int group, int s) {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const int row = mixed_row(lane / 4);
    const int place = row * kSegmentBytes + ((s * 4 + lane % 4) ^ row) * 16;
    return Units::take(load_unit(rows + group * 8 * kSegmentBytes + place));
  }

  UnitSums<Units, kWarpM / 16 * (kWarpN / 8)> sums_;
};

/// The part of a row-major operand that a warp multiplies: from row `row` and column `column` of
/// [k][pitch bytes] on, pitch 32, 64 or 128, swizzled by as many bytes: of a row's 16-byte units,
/// as many low bits change as count them. 8 neighbouring k at one column meet 8 different units.
/// The swizzle of a row is that of the row modulo 8; `row` is a multiple of 8.
struct RowSegment {
  const char* data;
  int pitch;
  int row;
  int column;

  /// Of k = eight + within, `eight` a multiple of 8 and within < 8.
  __device__ float4 unit(int eight, int within, int first_column) const {
    const int place = within * pitch + (column + first_column) * static_cast<int>(sizeof(float));
    return *reinterpret_cast<const float4*>(data + (row + eight) * pitch +
                                            (place ^ (place >> 3 & (pitch - 16))));
  }
};

/// IEEE float on CUDA cores, B row-major: four tiles of 8 x 8 side by side (2 x 2), lane: its share
/// of k in tile lane / 8.
template <>
class WarpProduct<float, Math::ieee, 16, 16> {
 public:
  using Acc = float;

  /// Row-major: lane % 8 is one k of 8.
  __device__ void add_rows(const RowSegment& a, const RowSegment& b) {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const int i0 = lane / 16 * 8;
    const int j0 = lane / 8 % 2 * 8;
    constexpr int kSteps = 4;
#pragma unroll
    for (int s = 0; s < kSteps; ++s) {
      const float4 units[] = {a.unit(s * 8, lane % 8, i0), a.unit(s * 8, lane % 8, i0 + 4),
                              b.unit(s * 8, lane % 8, j0), b.unit(s * 8, lane % 8, j0 + 4)};
      const float left[] = {units[0].x, units[0].y, units[0].z, units[0].w,
                            units[1].x, units[1].y, units[1].z, units[1].w};
      const float right[] = {units[2].x, units[2].y, units[2].z, units[2].w,
                             units[3].x, units[3].y, units[3].z, units[3].w};
#pragma unroll
      for (int i = 0; i < 8; ++i) {
#pragma unroll
        for (int j = 0; j < 8; ++j)
          sums_[i * 8 + j] = fmaf(left[i], right[j], sums_[i * 8 + j]);
      }
    }
    if (++segments_ == kSegmentsPerFlush) flush();
  }

  /// A's k adjacent, B row-major. Lane: k = 4 unit + (q + unit / 2) % 4 in step q, so that the rows
  /// of B that 8 lanes read have all 8 remainders by 8, and meet all banks.
  __device__ void add_mixed(const char* a, const RowSegment& b) {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const int unit = lane % 8;
    const int turn = unit / 2;
    const int j0 = lane / 8 % 2 * 8;
    a += lane / 16 * 8 * kSegmentBytes;
    float left[8][4];
#pragma unroll
    for (int r = 0; r < 8; ++r) {
      const float4 word = *reinterpret_cast<const float4*>(a + r * kSegmentBytes + (unit ^ r) * 16);
      const float once[] = {turn % 2 == 0 ? word.x : word.y, turn % 2 == 0 ? word.y : word.z,
                            turn % 2 == 0 ? word.z : word.w, turn % 2 == 0 ? word.w : word.x};
#pragma unroll
      for (int q = 0; q < 4; ++q)
        left[r][q] = turn < 2 ? once[q] : once[(q + 2) % 4];
    }
#pragma unroll
    for (int q = 0; q < 4; ++q) {
      const int within = unit % 2 * 4 + (q + turn) % 4;
      const float4 units[] = {b.unit(turn * 8, within, j0), b.unit(turn * 8, within, j0 + 4)};
      const float right[] = {units[0].x, units[0].y, units[0].z, units[0].w,
                             units[1].x, units[1].y, units[1].z, units[1].w};
#pragma unroll
      for (int i = 0; i < 8; ++i) {
#pragma unroll
        for (int j = 0; j < 8; ++j)
          sums_[i * 8 + j] = fmaf(left[i][q], right[j], sums_[i * 8 + j]);
      }
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
  /// Long sums lose accuracy: after 64 terms a chain is added to a total, row lane % 8 of the
  /// tile.
  static constexpr int kSegmentsPerFlush = 16;

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
