// C[m, n] = alpha A[m, k] B[k, n] + beta C of floats on the f64 tensor cores, long m: products of
// floats are exact in double, sums better, and faster than on CUDA cores (H200, 1e7 x 64 x 64: 46
// TFLOP/s against 40). A passes through a ring of slots as in update_ring.cuh.
#pragma once

#include "dense/cuda/update_ring.cuh"
#include "device/mma.cuh"

namespace lanky::dense::cuda {

/// A chunk of A, 4 KiB, is what a warp multiplies at once: 32 lines of 128 bytes, unit u (16 bytes)
/// of line l at u ^ l % 8. By rows a line is a row, by columns a column. Lane (g, t) = (lane / 4,
/// lane % 4) holds A for rows g and g + 8 of two m-tiles in a step of 16 along k:
///
///   by rows     unit 4 s + t of rows g' and g' + 8 of each m-tile
///   by columns  unit g' of columns 16 s + 4 i + t: 4 rows, those of lane g in both m-tiles
///
/// with g' = 4 (g % 2) + g / 2, so that eight lanes read all banks. B's rows are permuted alike.
template <bool kByColumns>
struct RingChunk {
  static constexpr int kBytes = 4096;
  static constexpr int kTiles = 2;        // of 16 rows
  static constexpr int kColumnTiles = 4;  // of 8 columns
  static constexpr int kRows = 16 * kTiles;
  static constexpr int kColumns = 8 * kColumnTiles;
  static constexpr int kDepth = 32;
  static constexpr int kSteps = kDepth / 16;
  using Sums = double[kTiles][kColumnTiles][4];

  static __device__ int place() {  // g'
    const int g = static_cast<int>(threadIdx.x) % 32 / 4;
    return g % 2 * 4 + g / 2;
  }
  static __device__ int in_group() { return static_cast<int>(threadIdx.x) % 4; }
  static __device__ float4 word(const char* chunk, int line, int unit) {
    return *reinterpret_cast<const float4*>(chunk + line * 128 + ((unit ^ line % 8) << 4));
  }
  static __device__ void read(double (&a)[kTiles][8], const char* chunk, int step) {
#pragma unroll
    for (int x = 0; x < 4; ++x) {
      if constexpr (kByColumns) {
        const float4 w = word(chunk, 16 * step + 4 * x + in_group(), place());
        a[0][2 * x] = w.x;
        a[0][2 * x + 1] = w.y;
        a[1][2 * x] = w.z;
        a[1][2 * x + 1] = w.w;
      } else {
        const float4 w = word(chunk, place() + 8 * x, 4 * step + in_group());
        double* const to = a[x / 2] + x % 2;
        to[0] = w.x;
        to[2] = w.y;
        to[4] = w.z;
        to[6] = w.w;
      }
    }
  }
  /// The column of A that is element i of lane t's fragment in a step.
  static __device__ int along_k(int step, int t, int i) {
    return 16 * step + (kByColumns ? 4 * i + t : 4 * t + i);
  }
  /// Pairs of n-tiles are interleaved, so that a lane's results are 4 adjacent elements of a row:
  /// the warp's column that stands in column c of n-tile j.
  static __device__ int along_n(int j, int c) {
    return j / 2 * 16 + c / 2 * 4 + j % 2 * 2 + c % 2;
  }
};

using RingMmaArguments = UpdateArguments<float, float>;

/// b[tile][step][half][lane]: B's fragments, zero from k and n on. By `threads` threads.
template <class Chunk>
__device__ void stage_fragments(double2* b, const RingMmaArguments& g, int k, int j0, int tiles,
                                int steps, int threads) {
  for (int slot = static_cast<int>(threadIdx.x); slot < tiles * steps * 32; slot += threads) {
    const int lane = slot % 32;
    const int step = slot / 32 % steps;
    const int tile = slot / 32 / steps;
    const int j = j0 + tile / Chunk::kColumnTiles * Chunk::kColumns +
                  Chunk::along_n(tile % Chunk::kColumnTiles, lane / 4);
    float values[4];
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const int p = Chunk::along_k(step, lane % 4, i);
      values[i] = p < k && j < g.n ? g.b[p * g.b_strides.row + j * g.b_strides.col] : 0;
    }
    double2* const to = b + (tile * steps + step) * 64 + lane;
    to[0] = make_double2(values[0], values[1]);
    to[32] = make_double2(values[2], values[3]);
  }
}

