// C[m, n] = alpha A[m, k] B[k, n] + beta C of floats and complex floats on the f64 tensor cores,
// long m: products of floats are exact in double, and twice as fast as on CUDA cores. A passes
// through the ring of update_ring.cuh. A complex product is a real one, [re | im] of A times
// [[re, im], [-im, re]] of B.
#pragma once

#include "dense/cuda/update_ring.cuh"
#include "device/mma.cuh"

namespace lanky::dense::cuda {

/// A chunk of A, 4 KiB, is what a warp multiplies at once: 32 lines of 128 bytes, unit u (16 bytes)
/// of line l at u ^ l % 8. By rows a line is a row, by columns a column. Lane (g, t) = (lane / 4,
/// lane % 4) holds A for rows g and g + 8 of kTiles m-tiles in a step of 16 along k (parts of
/// complex elements count):
///
///   by rows     unit 4 s + t of rows g' and g' + 8 of each m-tile
///   by columns  unit g' of columns 16 s + 4 i + t: 4 rows, those of lane g in two m-tiles;
///               complex: of columns 8 s + t and 8 s + 4 + t: 2 rows, those of lane g in one m-tile
///
/// with g' = 4 (g % 2) + g / 2, so that eight lanes read all banks. B's rows are permuted alike.
template <bool kByColumns, class T>
struct RingChunk {
  using Element = device::DeviceElement<T>;
  using Acc = Element;
  static constexpr bool kComplex = !std::is_arithmetic_v<Element>;
  static constexpr int kParts = kComplex ? 2 : 1;  // floats of an element
  static constexpr int kBytes = 4096;
  static constexpr int kLine = 128 / static_cast<int>(sizeof(Element));
  static constexpr int kTiles = kByColumns && kComplex ? 1 : 2;  // of 16 rows
  static constexpr int kColumnTiles = 8 / kTiles;                // of 8 columns
  static constexpr int kRows = 16 * kTiles;
  static constexpr int kColumns = 8 * kColumnTiles / kParts;
  static constexpr int kDepth = kByColumns ? 32 : kLine;
  static constexpr int kSteps = kDepth * kParts / 16;
  using Sums = double[kTiles][kColumnTiles][4];

  static __device__ int group() { return static_cast<int>(threadIdx.x) % 32 / 4; }
  static __device__ int place() { return group() % 2 * 4 + group() / 2; }  // g'
  static __device__ int in_group() { return static_cast<int>(threadIdx.x) % 4; }

  static __device__ float4 word(const char* chunk, int line, int unit) {
    return *reinterpret_cast<const float4*>(chunk + line * 128 + ((unit ^ line % 8) << 4));
  }
  static __device__ void read(double (&a)[kTiles][8], const char* chunk, int step) {
    const int g = place();
    const int t = in_group();
    if constexpr (!kByColumns) {
#pragma unroll
      for (int x = 0; x < 2 * kTiles; ++x) {
        const float4 w = word(chunk, g + 8 * x, 4 * step + t);
        double* const to = a[x / 2] + x % 2;
        to[0] = w.x;
        to[2] = w.y;
        to[4] = w.z;
        to[6] = w.w;
      }
    } else if constexpr (kComplex) {
#pragma unroll
      for (int x = 0; x < 2; ++x) {
        const float4 w = word(chunk, 8 * step + 4 * x + t, g);
        double* const to = a[0] + 4 * x;
        to[0] = w.x;
        to[2] = w.y;
        to[1] = w.z;
        to[3] = w.w;
      }
    } else {
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const float4 w = word(chunk, 16 * step + 4 * i + t, g);
        a[0][2 * i] = w.x;
        a[0][2 * i + 1] = w.y;
        a[kTiles - 1][2 * i] = w.z;
        a[kTiles - 1][2 * i + 1] = w.w;
      }
    }
  }
  /// The float along k that is element i of lane t's fragment in a step.
  static __device__ int along_k(int step, int t, int i) {
    if constexpr (!kByColumns) return 16 * step + 4 * t + i;
    if constexpr (kComplex) return 2 * (8 * step + i / 2 * 4 + t) + i % 2;
    return 16 * step + 4 * i + t;
  }
  /// Pairs of n-tiles are interleaved, so that a lane's results are 4 adjacent floats of a row: the
  /// float of the warp's columns that stands in column c of n-tile j.
  static __device__ int along_n(int j, int c) {
    return j / 2 * 16 + c / 2 * 4 + j % 2 * 2 + c % 2;
  }
};

/// b[tile][step][half][lane]: B's fragments, zero from k and n on, conjugated where one of the
/// factors is. By `threads` threads.
template <class Chunk, class T>
__device__ void stage_fragments(double2* b, const UpdateArguments<T, T>& g, int k, int j0,
                                int tiles, int steps, int threads) {
  const bool conjugated = g.conj_a != g.conj_b;
  for (int slot = static_cast<int>(threadIdx.x); slot < tiles * steps * 32; slot += threads) {
    const int lane = slot % 32;
    const int step = slot / 32 % steps;
    const int tile = slot / 32 / steps;
    const int warp_tile = tile % Chunk::kColumnTiles;
    const int column =
        tile / Chunk::kColumnTiles * Chunk::kColumnTiles * 8 + Chunk::along_n(warp_tile, lane / 4);
    const int j = j0 + column / Chunk::kParts;
    double values[4];
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const int row = Chunk::along_k(step, lane % 4, i);
      const int p = row / Chunk::kParts;
      typename Chunk::Element value(0);
      if (p < k && j < g.n) value = g.b[p * g.b_strides.row + j * g.b_strides.col];
      if constexpr (Chunk::kComplex) {
        value = device::conjugate_if(conjugated, value);
        values[i] = row % 2 == column % 2 ? value.re : row % 2 == 0 ? value.im : -value.im;
      } else {
        values[i] = value;
      }
    }
    double2* const to = b + (tile * steps + step) * 64 + lane;
    to[0] = make_double2(values[0], values[1]);
    to[32] = make_double2(values[2], values[3]);
  }
}

