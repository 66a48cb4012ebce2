// C[m, n] = alpha A[m, k] B[k, n] + beta C on tensor cores, long m, A and C by rows or by columns
// off 16 bytes: their lines pass through shared memory in the aligned words of 16 bytes that hold
// them, and are read and written there one element at a time.
#pragma once

#include "dense/cuda/update/arguments.cuh"
#include "dense/cuda/update/mma.cuh"
#include "dense/cuda/word_lines.cuh"

namespace lanky::dense::cuda {

/// How a warp multiplies 32 rows by up to 32 columns at once. Element e of lane (g, t) in a step's
/// fragments is the one with k = t + 4 e.
template <class T>
struct UpdateWordsShape {
  using Element = device::DeviceElement<T>;
  using F = Fragment<Element>;
  using Sum = std::conditional_t<sizeof(Element) == 2, float, double>;
  static constexpr int kTiles = 4;
  static constexpr int kDepth = 4 * F::kSpan;  // of a step
  using Sums = Sum[2][kTiles][4];
};

/// B as fragments [n-tile][step of k][lane], zeros beyond k and n.
template <class T, class TOut>
__device__ void stage_words_b(typename UpdateWordsShape<T>::F::B* fragments,
                              const UpdateArguments<T, TOut>& g, int k, int tiles, int steps) {
  using Shape = UpdateWordsShape<T>;
  using F = typename Shape::F;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  for (int f = static_cast<int>(threadIdx.x) / 32; f < tiles * steps;
       f += kUpdateWordsThreads / 32) {
    const int p = f % steps * Shape::kDepth + lane % 4;
    const int j = f / steps * 8 + lane / 4;
    typename F::B b;
#pragma unroll
    for (int e = 0; e < F::kSpan; ++e) {
      b.e[e] = p + 4 * e < k && j < g.n ? g.b[(p + 4 * e) * g.b_strides.row + j * g.b_strides.col]
                                        : typename Shape::Element(0.F);
    }
    fragments[f * 32 + lane] = b;
  }
}

/// Adds a step's products of the rows of A at `source` and the first `tiles` of the n-tiles at b,
/// `pitch` apart; kPartly: of the step's elements of k the first `depth` exist.
template <class T, bool kPartly>
__device__ void multiply_words(typename UpdateWordsShape<T>::Sums& sums, const char* source,
                               const WordLinesPlan& plan, int depth,
                               const typename UpdateWordsShape<T>::F::B* b, int pitch, int tiles) {
  using Shape = UpdateWordsShape<T>;
  using Element = typename Shape::Element;
  using F = typename Shape::F;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  typename F::A fragments[2];
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    Element values[F::kSpan][2];
#pragma unroll
    for (int e = 0; e < F::kSpan; ++e) {
      const bool exists = !kPartly || lane % 4 + 4 * e < depth;
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        values[e][half] = Element(0.F);
        if (exists) {
          values[e][half] = *reinterpret_cast<const Element*>(
              source + (16 * i + 8 * half) * plan.row + 4 * e * plan.column);
        }
      }
    }
    F::from_columns(fragments[i], values, 0);
  }
#pragma unroll
  for (int tile = 0; tile < Shape::kTiles; ++tile) {
    if (tile >= tiles) break;
    const typename F::B column = b[tile * pitch];
    F::multiply(sums[0][tile], fragments[0], column);
    F::multiply(sums[1][tile], fragments[1], column);
  }
}

/// C = alpha sums + beta C in shared memory, `c_row` being a lane's first element: of `tiles`
/// n-tiles and n columns those from n-tile n0 on.
template <class T, class TOut>
__device__ void leave_words_tiles(const typename UpdateWordsShape<T>::Sums& sums, char* c_row,
                                  const WordLinesPlan& plan, int n0, int tiles, int n,
                                  const Factors<device::DeviceAccumulator<T>>& factors) {
  using Acc = device::DeviceAccumulator<T>;
  using Result = device::DeviceElement<TOut>;
  const int lane = static_cast<int>(threadIdx.x) % 32;
#pragma unroll
  for (int tile = 0; tile < UpdateWordsShape<T>::kTiles; ++tile) {
    if (n0 + tile >= tiles) break;
#pragma unroll
    for (int odd = 0; odd < 2; ++odd) {
      if ((n0 + tile) * 8 + lane % 4 * 2 + odd >= n) continue;
      char* const target = c_row + (tile * 8 + odd) * plan.column;
#pragma unroll
      for (int r = 0; r < 4; ++r) {
        Result& result = *reinterpret_cast<Result*>(target + r * 8 * plan.row);
        result = factors.of(Acc(sums[r / 2][tile][r % 2 * 2 + odd]), result, factors.adds());
      }
    }
  }
}

