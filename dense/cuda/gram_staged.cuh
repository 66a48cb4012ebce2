// Gram products of more columns: segments of 128 bytes of k of all rows of A and columns of B pass
// through a ring in shared memory, filled by tensor copies. Groups of warps take the segments in
// turn, each group has sums for all of C.
#pragma once

#include "dense/cuda/gram_product.cuh"
#include "dense/cuda/gram_sum.cuh"
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

/// Tiles by element type, in the order of kGramStaged.
template <class T>
struct GramTiles {  // half, bfloat16
  static constexpr GramTile kTiles[] = {
      {16, 16, 16, 16, 8, 4}, {32, 32, 32, 32, 8, 2}, {64, 64, 64, 32, 4, 1}};
};
template <>
struct GramTiles<float> {
  static constexpr GramTile kTiles[] = {{16, 16, 16, 16, 12, 4}, {32, 32, 16, 16, 2, 2}};
};
template <>
struct GramTiles<double> {
  static constexpr GramTile kTiles[] = {
      {16, 16, 16, 16, 8, 4}, {32, 32, 32, 32, 8, 2}, {64, 64, 32, 32, 3, 1}};
};
template <class T, int kIndex>
inline constexpr GramTile kGramTile = GramTiles<T>::kTiles[kIndex];

inline constexpr int kMaxGramSlots = 32;

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

/// Where in the ring a warp is: slot, and parity of the phase that it waits for.
struct RingPlace {
  int slot;
  unsigned parity;

  __device__ void advance(int by, int slots) {
    slot += by;
    if (slot < slots) return;
    slot -= slots;
    parity ^= 1U;
  }
};

/// Which slot's worth of segments comes `index`-th in a block: runs of g.run neighbours,
/// interleaved over the grid.
template <class T>
__device__ int slot_of(const GramArguments<T>& g, int index) {
  const int run = index >> g.run_log2;
  const int within = index & ((1 << g.run_log2) - 1);
  return ((run * static_cast<int>(gridDim.x) + static_cast<int>(blockIdx.x)) << g.run_log2) +
         within;
}

/// Block: the slots' worth of segments that slot_of() names; the last of all is what remains of k
/// beyond whole segments. Writes [n][m] sums. The last warp copies; group g multiplies segments g,
/// g
/// + groups, ... of the block's. Shared memory: ring of g.slots slots [A, B][segment][row][128
/// bytes], at the end the groups' sums in the same place.
template <class T, Math kMath, int kIndex>
__global__ __launch_bounds__(kGramTile<T, kIndex>.threads(),
                             1) void gram_staged_kernel(const __grid_constant__ GramMaps maps,
                                                        GramArguments<T> g) {
#if __CUDA_ARCH__ >= 900
  constexpr GramTile kTile = kGramTile<T, kIndex>;
  using E = device::DeviceElement<T>;
  using Acc = device::DeviceAccumulator<T>;
  constexpr int kSegmentK = kSegmentBytes / sizeof(E);
  extern __shared__ unsigned char dynamic_shared[];
  __shared__ device::Mbarrier full[kMaxGramSlots];
  __shared__ device::Mbarrier empty[kMaxGramSlots];
  unsigned char* const ring =
      dynamic_shared + (1024 - device::shared_address(dynamic_shared) % 1024) % 1024;
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const int lane = static_cast<int>(threadIdx.x) % 32;

  device::let_next_kernel_start();
  if (threadIdx.x == 0) {
    for (int s = 0; s < g.slots; ++s) {
      device::mbarrier_init(&full[s], 1);
      device::mbarrier_init(&empty[s], kTile.segments * kTile.group_warps());
    }
    device::mbarrier_init_done();
    device::prefetch_tensor_map(&maps.a);
    device::prefetch_tensor_map(&maps.b);
  }
  __syncthreads();  // barriers are initialized before anyone waits at them
  device::wait_for_kernel_ahead();
  const std::int64_t k = g.alpha.load() == Acc(0) ? 0 : g.k;
  const int whole = static_cast<int>(k / kSegmentK);
  const int whole_slots = (whole + kTile.segments - 1) / kTile.segments;
  const int slots = whole_slots + (k % kSegmentK != 0 ? 1 : 0);
  WarpProduct<E, kMath, kTile.warp_m, kTile.warp_n> product;
  const int group = warp / kTile.group_warps();
  const int in_group = warp % kTile.group_warps();
  const int i0 = in_group % kTile.warps_m() * kTile.warp_m;
  const int j0 = in_group / kTile.warps_m() * kTile.warp_n;
  constexpr int kOperandB = kTile.m * kTile.segments * kSegmentBytes;  // its place in a slot

  if (group == kTile.groups) {
    if (lane == 0) {
      const int rows = g.symmetric ? box_rows(g.m) : box_rows(g.m) + box_rows(g.n);
      RingPlace place{0, 1};  // the first wait at each slot finds it empty
      for (int index = 0;; ++index) {
        const int s = slot_of(g, index);
        if (s >= slots) break;
        unsigned char* const target = ring + place.slot * kTile.slot_bytes();
        device::Mbarrier* const arrived = &full[place.slot];
        const bool rest = s == whole_slots;
        device::mbarrier_wait(&empty[place.slot], place.parity);  // what it held is multiplied
        device::mbarrier_arrive_expecting(
            arrived, static_cast<unsigned>(rows * kSegmentBytes) * (rest ? 1 : kTile.segments));
        const int segment = rest ? 0 : s * kTile.segments;
        device::copy_segments(target, rest ? &maps.a_rest : &maps.a, segment, arrived);
        if (!g.symmetric) {
          device::copy_segments(target + kOperandB, rest ? &maps.b_rest : &maps.b, segment,
                                arrived);
        }
        place.advance(1, g.slots);
      }
    }
    __syncwarp();
  } else {
    const int b_offset = g.symmetric ? 0 : kOperandB;
    RingPlace place{group / kTile.segments, 0};
    for (int segment = group;; segment += kTile.groups) {
      const int s = slot_of(g, segment / kTile.segments);
      if (s >= slots) break;
      const int within = segment % kTile.segments;
      const unsigned char* const source = ring + place.slot * kTile.slot_bytes();
      const int a_row = within * box_rows(g.m) + i0;
      const int b_row = within * box_rows(g.n) + j0;
      device::mbarrier_wait(&full[place.slot], place.parity);  // the slot is filled
      if (s < whole_slots || within == 0)
        product.add(source + a_row * kSegmentBytes, source + b_offset + b_row * kSegmentBytes);
      __syncwarp();  // every lane has read the segment before the slot is given back
      if (lane == 0) device::mbarrier_arrive(&empty[place.slot]);
      place.advance((segment + kTile.groups) / kTile.segments - segment / kTile.segments, g.slots);
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
#endif
}

}  // namespace lanky::dense::cuda
