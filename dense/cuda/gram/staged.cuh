// Gram products of more columns: all rows of A and columns of B pass in segments of k (128 bytes of
// each where k is adjacent in memory) through a ring in shared memory, filled by tensor copies.
// Groups of warps take the segments in turn, each group has sums for all of C.
#pragma once

#include "dense/cuda/gram/product.cuh"
#include "dense/cuda/gram/sum.cuh"
#include "device/tensor_map.cuh"

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
  __host__ __device__ constexpr int threads() const noexcept {
    return (groups * group_warps() + 1) * 32;
  }
  __host__ __device__ constexpr int slot_bytes() const noexcept {
    return (m + n) * segments * kSegmentBytes;
  }
};

/// Tiles by element type, for sides up to 16, 32 and 64. IEEE float's for 32: 13 warps of 128
/// registers were slower (746 instead of 700 us at k = 1e7).
template <class T, Math kMath>
struct GramTiles {  // half, bfloat16
  static constexpr GramTile kTiles[] = {
      {16, 16, 16, 16, 8, 4}, {32, 32, 32, 32, 8, 2}, {64, 64, 64, 32, 4, 1}};
};
template <Math kMath>
struct GramTiles<float, kMath> {
  static constexpr GramTile kTiles[] = {
      {16, 16, 16, 16, 8, 4}, {32, 32, 32, 32, 8, 2}, {64, 64, 32, 32, 2, 1}};
};
template <>
struct GramTiles<float, Math::ieee> {
  static constexpr GramTile kTiles[] = {{16, 16, 16, 16, 12, 4}, {32, 32, 16, 16, 2, 2}};
};
template <>
struct GramTiles<double, Math::ieee> {
  static constexpr GramTile kTiles[] = {
      {16, 16, 16, 16, 8, 4}, {32, 32, 32, 32, 8, 2}, {64, 64, 32, 32, 3, 1}};
};
template <class T, Math kMath, int kIndex>
inline constexpr GramTile kGramTile = GramTiles<T, kMath>::kTiles[kIndex];

/// Of 16 KiB each. A multiple of what makes a slot meet the same groups in every round: a group
/// that skipped a phase of a barrier would take the one before for the one after.
inline constexpr int kGramSlots = 12;

/// How the operands lie in memory: columns have k adjacent, rows the elements of one k; mixed: A by
/// columns, B by rows.
enum class GramLayout { columns, rows, mixed };

/// The operands as segments, and the k beyond the last whole segment.
struct GramMaps {
  CUtensorMap a;
  CUtensorMap b;
  CUtensorMap a_rest;
  CUtensorMap b_rest;
};

/// Rows of an operand in a segment: whole groups of 8, so that the swizzle is that of the row.
__host__ __device__ constexpr int box_rows(int rows) {
  return (rows + 7) / 8 * 8;
}

/// Bytes of a row-major row of floats in shared memory, as tensor copies swizzle: 32, 64 or 128.
__host__ __device__ constexpr int row_pitch(int columns) {
  return columns <= 8 ? 32 : columns <= 16 ? 64 : 128;
}

/// The slots' worth of k that a block takes: runs of 2^run_log2 neighbours, interleaved over the
/// grid; the last of all is what remains of k beyond whole segments.
struct SlotSequence {
  int run_log2;
  int count;  // of all blocks
  int whole;  // of them made of whole segments

  __device__ int at(int index) const {
    const int run = index >> run_log2;
    const int within = index & ((1 << run_log2) - 1);
    return ((run * static_cast<int>(gridDim.x) + static_cast<int>(blockIdx.x)) << run_log2) +
           within;
  }
  __device__ bool has(int index) const { return at(index) < count; }
};

/// Those of all k: `segments` segments of segment_k each make a slot. Row-major, the last segment
/// goes beyond k instead of leaving a rest.
template <bool kRowMajor>
__device__ SlotSequence slots_of(int run_log2, std::int64_t k, int segment_k, int segments) {
  const std::int64_t all = kRowMajor ? (k + segment_k - 1) / segment_k : k / segment_k;
  const int whole = static_cast<int>((all + segments - 1) / segments);
  const bool has_rest = !kRowMajor && k % segment_k != 0;
  return {run_log2, whole + (has_rest ? 1 : 0), whole};
}