/// Block: 128 g.passes rows of C, all columns; warp: g.passes times 32 rows. Shared memory: B as
/// fragments, the block's part of A, and of C.
template <class T, class TOut>
__global__ void __launch_bounds__(kUpdateWordsThreads)
    update_words_kernel(UpdateArguments<T, TOut> g) {
  using Shape = UpdateWordsShape<T>;
  using Element = typename Shape::Element;
  using Result = device::DeviceElement<TOut>;
  using B = typename Shape::F::B;
  constexpr int kDepth = Shape::kDepth;
  extern __shared__ __align__(16) char staged[];
  device::let_next_kernel_start();
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const int block_rows = kUpdateWordsThreads * g.passes;
  const std::int64_t first = std::int64_t{blockIdx.x} * block_rows;
  const int rows = static_cast<int>(min(std::int64_t{block_rows}, g.m - first));
  device::wait_for_kernel_ahead();
  const Factors<device::DeviceAccumulator<T>> factors(g);
  const int k = factors.k;
  const int steps = (k + kDepth - 1) / kDepth;
  const int tiles = (g.n + 7) / 8;
  auto* const b_shared = reinterpret_cast<B*>(staged);
  char* const a_place = staged + tiles * ((g.k + kDepth - 1) / kDepth) * 32 * sizeof(B);
  const WordLinesPlan a_plan(g.a_strides, block_rows, g.k, sizeof(Element));
  const WordLinesPlan c_plan(g.c_strides, block_rows, g.n, sizeof(Result));
  const WordLines<const Element> a(g.a + first * g.a_strides.row, g.a_strides, a_plan, rows, k,
                                   a_place);
  const WordLines<Result> c(g.c + first * g.c_strides.row, g.c_strides, c_plan, rows, g.n,
                            a_place + a_plan.bytes);
  a.template fetch<kUpdateWordsThreads>(end_of(g.a, g.a_strides, g.m, g.k));
  if (factors.adds()) c.template fetch<kUpdateWordsThreads>(end_of(g.c, g.c_strides, g.m, g.n));
  stage_words_b(b_shared, g, k, tiles, steps);
  device::wait_for_copies();
  __syncthreads();  // A, B and C are there

  for (int pass = 0; pass < g.passes; ++pass) {
    const int row = (warp * g.passes + pass) * 32 + lane / 4;
    if (row - lane / 4 >= rows) break;
    const char* const a_row = a.shared + row * a_plan.row + lane % 4 * a_plan.column;
    for (int n0 = 0; n0 < tiles; n0 += Shape::kTiles) {
      typename Shape::Sums sums = {};
      const auto multiply = [&](int step, auto partly) {
        multiply_words<T, decltype(partly)::value>(
            sums, a_row + step * kDepth * a_plan.column, a_plan, k - step * kDepth,
            b_shared + (n0 * steps + step) * 32 + lane, steps * 32, tiles - n0);
      };
#pragma unroll 1
      for (int step = 0; step < k / kDepth; ++step)
        multiply(step, std::false_type());
      if (k % kDepth != 0) multiply(steps - 1, std::true_type());
      char* const c_row = c.shared + row * c_plan.row + (n0 * 8 + lane % 4 * 2) * c_plan.column;
      leave_words_tiles<T, TOut>(sums, c_row, c_plan, n0, tiles, g.n, factors);
    }
  }
  __syncthreads();  // C is whole before it leaves
  c.template leave<kUpdateWordsThreads>();
}

}  // namespace lanky::dense::cuda
