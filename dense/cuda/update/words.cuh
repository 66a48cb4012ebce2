// C[m, n] = alpha A[m, k] B[k, n] + beta C on tensor cores, long m, A and C by rows or by columns
// off 16 bytes: their lines pass through shared memory in the aligned words of 16 bytes that hold
// them, and are read and written there one element at a time.
#pragma once

#include "dense/cuda/update/arguments.cuh"
#include "dense/cuda/update/mma.cuh"
#include "dense/cuda/word_lines.cuh"

namespace lanky::dense::cuda {

/// Block: 128 g.passes rows of C, all columns; warp: g.passes times 32 rows, up to 32 columns at
/// once. Shared memory: B as fragments [n-tile][step of k][lane], the block's part of A, and of C.
/// Element e of lane (g, t) in a step's fragments is the one with k = t + 4 e.
template <class T, class TOut>
__global__ void __launch_bounds__(kUpdateWordsThreads)
    update_words_kernel(UpdateArguments<T, TOut> g) {
  using Acc = device::DeviceAccumulator<T>;
  using Element = device::DeviceElement<T>;
  using Result = device::DeviceElement<TOut>;
  using F = Fragment<Element>;
  using Sum = std::conditional_t<sizeof(Element) == 2, float, double>;
  constexpr int kTiles = 4;
  constexpr int kDepth = 4 * F::kSpan;  // of a step
  constexpr int kWarps = kUpdateWordsThreads / 32;
  extern __shared__ __align__(16) char staged[];
  device::let_next_kernel_start();
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const int block_rows = kUpdateWordsThreads * g.passes;
  const std::int64_t first = std::int64_t{blockIdx.x} * block_rows;
  const int rows = static_cast<int>(min(std::int64_t{block_rows}, g.m - first));
  device::wait_for_kernel_ahead();
  const Factors<Acc> factors(g);
  const int k = factors.k;
  const int steps = (k + kDepth - 1) / kDepth;
  const int tiles = (g.n + 7) / 8;
  auto* const b_shared = reinterpret_cast<typename F::B*>(staged);
  char* const a_place = staged + tiles * ((g.k + kDepth - 1) / kDepth) * 32 * sizeof(typename F::B);
  const WordLinesPlan a_plan(g.a_strides, block_rows, g.k, sizeof(Element));
  const WordLinesPlan c_plan(g.c_strides, block_rows, g.n, sizeof(Result));
  const WordLines<const Element> a(g.a + first * g.a_strides.row, g.a_strides, a_plan, rows, k,
                                   a_place);
  const WordLines<Result> c(g.c + first * g.c_strides.row, g.c_strides, c_plan, rows, g.n,
                            a_place + a_plan.bytes);
  a.template fetch<kUpdateWordsThreads>(end_of(g.a, g.a_strides, g.m, g.k));
  if (factors.adds()) c.template fetch<kUpdateWordsThreads>(end_of(g.c, g.c_strides, g.m, g.n));
  for (int f = warp; f < tiles * steps; f += kWarps) {
    const int p = f % steps * kDepth + lane % 4;
    const int j = f / steps * 8 + lane / 4;
    typename F::B b;
#pragma unroll
    for (int e = 0; e < F::kSpan; ++e) {
      b.e[e] = p + 4 * e < k && j < g.n ? g.b[(p + 4 * e) * g.b_strides.row + j * g.b_strides.col]
                                        : Element(0.F);
    }
    b_shared[f * 32 + lane] = b;
  }
  device::wait_for_copies();
  __syncthreads();  // A, B and C are there

  for (int pass = 0; pass < g.passes; ++pass) {
    const int row = (warp * g.passes + pass) * 32 + lane / 4;
    if (row - lane / 4 >= rows) break;
    const char* const a_row = a.shared + row * a_plan.row + lane % 4 * a_plan.column;
    for (int n0 = 0; n0 < tiles; n0 += kTiles) {
      Sum sums[2][kTiles][4] = {};
      const auto multiply = [&](int step, auto partly) {
        constexpr bool kPartly = decltype(partly)::value;
        const char* const source = a_row + step * kDepth * a_plan.column;
        typename F::A fragments[2];
#pragma unroll
        for (int i = 0; i < 2; ++i) {
          Element values[F::kSpan][2];
#pragma unroll
          for (int e = 0; e < F::kSpan; ++e) {
            const bool exists = !kPartly || step * kDepth + lane % 4 + 4 * e < k;
#pragma unroll
            for (int half = 0; half < 2; ++half) {
              values[e][half] = Element(0.F);
              if (exists) {
                values[e][half] = *reinterpret_cast<const Element*>(
                    source + (16 * i + 8 * half) * a_plan.row + 4 * e * a_plan.column);
              }
            }
          }
          F::from_columns(fragments[i], values, 0);
        }
        const typename F::B* const b = b_shared + (n0 * steps + step) * 32 + lane;
#pragma unroll
        for (int tile = 0; tile < kTiles; ++tile) {
          if (n0 + tile >= tiles) break;
          const typename F::B column = b[tile * steps * 32];
          F::multiply(sums[0][tile], fragments[0], column);
          F::multiply(sums[1][tile], fragments[1], column);
        }
      };
#pragma unroll 1
      for (int step = 0; step < k / kDepth; ++step)
        multiply(step, std::false_type());
      if (k % kDepth != 0) multiply(steps - 1, std::true_type());
      char* const c_row = c.shared + row * c_plan.row + (n0 * 8 + lane % 4 * 2) * c_plan.column;
#pragma unroll
      for (int tile = 0; tile < kTiles; ++tile) {
        if (n0 + tile >= tiles) break;
#pragma unroll
        for (int odd = 0; odd < 2; ++odd) {
          if ((n0 + tile) * 8 + lane % 4 * 2 + odd >= g.n) continue;
          char* const target = c_row + (tile * 8 + odd) * c_plan.column;
#pragma unroll
          for (int r = 0; r < 4; ++r) {
            Result& result = *reinterpret_cast<Result*>(target + r * 8 * c_plan.row);
            result = factors.of(Acc(sums[r / 2][tile][r % 2 * 2 + odd]), result, factors.adds());
          }
        }
      }
    }
  }
  __syncthreads();  // C is whole before it leaves
  c.template leave<kUpdateWordsThreads>();
}

}  // namespace lanky::dense::cuda