/// Leaves a word of C, of which the first `count` elements exist.
__device__ inline void leave_word(float* target, const double (&sums)[4], int count,
                                  const Factors<float>& factors) {
  float word[4];
#pragma unroll
  for (int e = 0; e < 4; ++e)
    word[e] = static_cast<float>(sums[e]);
  if (count >= 4) {
    finish(target, word, factors);
    return;
  }
#pragma unroll
  for (int e = 0; e < 3; ++e) {
    const float single[1] = {word[e]};
    if (e < count) finish(target + e, single, factors);
  }
}

/// C = alpha sums + beta C for a warp's rows from i0 on and its columns from j0 on.
template <bool kByColumns>
__device__ void leave_fragments(const typename RingChunk<kByColumns>::Sums& sums,
                                const RingMmaArguments& g, const Factors<float>& factors,
                                std::int64_t i0, int j0) {
  using Chunk = RingChunk<kByColumns>;
  const std::int64_t row_stride = device::opaque(g.c_strides.row);
  const std::int64_t column_stride = device::opaque(g.c_strides.col);
  const int t = Chunk::in_group();
  if constexpr (kByColumns) {
    const std::int64_t i = i0 + Chunk::place() * 4;
    const auto rows = static_cast<int>(min(std::int64_t{4}, g.m - i));
    if (rows <= 0) return;
#pragma unroll
    for (int j = 0; j < Chunk::kColumnTiles; ++j) {
#pragma unroll
      for (int b = 0; b < 2; ++b) {
        const int column = j0 + Chunk::along_n(j, 2 * t + b);
        const double word[4] = {sums[0][j][b], sums[0][j][2 + b], sums[1][j][b], sums[1][j][2 + b]};
        if (column < g.n) leave_word(g.c + i + column * column_stride, word, rows, factors);
      }
    }
  } else {
#pragma unroll
    for (int j = 0; j < Chunk::kColumnTiles; j += 2) {
      const int column = j0 + Chunk::along_n(j, 2 * t);
#pragma unroll
      for (int x = 0; x < 4; ++x) {
        const std::int64_t i = i0 + Chunk::place() + 8 * x;
        const int r = x % 2 * 2;
        const double word[4] = {sums[x / 2][j][r], sums[x / 2][j][r + 1], sums[x / 2][j + 1][r],
                                sums[x / 2][j + 1][r + 1]};
        if (i < g.m && column < g.n)
          leave_word(g.c + i * row_stride + column, word, g.n - column, factors);
      }
    }
  }
}

