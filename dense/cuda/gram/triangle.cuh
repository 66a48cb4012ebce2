// Gram products C = A^T A: A's columns pass once through a ring in shared memory, filled by tensor
// copies. Every warp takes segments of k of its own, reads each element once, as both factors, and
// multiplies what lies below the diagonal.
#pragma once

#include "dense/cuda/gram/staged.cuh"
#include "device/warp_group.cuh"

namespace lanky::dense::cuda {

/// Of 16 KiB each (H200, tf32 n = 64, k = 1e7: .962 of the floor with 8, .949 with 12, .909 with
/// 4).
inline constexpr int kTriangleSlots = 8;

/// What a block computes: sides of up to 8 kGroups. A slot holds kSegments segments.
template <int kGroups>
struct TriangleTile {
  static constexpr int kSide = 8 * kGroups;
  static constexpr int kWarps = 8;
  static constexpr bool kManySums = kGroups == 8;  // more than registers of 9 warps hold
  static constexpr int kWorkers = kWarps * 32;
  static constexpr int kThreads = kWorkers + (kManySums ? 128 : 32);
  static constexpr int kSlotBytes = 16 << 10;
  static constexpr int kSegments = kSlotBytes / (kSide * kSegmentBytes);
  static constexpr int kRowTiles = (kGroups + 1) / 2;                            // of 16 rows each
  static constexpr int kTiles = kGroups == 1 ? 1 : kRowTiles * (kRowTiles + 1);  // of 16 x 8
  static_assert(kTriangleSlots * kSegments % kWarps == 0);
};

/// The factors of a warp, from a lane's 16-byte units of all groups of 8 rows (k adjacent), and the
/// product of 16 rows with 8 columns. Here widened to double, which is exact.
template <class E, Math kMath, int kGroups>
struct TriangleFactors {
  using Acc = double;
  static constexpr int kDepth = 16 / sizeof(E);  // of a lane's unit
  double values[kGroups][kDepth];

  __device__ void take(int group, uint4 unit) {
    if constexpr (kDepth == 4) {
      values[group][0] = __uint_as_float(unit.x);
      values[group][1] = __uint_as_float(unit.y);
      values[group][2] = __uint_as_float(unit.z);
      values[group][3] = __uint_as_float(unit.w);
    } else {
      values[group][0] = __hiloint2double(static_cast<int>(unit.y), static_cast<int>(unit.x));
      values[group][1] = __hiloint2double(static_cast<int>(unit.w), static_cast<int>(unit.z));
    }
  }
  __device__ void multiply(Acc (&sums)[4], Acc (&/*small*/)[4], int i, int j) const {
    double left[2 * kDepth];
#pragma unroll
    for (int v = 0; v < kDepth; ++v) {
      left[2 * v] = values[2 * i][v];
      left[2 * v + 1] = kGroups == 1 ? 0.0 : values[kGroups == 1 ? 0 : 2 * i + 1][v];
    }
    if constexpr (kDepth == 4) {
      device::mma_m16n8k16(sums, left, values[j]);
    } else {
      device::mma_m16n8k8(sums, left[0], left[1], left[2], left[3], values[j][0], values[j][1]);
    }
  }
};
template <int kGroups>
struct TriangleFactors<float, Math::tf32, kGroups> {
  using Acc = float;
  uint4 units[kGroups];

  __device__ void take(int group, uint4 unit) { units[group] = device::round_to_tf32(unit); }
  __device__ void multiply(Acc (&sums)[4], Acc (&/*small*/)[4], int i, int j) const {
    multiply_tf32(sums, units[2 * i], units[2 * i + 1], units[j]);
  }
};
template <int kGroups>
struct TriangleFactors<float, Math::tf32x3, kGroups> {
  using Acc = float;
  uint4 high[kGroups];
  uint4 low[kGroups];

  __device__ void take(int group, uint4 unit) {
    const SplitUnit split(unit);
    high[group] = split.high;
    low[group] = split.low;
  }
  __device__ void multiply(Acc (&sums)[4], Acc (&small)[4], int i, int j) const {
    multiply_tf32(small, low[2 * i], low[2 * i + 1], high[j]);
    multiply_tf32(small, high[2 * i], high[2 * i + 1], low[j]);
    float large[2][4] = {};
    const uint4& upper = high[2 * i];
    const uint4& lower = high[2 * i + 1];
    device::mma_m16n8k8_tf32(large[0], upper.x, lower.x, upper.y, lower.y, high[j].x, high[j].y);
    device::mma_m16n8k8_tf32(large[1], upper.z, lower.z, upper.w, lower.w, high[j].z, high[j].w);
#pragma unroll
    for (int e = 0; e < 4; ++e)
      sums[e] += large[0][e] + large[1][e];
  }
};

/// The sums of a warp: tiles of 16 rows and 8 columns, (i, j) with j < 2 i + 2 in this order.
template <class T, Math kMath, int kGroups, bool kRowMajor>
class TriangleProduct {
 public:
  using Tile = TriangleTile<kGroups>;
  using E = device::DeviceElement<T>;
  using Factors = TriangleFactors<E, kMath, kGroups>;
  using Acc = typename Factors::Acc;

