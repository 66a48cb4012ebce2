// Gram products of more columns: all rows of A and columns of B pass through a ring. Groups of
// warps take the segments in turn, each group has sums for all of C.
#pragma once

#include "dense/cuda/gram/policy.hpp"
#include "dense/cuda/gram/ring.cuh"

namespace lanky::dense::cuda {

/// What a block computes: m x n of C by `groups` groups of (m / warp_m) x (n / warp_n) warps. A
/// slot of the ring holds `segments` segments.
struct GramTile {
  int m;
  int n;
  int warp_m;
  int warp_n;
  int groups;
  int segments;

  __host__ __device__ constexpr int warps_m() const noexcept { return m / warp_m; }
  __host__ __device__ constexpr int group_warps() const noexcept {
    return warps_m() * (n / warp_n);
  }
};

/// Of type and arithmetic, for sides up to 16 (IEEE float alone), 32 and 64. IEEE float's for 32:
/// 13 warps of 128 registers were slower (746 instead of 700 us at k = 1e7).
template <class T, Math kMath>
constexpr GramTile gram_tile(int index) {
  const bool ieee_float = std::is_same_v<T, float> && kMath == Math::ieee;
  if (index == 0) return {16, 16, 16, 16, 12, 4};
  if (index == 1)
    return ieee_float ? GramTile{32, 32, 16, 16, 2, 2} : GramTile{32, 32, 32, 32, 8, 2};
  if (sizeof(T) == 2) return {64, 64, 64, 32, 4, 1};
  return {64, 64, 32, 32, sizeof(T) == 4 ? 2 : 3, 1};
}
template <class T, Math kMath, int kIndex>
inline constexpr GramTile kGramTile = gram_tile<T, kMath>(kIndex);

/// Of 16 KiB each.
inline constexpr int kGramSlots = 12;

/// A warp's part of a tile of C is warp_m x warp_n; group g multiplies segments g, g + groups, ...
/// of the block's. A warp that multiplies as well as copies copied too late: f32 n = 32 at .49 of
/// the floor instead of .79. At the end the groups' sums take the place of the ring.
template <class T, Math kMath, int kIndex, GramLayout kLayout>
class StagedProduct {
 public:
  using E = device::DeviceElement<T>;
  using Acc = device::DeviceAccumulator<T>;
  static constexpr GramTile kTile = kGramTile<T, kMath, kIndex>;
  static constexpr GramOrder kOrderA =
      kLayout == GramLayout::rows ? GramOrder::rows : GramOrder::columns;
  static constexpr GramOrder kOrderB =
      kLayout == GramLayout::columns ? GramOrder::columns : GramOrder::rows;
  static constexpr int kM = kTile.m;
  static constexpr int kN = kTile.n;
  static constexpr int kSegments = kTile.segments;
  static constexpr int kGroups = kTile.groups;
  static constexpr int kWorkers = kGroups * kTile.group_warps() * 32;
  static constexpr int kReaders = kSegments * kTile.group_warps();
  static constexpr int kMostSlots = kGramSlots;
  static constexpr bool kHandsOn = false;
  using Sums = WarpProduct<E, kMath, kTile.warp_m, kTile.warp_n>;
  struct Slots {
    static constexpr int slot_bytes = (kM + kN) * kSegments * kSegmentBytes;
    static constexpr int stages =
        ring_slots(device::kCapability, kGramSlots, kGroups, kSegments, slot_bytes);
    static constexpr int b_place = kM * kSegments * kSegmentBytes;
  };
  static constexpr bool kExists = Slots::stages > 0;
  static constexpr std::size_t shared_bytes(int capability) {
    const int slots = ring_slots(capability, kGramSlots, kGroups, kSegments, Slots::slot_bytes);
    if (slots == 0) return kNeverFits;
    return std::max(kGroups * kM * kN * sizeof(Acc), std::size_t(slots) * Slots::slot_bytes);
  }

