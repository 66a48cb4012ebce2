// Gram products of a row-major A with few columns of B: C[i, j] = sum over k of A[k][i] B[k][j], n
// at most 8 (n = 1: a transposed matrix times a vector). Lanes share out the 16-byte units of a row
// and the rows.
#pragma once

#include "dense/cuda/gram/vector.cuh"

namespace lanky::dense::cuda {

/// Warp: rows_at_once = 32 / lanes rows of `lanes` units (m / kVector, at most 32) a step, of the
/// steps every (8 gridDim.x)-th, kUnroll of them in flight. Lane: one unit of one row, kVector x kN
/// sums. B may have any strides: its elements are read by all lanes of a row at once; columns
/// beyond n repeat the last one. Shared memory: [warps][rows_at_once][m][kN] sums.
template <class T, int kN>
__global__ __launch_bounds__(kGramVectorWarps * 32) void gram_row_strip_kernel(GramArguments<T> g) {
  using E = device::DeviceElement<T>;
  using Acc = device::DeviceAccumulator<T>;
  constexpr int kVector = 16 / sizeof(E);
  constexpr int kUnroll = kN == 1 ? 8 : 4;
  extern __shared__ __align__(16) char dynamic_shared[];
  Acc* const shared_sums = reinterpret_cast<Acc*>(dynamic_shared);

  device::let_next_kernel_start();
  device::wait_for_kernel_ahead();
  const std::int64_t k = g.alpha.load() == Acc(0) ? 0 : g.k;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const int lanes = g.m / kVector;
  const int rows_at_once = 32 / lanes;
  const int row = lane / lanes;
  const int unit = lane % lanes;
  const bool works = row < rows_at_once;
  const std::int64_t stride = std::int64_t{gridDim.x} * kGramVectorWarps * rows_at_once;

  const E* right_columns[kN];
#pragma unroll
  for (int j = 0; j < kN; ++j)
    right_columns[j] = g.b + min(j, g.n - 1) * g.b_strides.col;

  Acc sums[kN][kVector] = {};
  const auto add_steps = [&](std::int64_t p, auto count) {
    constexpr int kSteps = decltype(count)::value;
    uint4 words[kSteps];
    E right[kSteps][kN];
#pragma unroll
    for (int u = 0; u < kSteps; ++u) {
      const std::int64_t q = p + u * stride;
      words[u] = __ldg(reinterpret_cast<const uint4*>(g.a + q * g.a_strides.col + unit * kVector));
#pragma unroll
      for (int j = 0; j < kN; ++j)
        right[u][j] = right_columns[j][q * g.b_strides.row];
    }
#pragma unroll
    for (int u = 0; u < kSteps; ++u) {
      E left[kVector];
      memcpy(left, &words[u], sizeof(left));
#pragma unroll
      for (int j = 0; j < kN; ++j) {
#pragma unroll
        for (int v = 0; v < kVector; ++v)
          sums[j][v] =
              fma(device::conjugate_if(g.conj_a, device::factor<Acc>(left[v])),
                  device::conjugate_if(g.conj_b, device::factor<Acc>(right[u][j])), sums[j][v]);
      }
    }
  };
  if (works) {
    std::int64_t p = (std::int64_t{blockIdx.x} * kGramVectorWarps + warp) * rows_at_once + row;
    for (; p + (kUnroll - 1) * stride < k; p += kUnroll * stride)
      add_steps(p, std::integral_constant<int, kUnroll>());
    for (; p < k; p += stride)
      add_steps(p, std::integral_constant<int, 1>());
  }

  const int elements = g.m * g.n;
  if (works) {
#pragma unroll
    for (int j = 0; j < kN; ++j) {
#pragma unroll
      for (int v = 0; v < kVector; ++v) {
        if (j < g.n)
          shared_sums[(warp * rows_at_once + row) * elements + j * g.m + unit * kVector + v] =
              sums[j][v];
      }
    }
  }
  __syncthreads();  // the lanes' sums are written before they are added
  for (int s = static_cast<int>(threadIdx.x); s < elements; s += kGramVectorWarps * 32) {
    Acc sum = 0;
    for (int part = 0; part < kGramVectorWarps * rows_at_once; ++part)
      sum += shared_sums[part * elements + s];
    g.partials[std::int64_t{blockIdx.x} * elements + s] = sum;
  }
}

}  // namespace lanky::dense::cuda
