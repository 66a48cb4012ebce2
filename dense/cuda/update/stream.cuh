// C[m, n] = alpha A[m, k] B[k, n] + beta C on tensor cores, long m, of halves and, as tf32, of
// floats whose lines may be off 16 bytes: A and C pass through shared memory in the aligned words
// of 16 bytes that hold them (dense/word_lines.hpp).
#pragma once

#include "dense/cuda/stream_operand.cuh"
#include "dense/cuda/update/arguments.cuh"
#include "dense/cuda/word_lines.cuh"

namespace lanky::dense::cuda {

/// B as fragments [step of k][kTiles][lane], in the order of k that StreamOperand has; zeros beyond
/// k and n, nothing beyond the last n-tile.
template <int kTiles, class T, class TOut>
__device__ void stage_stream_b(uint2* fragments, const UpdateArguments<T, TOut>& g, int k,
                               int steps) {
  using E = device::DeviceElement<T>;
  constexpr int kTurn = StreamOperand<E, true>::kTurn;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  for (int f = static_cast<int>(threadIdx.x) / 32; f < steps * kTiles;
       f += kUpdateStreamThreads / 32) {
    const int p = (f / kTiles * 4 + lane % 4) * kTurn;
    const int j = f % kTiles * 8 + lane / 4;
    if (f % kTiles * 8 >= g.n) continue;
    E values[kTurn];
#pragma unroll
    for (int e = 0; e < kTurn; ++e) {
      values[e] =
          p + e < k && j < g.n ? g.b[(p + e) * g.b_strides.row + j * g.b_strides.col] : E(0.F);
    }
    if constexpr (kTurn == 4) {
      memcpy(fragments + f * 32 + lane, values, sizeof(uint2));
    } else {
      fragments[f * 32 + lane] = {device::round_to_tf32(values[0]),
                                  device::round_to_tf32(values[1])};
    }
  }
}

/// What of a fragment of A counts in the last step of k: bits of the two k of a register.
template <class E>
struct StreamTail {
  std::uint32_t bits[2];

  /// k from `first` on, of which `count` exist.
  __device__ StreamTail(int count, int lane) {
    constexpr int kTurn = StreamOperand<E, true>::kTurn;
    const int left = count - lane % 4 * kTurn;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      if constexpr (kTurn == 4) {
        const int pair = left - 2 * half;
        bits[half] = pair >= 2 ? 0xffffffffU : pair == 1 ? 0xffffU : 0;
      } else {
        bits[half] = left > half ? 0xffffffffU : 0;
      }
    }
  }
};

/// A warp's 16 kFragments rows of C, all columns.
template <class T, class TOut, int kTiles, bool kColumnsOfA>
struct StreamUpdate {
  using E = device::DeviceElement<T>;
  using Result = device::DeviceElement<TOut>;
  using Acc = device::DeviceAccumulator<T>;
  using A = StreamOperand<E, kColumnsOfA>;
  static constexpr int kFragments = update_stream_fragments(kTiles);
  static constexpr int kDepth = 4 * A::kTurn;  // of a step
  using Sums = float[kFragments][kTiles][4];

  /// a: the warp's operand; k of it count.
  static __device__ void multiply(Sums& sums, const A& a, const char* slot, const uint2* b,
                                  int steps, int k, int tiles, int lane) {
    const StreamTail<E> tail(k - (steps - 1) * kDepth, lane);
#pragma unroll 1
    for (int s = 0; s < steps; ++s) {
      StreamFragment rows[kFragments];
      const std::uint32_t low = s + 1 < steps ? 0xffffffffU : tail.bits[0];
      const std::uint32_t high = s + 1 < steps ? 0xffffffffU : tail.bits[1];
#pragma unroll
      for (int i = 0; i < kFragments; ++i) {
        a.load(rows[i], slot + s * kDepth * a.pitch_k(), i);
#pragma unroll
        for (auto& line : rows[i]) {
          line[0] &= low;
          line[1] &= high;
        }
      }
#pragma unroll
      for (int tile = 0; tile < kTiles; ++tile) {
        if (tile % 4 == 0 && tile >= tiles) break;
        const uint2 column = b[(s * kTiles + tile) * 32 + lane];
#pragma unroll
        for (int i = 0; i < kFragments; ++i)
          multiply_stream<E>(sums[i][tile], rows[i], column.x, column.y);
      }
    }
  }
  /// C = alpha sums + beta C in shared memory, where beta is 0 unless kAdds; c_row: the warp's
  /// first row of C there.
  template <bool kAdds>
  static __device__ void leave(const Sums& sums, char* c_row, const WordLinesPlan& plan, int n,
                               const Factors<Acc>& factors, int lane) {
    char* rows[2 * kFragments];  // of the lane, from its first column on
#pragma unroll
    for (int r = 0; r < 2 * kFragments; ++r) {
      rows[r] =
          c_row + (16 * (r / 2) + A::line(lane / 4, r % 2)) * plan.row + lane % 4 * 2 * plan.column;
    }
    const int left = n - lane % 4 * 2;
#pragma unroll
    for (int tile = 0; tile < kTiles; ++tile) {
      if (tile % 4 == 0 && tile * 8 >= n) break;
#pragma unroll
      for (int odd = 0; odd < 2; ++odd) {
        const int at = (tile * 8 + odd) * plan.column;
        if (tile * 8 + odd < left) {
#pragma unroll
          for (int r = 0; r < 2 * kFragments; ++r) {
            Result& result = *reinterpret_cast<Result*>(rows[r] + at);
            result = factors.of(Acc(sums[r / 2][tile][2 * (r % 2) + odd]),
                                kAdds ? result : Result(0.F), kAdds);
          }
        }
      }
    }
  }
};