  /// Adds the product of the segment at `data`: [row][128 bytes] or, row-major, [16 columns][k][128
  /// bytes] with `panel` bytes from one 16 columns to the next.
  __device__ void add(const unsigned char* data, int panel) {
    const int lane = static_cast<int>(threadIdx.x) % 32;
#pragma unroll
    for (int s = 0; s < 2; ++s) {
      Factors factors;
      if constexpr (kRowMajor) {
        // Columns 16 p + 2 (lane / 4) + {0, 1} of k = 8 s + 2 (lane % 4) + {0, 1}: lanes that one
        // cycle serves have rows of all even (odd) remainders by 8, and meet all banks.
#pragma unroll
        for (int p = 0; p < kGroups / 2; ++p) {
          double2 pair[2];
#pragma unroll
          for (int odd = 0; odd < 2; ++odd) {
            const int row = lane % 4 * 2 + odd;
            pair[odd] = *reinterpret_cast<const double2*>(
                data + p * panel + (s * 8 + row) * kSegmentBytes + (lane / 4 ^ row) * 16);
          }
          factors.take(2 * p, bits_of(pair[0].x, pair[1].x));
          factors.take(2 * p + 1, bits_of(pair[0].y, pair[1].y));
        }
      } else {
        const int row = mixed_row(lane / 4);
        const int place = row * kSegmentBytes + ((s * 4 + lane % 4) ^ row) * 16;
#pragma unroll
        for (int r = 0; r < kGroups; ++r)
          factors.take(r, *reinterpret_cast<const uint4*>(data + r * 8 * kSegmentBytes + place));
      }
#pragma unroll
      for (int i = 0; i < Tile::kRowTiles; ++i) {
#pragma unroll
        for (int j = 0; j < (kGroups == 1 ? 1 : 2 * i + 2); ++j) {
          const int tile = i * (i + 1) + j;
          factors.multiply(sums_[tile], small_[kSplit ? tile : 0], i, j);
        }
      }
    }
  }