/// Block: as update_ring_kernel's, with one of warps_k. Computing warp: RingChunk's rows x columns
/// of each tile. A and C of one layout, both wide. Shared memory: slots [warps_m][chunk], B's
/// fragments, barriers.
template <bool kByColumns>
__global__ void __launch_bounds__(kRingThreads, 3)
    update_ring_mma_kernel(const __grid_constant__ CUtensorMap map,
                           const __grid_constant__ RingMmaArguments g,
                           const __grid_constant__ UpdateRingPlan plan) {
#if __CUDA_ARCH__ >= 900  // bulk copies
  using Chunk = RingChunk<kByColumns>;
  extern __shared__ __align__(16) char staged[];
  const int steps = (g.k + Chunk::kDepth - 1) / Chunk::kDepth * Chunk::kSteps;
  const int tiles = plan.warps_n * Chunk::kColumnTiles;
  char* const slots = staged + (-device::shared_address(staged) & 1023);
  auto* const b = reinterpret_cast<double2*>(slots + plan.ring_bytes);
  auto* const full = reinterpret_cast<device::Mbarrier*>(b + tiles * steps * 64);
  auto* const empty = full + plan.stages;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const int consumers = plan.warps_m * plan.warps_n;
  const int column_blocks = static_cast<int>(gridDim.x) / plan.row_tiles;
  const int tile_rows = plan.warps_m * Chunk::kRows;
  const std::int64_t first =
      std::int64_t{blockIdx.x / static_cast<unsigned>(column_blocks)} * tile_rows;
  const std::int64_t stride = std::int64_t{plan.row_tiles} * tile_rows;
  const int j0 = static_cast<int>(blockIdx.x) % column_blocks * plan.warps_n * Chunk::kColumns;
  device::let_next_kernel_start();
  if (threadIdx.x == 0) {
    device::init_ring(full, empty, plan.stages, 1, consumers);
  }
  __syncthreads();  // barriers are initialized
  device::wait_for_kernel_ahead();
  const Factors<float> factors(g);
  const int k = factors.k;
  device::RingPlace turn;
  if (warp == consumers) {
    for (std::int64_t i0 = first; i0 < g.m; i0 += stride) {
      for (int k0 = 0; k0 < k; k0 += Chunk::kDepth) {
        char* const slot = slots + turn.slot * plan.slot_bytes;
        device::mbarrier_wait(empty + turn.slot, turn.parity ^ 1);
        if (lane == 0) {
          device::mbarrier_arrive_expecting(full + turn.slot,
                                            static_cast<unsigned>(plan.slot_bytes));
          for (int w = 0; w < plan.warps_m; ++w) {
            const int i = static_cast<int>(i0) + w * Chunk::kRows;
            device::copy_box(slot + w * Chunk::kBytes, &map, kByColumns ? i : k0,
                             kByColumns ? k0 : i, full + turn.slot);
          }
        }
        turn.advance(1, plan.stages);
      }
    }
    return;
  }
  stage_fragments<Chunk>(b, g, k, j0, tiles, steps, 32 * consumers);
  device::warps_barrier(1, 32 * consumers);  // B is whole before it is read
  const int warp_m = warp % plan.warps_m;
  const int warp_n = warp / plan.warps_m;
  const double2* const b_warp = b + warp_n * Chunk::kColumnTiles * steps * 64 + lane;
  for (std::int64_t i0 = first; i0 < g.m; i0 += stride) {
    const std::int64_t warp_i0 = i0 + warp_m * Chunk::kRows;
    const int warp_j0 = j0 + warp_n * Chunk::kColumns;
    prefetch_c(g, factors, warp_i0, Chunk::kRows, warp_j0, Chunk::kColumns);
    typename Chunk::Sums sums = {};
    const double2* b_step = b_warp;
    for (int k0 = 0; k0 < k; k0 += Chunk::kDepth) {
      const char* const chunk = slots + turn.slot * plan.slot_bytes + warp_m * Chunk::kBytes;
      device::mbarrier_wait(full + turn.slot, turn.parity);
#pragma unroll 1
      for (int step = 0; step < Chunk::kSteps; ++step, b_step += 64) {
        double a[Chunk::kTiles][8];
        Chunk::read(a, chunk, step);
#pragma unroll
        for (int j = 0; j < Chunk::kColumnTiles; ++j) {
          const double2 low = b_step[j * steps * 64];
          const double2 high = b_step[j * steps * 64 + 32];
          const double column[4] = {low.x, low.y, high.x, high.y};
#pragma unroll
          for (int x = 0; x < Chunk::kTiles; ++x)
            device::mma_m16n8k16(sums[x][j], a[x], column);
        }
      }
      __syncwarp();  // all lanes have read the slot
      if (lane == 0) device::mbarrier_arrive(empty + turn.slot);
      turn.advance(1, plan.stages);
    }
    leave_fragments<kByColumns>(sums, g, factors, warp_i0, warp_j0);
  }
#endif
}

}  // namespace lanky::dense::cuda