/// Block: g.passes times kRows rows of C, all columns; warp: 16 kFragments of the rows. Shared
/// memory: B as fragments, a pass's part of A, and of C.
template <class T, class TOut, int kTiles, bool kColumnsOfA>
__global__ void __launch_bounds__(kUpdateStreamThreads, 2)
    update_stream_kernel(UpdateArguments<T, TOut> g) {
  using Update = StreamUpdate<T, TOut, kTiles, kColumnsOfA>;
  using E = typename Update::E;
  using Result = typename Update::Result;
  constexpr int kRows = update_stream_rows(kTiles);
  constexpr int kThreadsLog2 = 8;
  static_assert(1 << kThreadsLog2 == kUpdateStreamThreads);
  extern __shared__ __align__(16) char staged[];
  device::let_next_kernel_start();
  const int thread = static_cast<int>(threadIdx.x);
  const int lane = thread % 32;
  const int own = thread / 32 * 16 * Update::kFragments;  // first row of the warp's
  device::wait_for_kernel_ahead();
  const Factors<device::DeviceAccumulator<T>> factors(g);
  const int steps = (factors.k + Update::kDepth - 1) / Update::kDepth;
  const int tiles = (g.n + 7) / 8;
  auto* const b = reinterpret_cast<uint2*>(staged);
  char* const a_place =
      staged + kTiles * ((g.k + Update::kDepth - 1) / Update::kDepth) * 32 * sizeof(uint2);
  const WordLinesPlan a_plan(g.a_strides, kRows, g.k, sizeof(E), kUpdateStreamGap);
  const WordLinesPlan c_plan(g.c_strides, kRows, g.n, sizeof(Result));
  const std::int64_t first = std::int64_t{blockIdx.x} * g.passes * kRows;
  const std::int64_t end = min(first + g.passes * kRows, g.m);
  const auto rows_from = [&](std::int64_t row) {
    return static_cast<int>(min(std::int64_t{kRows}, end - row));
  };
  const auto fetch_a = [&](std::int64_t row) {
    if (row >= end || steps == 0) return;
    const WordLines<const E> a(g.a + row * g.a_strides.row, g.a_strides, a_plan, rows_from(row),
                               factors.k, a_place);
    a.fetch_by(thread, kThreadsLog2, end_of(g.a, g.a_strides, g.m, g.k));
  };
  fetch_a(first);
  stage_stream_b<kTiles>(b, g, factors.k, steps);
#pragma unroll 1
  for (std::int64_t row = first; row < end; row += kRows) {
    const WordLines<Result> c(g.c + row * g.c_strides.row, g.c_strides, c_plan, rows_from(row), g.n,
                              a_place + a_plan.bytes);
    if (factors.adds()) {
      __syncthreads();  // C of the pass before has left
      c.fetch_by(thread, kThreadsLog2, end_of(g.c, g.c_strides, g.m, g.n));
    }
    device::wait_for_copies();
    __syncthreads();  // A, B and C are there
    if (own < rows_from(row)) {
      typename Update::Sums sums = {};
      const int past =
          static_cast<int>(reinterpret_cast<std::uintptr_t>(g.a + row * g.a_strides.row) % 16);
      const typename Update::A a(a_plan.column, a_plan.row, past, own, kRows, Update::A::kTurn,
                                 lane);
      if (steps > 0) Update::multiply(sums, a, a_place, b, steps, factors.k, tiles, lane);
      char* const c_row = c.shared + own * c_plan.row;
      if (factors.adds()) {
        Update::template leave<true>(sums, c_row, c_plan, g.n, factors, lane);
      } else {
        Update::template leave<false>(sums, c_row, c_plan, g.n, factors, lane);
      }
    }
    __syncthreads();  // C is whole before it leaves, and A has been read
    fetch_a(row + kRows);
    c.leave_by(thread, kThreadsLog2);
  }
}

}  // namespace lanky::dense::cuda