  /// target[tile][e][lane]
  __device__ void store(Acc* target) {
    const int lane = static_cast<int>(threadIdx.x) % 32;
#pragma unroll
    for (int t = 0; t < Tile::kTiles; ++t) {
#pragma unroll
      for (int e = 0; e < 4; ++e) {
        Acc sum = sums_[t][e];
        if constexpr (kSplit)  // where a factor is Inf, the large products know all
          sum += isfinite(sum) ? small_[t][e] : 0.0F;
        target[(t * 4 + e) * 32 + lane] = sum;
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

 private:
  static constexpr bool kSplit = kMath == Math::tf32x3;

  __device__ static uint4 bits_of(double low, double high) {
    const double pair[2] = {low, high};
    uint4 unit;
    memcpy(&unit, pair, sizeof(unit));
    return unit;
  }

  Acc sums_[Tile::kTiles][4] = {};
  Acc small_[kSplit ? Tile::kTiles : 1][4] = {};
};

/// Of each thread, after those of the four warps that copy were handed on.
inline constexpr int kTriangleCopyRegisters = 40;
inline constexpr int kTriangleRegisters = 232;

/// Block: writes [n][m] sums of slots' worth of k, as gram_staged_kernel takes them; warp w
/// multiplies segments w, w + 8, ... of the block's. Shared memory: ring of slots, [segment][row]
/// [128 bytes] or, row-major, [16 columns][k][128 bytes], swizzled; at the end the sums of the
/// warps.
template <class T, Math kMath, int kGroups, bool kRowMajor>
__global__ __launch_bounds__(TriangleTile<kGroups>::kThreads,
                             1) void gram_triangle_kernel(const __grid_constant__ GramMaps maps,
                                                          GramArguments<T> g) {
#if __CUDA_ARCH__ >= 900
  using Tile = TriangleTile<kGroups>;
  using E = device::DeviceElement<T>;
  using Product = TriangleProduct<T, kMath, kGroups, kRowMajor>;
  constexpr int kSegmentK = kSegmentBytes / sizeof(E);
  constexpr int kSlotK = kSegmentK * Tile::kSegments;
  extern __shared__ unsigned char dynamic_shared[];
  __shared__ device::Mbarrier full[kTriangleSlots];
  __shared__ device::Mbarrier empty[kTriangleSlots];
  unsigned char* const ring = device::swizzle_aligned(dynamic_shared);
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const int lane = static_cast<int>(threadIdx.x) % 32;

  device::let_next_kernel_start();
  if (threadIdx.x == 0) {
    device::init_ring(full, empty, kTriangleSlots, 1, Tile::kSegments);
    device::prefetch_tensor_map(&maps.a);
  }
  __syncthreads();  // barriers are initialized before anyone waits at them
  device::wait_for_kernel_ahead();
  const std::int64_t k = g.alpha.load() == device::DeviceAccumulator<T>(0) ? 0 : g.k;
  const auto sequence = slots_of<kRowMajor>(g.run_log2, k, kSegmentK, Tile::kSegments);

  if (warp >= Tile::kWarps) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL  // setmaxnreg exists on no other architecture
    if constexpr (Tile::kManySums) device::keep_registers<kTriangleCopyRegisters>();
#endif
    if (threadIdx.x != Tile::kWorkers) return;
    device::RingPlace place{0, 1};  // the first wait at each slot finds it empty
    for (int index = 0; sequence.has(index); ++index) {
      const int s = sequence.at(index);
      const bool rest = s == sequence.whole;
      unsigned char* const slot = ring + place.slot * Tile::kSlotBytes;
      device::Mbarrier* const arrived = &full[place.slot];
      device::mbarrier_wait(&empty[place.slot], place.parity);  // what it held is multiplied
      if constexpr (kRowMajor) {
        constexpr int kPanel = kSlotK * kSegmentBytes;
        constexpr int kColumns = kSegmentBytes / sizeof(E);
        const int panels = (g.m + kColumns - 1) / kColumns;
        device::mbarrier_arrive_expecting(arrived, static_cast<unsigned>(panels * kPanel));
        for (int p = 0; p < panels; ++p)
          device::copy_box(slot + p * kPanel, &maps.a, {p * kColumns, s * kSlotK, 0}, arrived);
      } else {
        const int bytes = box_rows(g.m) * kSegmentBytes * (rest ? 1 : Tile::kSegments);
        device::mbarrier_arrive_expecting(arrived, static_cast<unsigned>(bytes));
        device::copy_box(slot, rest ? &maps.a_rest : &maps.a,
                         {0, 0, rest ? 0 : s * Tile::kSegments}, arrived);
      }
      place.advance(1, kTriangleSlots);
    }
    return;
  }
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  if constexpr (Tile::kManySums) device::take_registers<kTriangleRegisters>();
#endif
  Product product;
  device::RingPlace place{warp / Tile::kSegments, 0};
  for (int segment = warp;; segment += Tile::kWarps) {
    const int index = segment / Tile::kSegments;
    if (!sequence.has(index)) break;
    const int within = segment % Tile::kSegments;
    const unsigned char* const slot = ring + place.slot * Tile::kSlotBytes;
    device::mbarrier_wait(&full[place.slot], place.parity);  // the slot is filled
    if constexpr (kRowMajor) {
      product.add(slot + within * kSegmentK * kSegmentBytes, kSlotK * kSegmentBytes);
    } else if (sequence.at(index) < sequence.whole || within == 0) {
      product.add(slot + within * box_rows(g.m) * kSegmentBytes, 0);
    }
    __syncwarp();  // every lane has read the segment before the slot is given back
    if (lane == 0) device::mbarrier_arrive(&empty[place.slot]);
    place.advance((segment + Tile::kWarps) / Tile::kSegments - index, kTriangleSlots);
  }

  device::warps_barrier(1, Tile::kWorkers);  // all segments are read before sums overwrite the ring
  using Acc = typename Product::Acc;
  constexpr int kSums = Tile::kTiles * 128;
  Acc* const warp_sums = reinterpret_cast<Acc*>(ring);  // [warps][tile][e][lane]
  product.store(warp_sums + warp * kSums);
  device::warps_barrier(1, Tile::kWorkers);  // the warps' sums are written before they are added
  auto* const partials = g.partials + std::int64_t{blockIdx.x} * g.n * g.m;
  for (int s = static_cast<int>(threadIdx.x); s < kSums; s += Tile::kWorkers) {
    const int tile = s / 128;
    int row_tile = 0;
    while ((row_tile + 1) * (row_tile + 2) <= tile)
      ++row_tile;
    const int i = Product::row(row_tile, s / 32 % 4, s % 32);
    const int j = Product::column(tile - row_tile * (row_tile + 1), s / 32 % 4, s % 32);
    if (i < j || i >= g.m) continue;
    Acc sum = 0;
#pragma unroll
    for (int w = 0; w < Tile::kWarps; ++w)
      sum += warp_sums[w * kSums + s];
    partials[j * g.m + i] = partials[i * g.m + j] = static_cast<device::DeviceAccumulator<T>>(sum);
  }
#endif
}

}  // namespace lanky::dense::cuda
