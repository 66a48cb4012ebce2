// Gram products C = A^T A: A's columns pass once through a ring. Every warp takes segments of k of
// its own, reads each element once, as both factors, and multiplies what lies below the diagonal.
#pragma once

#include "dense/cuda/gram/ring.cuh"

namespace lanky::dense::cuda {

/// Of 16 KiB each (H200, tf32 n = 64, k = 1e7: .962 of the floor with 8, .949 with 12, .909 with
/// 4).
inline constexpr int kTriangleSlots = 8;
inline constexpr int kTriangleSlotBytes = 16 << 10;

/// A block computes sides of up to 8 kGroups. Warp w multiplies segments w, w + 8, ... of the
/// block's, into tiles of 16 rows and 8 columns, (i, j) with j < 2 i + 2 in this order. At the end
/// the sums of the warps take the place of the ring.
template <class T, Math kMath, int kGroups_, bool kRowMajor>
class TriangleProduct {
 public:
  using E = device::DeviceElement<T>;
  using Units = UnitProduct<E, kMath>;
  using Acc = typename Units::Acc;
  static constexpr GramOrder kOrderA = kRowMajor ? GramOrder::panels : GramOrder::columns;
  static constexpr GramOrder kOrderB = kOrderA;
  static constexpr int kM = 8 * kGroups_;
  static constexpr int kN = kM;
  static constexpr int kSegments = kTriangleSlotBytes / (kM * kSegmentBytes);
  static constexpr int kGroups = 8;  // a warp each
  static constexpr int kWorkers = kGroups * 32;
  static constexpr int kReaders = kSegments;
  static constexpr int kMostSlots = kTriangleSlots;
  static constexpr int kRowTiles = (kGroups_ + 1) / 2;                            // of 16 rows each
  static constexpr int kTiles = kGroups_ == 1 ? 1 : kRowTiles * (kRowTiles + 1);  // of 16 x 8
  static constexpr bool kHandsOn = kGroups_ == 8;  // more sums than registers of 9 warps hold
  struct Slots {
    static constexpr int slot_bytes = kTriangleSlotBytes;
    static constexpr int stages =
        ring_slots(device::kCapability, kTriangleSlots, kGroups, kSegments, slot_bytes);
    static constexpr int b_place = 0;
  };
  static constexpr bool kExists = Slots::stages > 0;
  static constexpr std::size_t shared_bytes(int capability) {
    const int slots =
        ring_slots(capability, kTriangleSlots, kGroups, kSegments, kTriangleSlotBytes);
    if (slots == 0) return kNeverFits;
    return std::max(kGroups * kTiles * 128 * sizeof(Acc), std::size_t(slots) * kTriangleSlotBytes);
  }

  __device__ static Slots slots(const GramArguments<T>& /*g*/) { return {}; }
  __device__ static GramShare share(const GramArguments<T>& g) {
    return gram_share<TriangleProduct>(g, g.k);
  }
  __device__ static bool is_one_operand(const GramArguments<T>& /*g*/, const GramShare& /*share*/) {
    return true;
  }

  __device__ TriangleProduct(const GramArguments<T>& g, const GramShare& /*share*/, char* ring)
      : g_(g), ring_(ring) {}

  __device__ void multiply(const GramShare& share, const device::Ring<Slots>& ring) {
    read_segments<TriangleProduct>(share, ring, static_cast<int>(threadIdx.x) / 32,
                                   [this](int slot, int within) { add(slot, within); });
    leave(share);
  }

 private:
  __device__ void add(int slot, int within) {
    constexpr int kSegmentK = kSegmentBytes / sizeof(E);
    if constexpr (kRowMajor) {
      add(ring_ + slot + within * kSegmentK * kSegmentBytes, kSegmentK * kSegments * kSegmentBytes);
    } else {
      add(ring_ + slot + within * box_rows(g_.m) * kSegmentBytes, 0);
    }
  }

