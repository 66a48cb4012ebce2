// C[m, n] = alpha A[m, k] B[k, n] + beta C on tensor cores, long m, of reals whose lines may be off
// 16 bytes: A and C pass through shared memory in the aligned words of 16 bytes that hold them
// (dense/word_lines.hpp).
#pragma once

#include "dense/cuda/small_division.cuh"
#include "dense/cuda/update/stream_products.cuh"
#include "dense/cuda/word_lines.cuh"

namespace lanky::dense::cuda {

/// B as fragments [step of k][n-tile][lane], zeros beyond k and n. All loads of a batch are issued,
/// from places that exist, before one is waited for.
template <class Products, class T, class TOut>
__device__ void stage_stream_b(typename Products::B* fragments, const UpdateArguments<T, TOut>& g,
                               int k, int tiles) {
  using E = device::DeviceElement<T>;
  constexpr int kSpan = Products::kSpanOfB;
  constexpr int kBatch = 16 / kSpan;
  constexpr int kWarps = kUpdateStreamThreads / 32;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int all = (k + Products::kDepth - 1) / Products::kDepth * tiles;
  const SmallDivision by_tiles(static_cast<unsigned>(tiles));
  const auto column_of = [&](int fragment) { return by_tiles.remainder(fragment) * 8 + lane / 4; };
  const auto k_of = [&](int fragment) {
    return Products::first_of_b(by_tiles.quotient(fragment), lane);
  };
#pragma unroll 1
  for (int first = static_cast<int>(threadIdx.x) / 32; first < all; first += kBatch * kWarps) {
    E values[kBatch][kSpan];
#pragma unroll
    for (int s = 0; s < kBatch; ++s) {
      const int fragment = min(first + s * kWarps, all - 1);
      const int p = k_of(fragment);
      const E* const column = g.b + min(column_of(fragment), g.n - 1) * g.b_strides.col;
#pragma unroll
      for (int e = 0; e < kSpan; ++e)
        values[s][e] = column[min(p + e * Products::kStrideOfB, k - 1) * g.b_strides.row];
    }
#pragma unroll
    for (int s = 0; s < kBatch; ++s) {
      const int fragment = first + s * kWarps;
      if (fragment >= all) break;
      const int left = column_of(fragment) < g.n ? k - k_of(fragment) : 0;
#pragma unroll
      for (int e = 0; e < kSpan; ++e)
        if (e * Products::kStrideOfB >= left) values[s][e] = E(0.F);
      fragments[fragment * 32 + lane] = Products::fragment_of(values[s]);
    }
  }
}

/// C = alpha sums + beta C in shared memory, where beta is 0 unless kAdds, of n columns; c_row: the
/// warp's first row of C there, from its first column on.
template <class Products, bool kAdds, class Result, class Acc>
__device__ void leave_stream(const typename Products::Sums& sums, char* c_row,
                             const WordLinesPlan& plan, int n, const Factors<Acc>& factors,
                             int lane) {
  constexpr int kRows = 2 * Products::kFragments;  // of a lane
  char* rows[kRows];                               // from its first column on
#pragma unroll
  for (int r = 0; r < kRows; ++r) {
    rows[r] = c_row + (16 * (r / 2) + Products::line(lane / 4, r % 2)) * plan.row +
              lane % 4 * 2 * plan.column;
  }
  const int left = n - lane % 4 * 2;
#pragma unroll
  for (int tile = 0; tile < Products::kTiles; ++tile) {
    if (tile % 4 == 0 && tile * 8 >= n) break;
#pragma unroll
    for (int odd = 0; odd < 2; ++odd) {
      const int at = (tile * 8 + odd) * plan.column;
      if (tile * 8 + odd < left) {
#pragma unroll
        for (int r = 0; r < kRows; ++r) {
          Result& result = *reinterpret_cast<Result*>(rows[r] + at);
          result = factors.of(Acc(sums[r / 2][tile][2 * (r % 2) + odd]),
                              kAdds ? result : Result(0.F), kAdds);
        }
      }
    }
  }
}

/// Block: g.passes times `rows` rows of C, all columns. Warps share out rows and, beyond
/// stream.row_warps of them, n-tiles. Shared memory: B as fragments, one or two slots with a pass's
/// part of A, and its part of C.
template <class Products, class T, class TOut>
__global__ void __launch_bounds__(kUpdateStreamThreads, 2)
    update_stream_kernel(UpdateArguments<T, TOut> g) {
  using E = device::DeviceElement<T>;
  using Result = device::DeviceElement<TOut>;
  using Acc = device::DeviceAccumulator<T>;
  constexpr int kThreadsLog2 = 8;
  static_assert(1 << kThreadsLog2 == kUpdateStreamThreads);
  constexpr int kWarpRows = 16 * Products::kFragments;
  extern __shared__ __align__(16) char staged[];
  device::let_next_kernel_start();
  const int thread = static_cast<int>(threadIdx.x);
  const int lane = thread % 32;
  const UpdateStreamPlan stream = g.stream;
  const int rows = stream.turns * stream.row_warps * kWarpRows;
  device::wait_for_kernel_ahead();
  const Factors<Acc> factors(g);
  const int tiles = (g.n + 7) / 8;
  auto* const b = reinterpret_cast<typename Products::B*>(staged);
  const WordLinesPlan a_plan(g.a_strides, rows, g.k, sizeof(E), kUpdateStreamGap);
  const WordLinesPlan c_plan(g.c_strides, rows, g.n, sizeof(Result));
  const int b_bytes =
      update_stream_b_bytes(g.n, g.k, Products::kDepth, sizeof(typename Products::B));
  char* const a_place = staged + b_bytes;
  const int slot_bytes = update_stream_slot_bytes(a_plan, g.k, Products::kReadDepth);
  char* const c_place = a_place + stream.slots * slot_bytes;
  const std::int64_t first = std::int64_t{blockIdx.x} * g.passes * rows;
  const std::int64_t end = min(first + std::int64_t{g.passes} * rows, g.m);
  const auto c_of = [&](std::int64_t row) {
    return WordLines<Result>(g.c + row * g.c_strides.row, g.c_strides, c_plan,
                             static_cast<int>(min(std::int64_t{rows}, end - row)), g.n, c_place);
  };
  // The warp's share.
  const int warp = thread / 32;
  const int groups = kUpdateStreamThreads / 32 / stream.row_warps;  // that share out n-tiles
  const int tiles_each = (tiles + groups - 1) / groups;
  const int first_tile = warp / stream.row_warps * tiles_each;
  const int last_tile = min(first_tile + tiles_each, tiles);
  const int first_row = warp % stream.row_warps * kWarpRows;

  const auto fetch_a = [&](std::int64_t row, int slot) {
    if (row >= end || factors.k == 0) return;
    const WordLines<const E> a(g.a + row * g.a_strides.row, g.a_strides, a_plan,
                               static_cast<int>(min(std::int64_t{rows}, end - row)), factors.k,
                               a_place + slot * slot_bytes);
    a.fetch_by(thread, kThreadsLog2, end_of(g.a, g.a_strides, g.m, g.k));
  };
  fetch_a(first, 0);
  if (factors.k > 0) stage_stream_b<Products>(b, g, factors.k, tiles);
  int slot = 0;
#pragma unroll 1
  for (std::int64_t row = first; row < end; row += rows) {
    const auto c = c_of(row);
    if (factors.adds()) {
      __syncthreads();  // C of the pass before has left
      c.fetch_by(thread, kThreadsLog2, end_of(g.c, g.c_strides, g.m, g.n));
    }
    device::group_copies();
    if (stream.slots > 1) fetch_a(row + rows, slot ^ 1);
    device::group_copies();
    device::wait_for_copy_groups<1>();
    __syncthreads();  // A, B and C are there, and C of the pass before has left
    const char* const a_slot = a_place + slot * slot_bytes;
    const int past =
        static_cast<int>(reinterpret_cast<std::uintptr_t>(g.a + row * g.a_strides.row) % 16);
#pragma unroll 1
    for (int own = first_row; own < min(std::int64_t{rows}, end - row);
         own += stream.row_warps * kWarpRows) {
#pragma unroll 1
      for (int n0 = first_tile; n0 < last_tile; n0 += Products::kTiles) {
        typename Products::Sums sums = {};
        Products::multiply(sums, a_plan, a_slot, past, own, rows, b + n0 * 32, tiles,
                           last_tile - n0, factors.k, lane);
        char* const c_row = c.shared + own * c_plan.row + n0 * 8 * c_plan.column;
        const int columns = min(g.n, last_tile * 8) - n0 * 8;
        if (factors.adds()) {
          leave_stream<Products, true, Result>(sums, c_row, c_plan, columns, factors, lane);
        } else {
          leave_stream<Products, false, Result>(sums, c_row, c_plan, columns, factors, lane);
        }
      }
    }
    __syncthreads();  // C is whole before it leaves, and A has been read
    if (stream.slots > 1) {
      slot ^= 1;
    } else {
      fetch_a(row + rows, 0);
    }
    c.leave_by(thread, kThreadsLog2);
  }
}

}  // namespace lanky::dense::cuda