  __device__ static Slots slots(const GramArguments<T>& /*g*/) { return {}; }
  __device__ static GramShare share(const GramArguments<T>& g) {
    return gram_share<StagedProduct>(g, g.k);
  }
  __device__ static bool is_one_operand(const GramArguments<T>& g, const GramShare& /*share*/) {
    return g.symmetric;
  }

  __device__ StagedProduct(const GramArguments<T>& g, const GramShare& /*share*/, char* ring)
      : g_(g), ring_(ring), b_place_(g.symmetric ? 0 : Slots::b_place) {
    const int warp = static_cast<int>(threadIdx.x) / 32;
    const int in_group = warp % kTile.group_warps();
    group_ = warp / kTile.group_warps();
    i0_ = in_group % kTile.warps_m() * kTile.warp_m;
    j0_ = in_group / kTile.warps_m() * kTile.warp_n;
  }

  __device__ void multiply(const GramShare& share, const device::Ring<Slots>& ring) const {
    Sums sums;
    read_segments<StagedProduct>(share, ring, group_,
                                 [&](int slot, int within) { add(sums, slot, within); });
    leave(sums, share);
  }

 private:
  __device__ void add(Sums& sums, int slot, int within) const {
    constexpr int kSegmentK = kSegmentBytes / sizeof(E);
    const char* const a = ring_ + slot;
    const char* const b = a + b_place_;
    const int row = within * kSegmentK;
    if constexpr (kLayout == GramLayout::rows) {
      sums.add_rows({a, row_pitch(g_.m), row, i0_}, {b, row_pitch(g_.n), row, j0_});
    } else {
      if (i0_ >= g_.m || j0_ >= g_.n) return;
      const char* const columns = a + (within * box_rows(g_.m) + i0_) * kSegmentBytes;
      if constexpr (kLayout == GramLayout::mixed) {
        sums.add_mixed(columns, {b, row_pitch(g_.n), row, j0_});
      } else {
        sums.add(columns, b + (within * box_rows(g_.n) + j0_) * kSegmentBytes);
      }
    }
  }

  __device__ void leave(Sums& sums, const GramShare& share) const {
    device::warps_barrier(1, kWorkers);  // all segments are read before sums overwrite the ring
    Acc* const group_sums = reinterpret_cast<Acc*>(ring_);  // [groups][n][m]
    sums.finish(
        [&](int i, int j, Acc sum) { group_sums[(group_ * kN + j0_ + j) * kM + i0_ + i] = sum; });
    device::warps_barrier(1, kWorkers);  // the groups' sums are written before they are added
    for (int s = static_cast<int>(threadIdx.x); s < kM * kN; s += kWorkers) {
      const int i = s % kM;
      const int j = s / kM;
      if (i >= g_.m || j >= g_.n) continue;
      Acc sum = 0;
#pragma unroll
      for (int other = 0; other < kGroups; ++other)
        sum += group_sums[other * kM * kN + s];
      g_.partials[(std::int64_t{share.walker} * g_.n + j) * g_.m + i] = sum;
    }
    sum_in_last_block(g_, *reinterpret_cast<GramWarpTotals<T>*>(ring_));
  }

  const GramArguments<T>& g_;
  char* ring_;
  int b_place_;  // of B, in a slot; chosen anew for every segment, tf32x3 spilled 24 bytes
  int group_;
  int i0_;  // of the warp, in the tile
  int j0_;
};

template <class T, Math kMath, int kIndex, GramLayout kLayout>
__global__ __launch_bounds__(kGramRingThreads<StagedProduct<T, kMath, kIndex, kLayout>>,
                             1) void gram_staged_kernel(const __grid_constant__ GramMaps maps,
                                                        GramArguments<T> g) {
  gram_ring<StagedProduct<T, kMath, kIndex, kLayout>>(maps, g);
}

}  // namespace lanky::dense::cuda