  __device__ void leave(const GramShare& share) {
    constexpr int kSums = kTiles * 128;
    device::warps_barrier(1, kWorkers);  // all segments are read before sums overwrite the ring
    Acc* const sums = reinterpret_cast<Acc*>(ring_);  // [warps][tile][e][lane]
    store(sums + static_cast<int>(threadIdx.x) / 32 * kSums);
    device::warps_barrier(1, kWorkers);  // the warps' sums are written before they are added
    auto* const partials = g_.partials + std::int64_t{share.walker} * g_.n * g_.m;
    for (int s = static_cast<int>(threadIdx.x); s < kSums; s += kWorkers) {
      const int tile = s / 128;
      int row_tile = 0;
      while ((row_tile + 1) * (row_tile + 2) <= tile)
        ++row_tile;
      const int i = row(row_tile, s / 32 % 4, s % 32);
      const int j = column(tile - row_tile * (row_tile + 1), s / 32 % 4, s % 32);
      if (i < j || i >= g_.m) continue;
      Acc sum = 0;
#pragma unroll
      for (int w = 0; w < kGroups; ++w)
        sum += sums[w * kSums + s];
      partials[j * g_.m + i] = partials[i * g_.m + j] =
          static_cast<device::DeviceAccumulator<T>>(sum);
    }
  }

  /// Adds the product of the segment at `data`: [row][128 bytes] or, row-major, [16 columns][k][128
  /// bytes] with `panel` bytes from one 16 columns to the next.
  __device__ void add(const char* data, int panel) {
    const int lane = static_cast<int>(threadIdx.x) % 32;
#pragma unroll
    for (int s = 0; s < 2; ++s) {
      typename Units::Unit units[kGroups_ + kGroups_ % 2] = {};  // of groups of 8 rows
      if constexpr (kRowMajor) {
        // Columns 16 p + 2 (lane / 4) + {0, 1} of k = 8 s + 2 (lane % 4) + {0, 1}: lanes that one
        // cycle serves have rows of all even (odd) remainders by 8, and meet all banks.
#pragma unroll
        for (int p = 0; p < kGroups_ / 2; ++p) {
          double2 pair[2];
#pragma unroll
          for (int odd = 0; odd < 2; ++odd) {
            const int row = lane % 4 * 2 + odd;
            pair[odd] = *reinterpret_cast<const double2*>(
                data + p * panel + (s * 8 + row) * kSegmentBytes + (lane / 4 ^ row) * 16);
          }
          units[2 * p] = Units::take(bits_of(pair[0].x, pair[1].x));
          units[2 * p + 1] = Units::take(bits_of(pair[0].y, pair[1].y));
        }
      } else {
        const int row = mixed_row(lane / 4);
        const int place = row * kSegmentBytes + ((s * 4 + lane % 4) ^ row) * 16;
#pragma unroll
        for (int r = 0; r < kGroups_; ++r)
          units[r] = Units::take(load_unit(data + r * 8 * kSegmentBytes + place));
      }
#pragma unroll
      for (int i = 0; i < kRowTiles; ++i) {
#pragma unroll
        for (int j = 0; j < (kGroups_ == 1 ? 1 : 2 * i + 2); ++j) {
          sums_.multiply(i * (i + 1) + j, units[2 * i], units[2 * i + 1], units[j]);
        }
      }
    }
  }

  /// target[tile][e][lane]
  __device__ void store(Acc* target) {
    const int lane = static_cast<int>(threadIdx.x) % 32;
#pragma unroll
    for (int t = 0; t < kTiles; ++t) {
#pragma unroll
      for (int e = 0; e < 4; ++e) {
        target[(t * 4 + e) * 32 + lane] = sums_.total(t, e);
      }
    }
  }

  /// Row and column of a sum of tile (i, j).
  __device__ static int row(int i, int e, int lane) {
    return i * 16 + (kRowMajor ? lane / 4 * 2 + e / 2 : e / 2 * 8 + mixed_row(lane / 4));
  }
  __device__ static int column(int j, int e, int lane) {
    const int in_tile = lane % 4 * 2 + e % 2;
    return kRowMajor ? j / 2 * 16 + in_tile * 2 + j % 2 : j * 8 + mixed_row(in_tile);
  }

  /// (Made of doubles at once, nvcc 13.0 moves more of 64 columns.)
  __device__ static uint4 bits_of(double low, double high) {
    const double pair[2] = {low, high};
    uint4 unit;
    memcpy(&unit, pair, sizeof(unit));
    return unit;
  }

  const GramArguments<T>& g_;
  char* ring_;
  UnitSums<Units, kTiles> sums_;
};

template <class T, Math kMath, int kGroups, bool kRowMajor>
__global__ __launch_bounds__(kGramRingThreads<TriangleProduct<T, kMath, kGroups, kRowMajor>>,
                             1) void gram_triangle_kernel(const __grid_constant__ GramMaps maps,
                                                          GramArguments<T> g) {
  gram_ring<TriangleProduct<T, kMath, kGroups, kRowMajor>>(maps, g);
}

}  // namespace lanky::dense::cuda