/// C = alpha sums + beta C for a warp's rows from i0 on and its columns from j0 on.
template <bool kByColumns, class T>
__device__ void leave_fragments(const typename RingChunk<kByColumns, T>::Sums& sums,
                                const UpdateArguments<T, T>& g,
                                const Factors<device::DeviceElement<T>>& factors, std::int64_t i0,
                                int j0) {
  using Chunk = RingChunk<kByColumns, T>;
  using Element = typename Chunk::Element;
  constexpr int kWord = kWide<Element>;
  const std::int64_t row_stride = device::opaque(g.c_strides.row);
  const std::int64_t column_stride = device::opaque(g.c_strides.col);
  const int t = Chunk::in_group();
  const auto leave = [&](Element* target, std::int64_t step, int count, const float4& floats) {
    Element word[kWord];
    memcpy(word, &floats, sizeof(word));
#pragma unroll
    for (Element& element : word)
      element = device::conjugate_if(g.conj_a, element);
    if (count >= kWord) {
      finish(target, word, factors);
    } else {
#pragma unroll
      for (int e = 0; e < kWord; ++e) {
        const Element single[1] = {word[e]};
        if (e < count) finish(target + e * step, single, factors);
      }
    }
  };
#pragma unroll
  for (int j = 0; j < Chunk::kColumnTiles; ++j) {
    if constexpr (kByColumns) {
      const std::int64_t i = i0 + Chunk::place() * kWord;
      const auto left = static_cast<int>(min(std::int64_t{kWord}, g.m - i));
#pragma unroll
      for (int b = 0; b < 2; ++b) {
        if (Chunk::kComplex && b == 1) break;
        const int column = j0 + Chunk::along_n(j, 2 * t + b) / Chunk::kParts;
        const auto& low = sums[0][j];
        const auto& high = sums[Chunk::kTiles - 1][j];
        const double words[4] = {low[b], Chunk::kComplex ? low[1] : low[2 + b],
                                 Chunk::kComplex ? low[2] : high[b],
                                 Chunk::kComplex ? low[3] : high[2 + b]};
        if (column < g.n && left > 0) {
          leave(g.c + i + column * column_stride, 1, left,
                make_float4(static_cast<float>(words[0]), static_cast<float>(words[1]),
                            static_cast<float>(words[2]), static_cast<float>(words[3])));
        }
      }
    } else if (j % 2 == 0) {
      const int column = j0 + Chunk::along_n(j, 2 * t) / Chunk::kParts;
#pragma unroll
      for (int x = 0; x < 2 * Chunk::kTiles; ++x) {
        const std::int64_t i = i0 + Chunk::place() + 8 * x;
        const auto& left = sums[x / 2][j];
        const auto& right = sums[x / 2][j + 1];
        const int r = x % 2 * 2;
        if (i < g.m && column < g.n) {
          leave(g.c + i * row_stride + column, 1, g.n - column,
                make_float4(static_cast<float>(left[r]), static_cast<float>(left[r + 1]),
                            static_cast<float>(right[r]), static_cast<float>(right[r + 1])));
        }
      }
    }
  }
}

/// Block: as update_ring_kernel's, with one of warps_k. Computing warp: RingChunk's rows x columns
/// of each tile. A and C of one layout, both wide. Shared memory: slots [warps_m][chunk], B's
/// fragments, barriers.
template <bool kByColumns, class T>
__global__ void __launch_bounds__(kRingThreads, 3)
    update_ring_mma_kernel(const __grid_constant__ CUtensorMap map,
                           const __grid_constant__ UpdateArguments<T, T> g,
                           const __grid_constant__ UpdateRingPlan plan) {
#if __CUDA_ARCH__ >= 900  // bulk copies
  using Chunk = RingChunk<kByColumns, T>;
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
    for (int s = 0; s < plan.stages; ++s) {
      device::mbarrier_init(full + s, 1);
      device::mbarrier_init(empty + s, static_cast<unsigned>(consumers));
    }
    device::mbarrier_init_done();
  }
  __syncthreads();  // barriers are initialized
  device::wait_for_kernel_ahead();
  const Factors<typename Chunk::Acc> factors(g);
  const int k = factors.k;
  RingTurn turn;
  if (warp == consumers) {
    if (lane != 0) return;
    for (std::int64_t i0 = first; i0 < g.m; i0 += stride) {
      for (int k0 = 0; k0 < k; k0 += Chunk::kDepth) {
        char* const slot = slots + turn.slot * plan.slot_bytes;
        device::mbarrier_wait(empty + turn.slot, turn.parity ^ 1);
        device::mbarrier_arrive_expecting(full + turn.slot, static_cast<unsigned>(plan.slot_bytes));
        for (int w = 0; w < plan.warps_m; ++w) {
          const int i = static_cast<int>(i0) + w * Chunk::kRows;
          device::copy_box(slot + w * Chunk::kBytes, &map, kByColumns ? i : k0, kByColumns ? k0 : i,
                           full + turn.slot);
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
    leave_fragments<kByColumns, T>(sums, g, factors, i0 + warp_m * Chunk::kRows,
                                   j0 + warp_n * Chunk::kColumns);
  }
#endif
}

}  // namespace lanky::dense::cuda