/// Block: writes [n][m] sums. The last warp copies (a warp that multiplies as well copied too late:
/// f32 n = 32 at .49 of the floor instead of .79); group g multiplies segments g, g + groups, ...
/// of the block's. Shared memory: ring of slots [A, B][segment][row][128 bytes] or, row-major, [A,
/// B][k][row_pitch] (mixed: one each), swizzled (device/tensor_map.cuh); at the end the groups'
/// sums in the same place.
template <class T, Math kMath, int kIndex, GramLayout kLayout>
__global__ __launch_bounds__(kGramTile<T, kMath, kIndex>.threads(),
                             1) void gram_staged_kernel(const __grid_constant__ GramMaps maps,
                                                        GramArguments<T> g) {
#if __CUDA_ARCH__ >= 900
  constexpr GramTile kTile = kGramTile<T, kMath, kIndex>;
  static_assert(kGramSlots * kTile.segments % kTile.groups == 0);
  using E = device::DeviceElement<T>;
  using Acc = device::DeviceAccumulator<T>;
  constexpr bool kRowMajor = kLayout == GramLayout::rows;
  constexpr int kSegmentK = kSegmentBytes / sizeof(E);
  constexpr int kSlotK = kSegmentK * kTile.segments;
  constexpr int kOperandB = kTile.m * kTile.segments * kSegmentBytes;  // its place in a slot
  extern __shared__ unsigned char dynamic_shared[];
  __shared__ device::Mbarrier full[kGramSlots];
  __shared__ device::Mbarrier empty[kGramSlots];
  unsigned char* const ring = device::swizzle_aligned(dynamic_shared);
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const int lane = static_cast<int>(threadIdx.x) % 32;

  device::let_next_kernel_start();
  if (threadIdx.x == 0) {
    device::init_ring(full, empty, kGramSlots, 1, kTile.segments * kTile.group_warps());
    device::prefetch_tensor_map(&maps.a);
    device::prefetch_tensor_map(&maps.b);
  }
  __syncthreads();  // barriers are initialized before anyone waits at them
  device::wait_for_kernel_ahead();
  const std::int64_t k = g.alpha.load() == Acc(0) ? 0 : g.k;
  const auto sequence = slots_of<kRowMajor>(g.run_log2, k, kSegmentK, kTile.segments);

  WarpProduct<E, kMath, kTile.warp_m, kTile.warp_n> product;
  const int group = warp / kTile.group_warps();
  const int in_group = warp % kTile.group_warps();
  const int i0 = in_group % kTile.warps_m() * kTile.warp_m;
  const int j0 = in_group / kTile.warps_m() * kTile.warp_n;

  if (group == kTile.groups) {
    device::RingPlace place{0, 1};  // the first wait at each slot finds it empty
    for (int index = 0; lane == 0 && sequence.has(index); ++index) {
      const int s = sequence.at(index);
      const bool rest = s == sequence.whole;
      unsigned char* const a = ring + place.slot * kTile.slot_bytes();
      device::Mbarrier* const arrived = &full[place.slot];
      device::mbarrier_wait(&empty[place.slot], place.parity);  // what it held is multiplied
      int bytes = row_pitch(g.m) * kSlotK;
      int b_bytes = row_pitch(g.n) * kSlotK;
      const device::BoxPlace rows{0, rest ? 0 : s * kSlotK, 0};
      const device::BoxPlace columns{0, 0, rest ? 0 : s * kTile.segments};
      if constexpr (!kRowMajor) bytes = box_rows(g.m) * kSegmentBytes * (rest ? 1 : kTile.segments);
      if constexpr (kLayout == GramLayout::columns)
        b_bytes = box_rows(g.n) * kSegmentBytes * (rest ? 1 : kTile.segments);
      if (!g.symmetric) bytes += b_bytes;
      device::mbarrier_arrive_expecting(arrived, static_cast<unsigned>(bytes));
      device::copy_box(a, rest ? &maps.a_rest : &maps.a, kRowMajor ? rows : columns, arrived);
      if (!g.symmetric)
        device::copy_box(a + kOperandB, rest ? &maps.b_rest : &maps.b,
                         kLayout == GramLayout::columns ? columns : rows, arrived);
      place.advance(1, kGramSlots);
    }
    __syncwarp();
  } else {
    const bool useful = i0 < g.m && j0 < g.n;
    const int b_offset = g.symmetric ? 0 : kOperandB;
    device::RingPlace place{group / kTile.segments, 0};
    for (int segment = group;; segment += kTile.groups) {
      const int index = segment / kTile.segments;
      if (!sequence.has(index)) break;
      const int within = segment % kTile.segments;
      const unsigned char* const source = ring + place.slot * kTile.slot_bytes();
      device::mbarrier_wait(&full[place.slot], place.parity);  // the slot is filled
      if constexpr (kRowMajor) {
        product.add_rows({source, row_pitch(g.m), within * kSegmentK, i0},
                         {source + b_offset, row_pitch(g.n), within * kSegmentK, j0});
      } else if (useful && (sequence.at(index) < sequence.whole || within == 0)) {
        const unsigned char* const columns = source + (within * box_rows(g.m) + i0) * kSegmentBytes;
        if constexpr (kLayout == GramLayout::mixed) {
          product.add_mixed(columns, {source + b_offset, row_pitch(g.n), within * kSegmentK, j0});
        } else {
          product.add(columns, source + b_offset + (within * box_rows(g.n) + j0) * kSegmentBytes);
        }
      }
      __syncwarp();  // every lane has read the segment before the slot is given back
      if (lane == 0) device::mbarrier_arrive(&empty[place.slot]);
      place.advance((segment + kTile.groups) / kTile.segments - index, kGramSlots);
    }
  }

  __syncthreads();  // all segments are read before sums overwrite the ring
  Acc* const group_sums = reinterpret_cast<Acc*>(ring);  // [groups][kTile.n][kTile.m]
  if (group < kTile.groups) {
    product.finish([&](int i, int j, Acc sum) {
      group_sums[(group * kTile.n + j0 + j) * kTile.m + i0 + i] = sum;
    });
  }
  __syncthreads();  // the groups' sums are written before they are added
  for (int s = static_cast<int>(threadIdx.x); s < kTile.m * kTile.n; s += kTile.threads()) {
    const int i = s % kTile.m;
    const int j = s / kTile.m;
    if (i >= g.m || j >= g.n) continue;
    Acc sum = 0;
#pragma unroll
    for (int other = 0; other < kTile.groups; ++other)
      sum += group_sums[other * kTile.m * kTile.n + s];
    g.partials[(std::int64_t{blockIdx.x} * g.n + j) * g.m + i] = sum;
  }
  sum_in_last_block(g, *reinterpret_cast<GramWarpTotals<T>*>(ring));
#endif
}

}  // namespace lanky::dense::cuda
