// C of a panel product whose A lies off 16 bytes, from the sums that panel_ring_kernel has left of
// each class of its lines (PanelClasses).
#pragma once

#include "dense/cuda/panel/ring.cuh"

namespace lanky::dense::cuda {

inline constexpr int kPanelClassSumWarps = 8;

/// Where the sums of a tile were left: by the blocks `from` to `to`, as the `kept`-th tile of the
/// first of them and the first one of the others.
struct PanelTileSums {
  int from;
  int to;
  int kept;

  PanelTileSums() = default;
  __device__ PanelTileSums(const PanelPlan& plan, std::int64_t tile) {
    const std::int64_t unit = tile * plan.steps;
    from = plan.block_of(unit);
    to = plan.block_of(unit + plan.steps - 1);
    kept = static_cast<int>(tile - plan.first_unit(from) / plan.steps);
  }
};

/// `sum` with the products of the elements of A that the class of its row has left out.
template <class T>
__device__ device::DeviceAccumulator<T> completed(const PanelArguments<T>& g, std::int64_t i, int j,
                                                  device::DeviceAccumulator<T> sum) {
  using Acc = device::DeviceAccumulator<T>;
  const Problem& problem = g.problem;
  const auto* const a = g.a + i * problem.a.row;
  const auto* const b = g.b + j * problem.b.col;
  const int count = g.left_out(i);
#pragma unroll 1
  for (int p = 0; p < count; ++p) {
    const Acc factor = device::widen(b[p * problem.b.row]);
    sum = fma(device::widen(a[p]), device::conjugate_if(problem.conj_a != problem.conj_b, factor),
              sum);
  }
  return sum;
}

/// Block: 32 rows of C; warp: every eighth column; lane: a row. Of the rows of a class they are in
/// one tile or in two.
template <class T>
__global__ __launch_bounds__(32 * kPanelClassSumWarps) void panel_class_sum_kernel(
    const __grid_constant__ PanelArguments<T> g) {
  using Acc = device::DeviceAccumulator<T>;
  __shared__ PanelTileSums sums[PanelMaps<T>::kCount][2];
  device::let_next_kernel_start();
  const PanelPlan& plan = g.plan;
  const bool of_k = plan.classes.of_k;
  const int log2 = plan.classes.log2;
  const std::int64_t first = std::int64_t{blockIdx.x} * 32;
  // Where row i of C is among the rows of class c, and the tile of the block's first row there.
  const auto row_of = [&](int c, std::int64_t i) {
    return of_k ? i + g.past_multiple(c) : i >> log2;
  };
  const auto tile_of = [&](int c) { return row_of(c, first) / plan.tile_rows; };
  if (threadIdx.x < 2U << log2) {
    const int c = static_cast<int>(threadIdx.x) / 2;
    const std::int64_t tile = ((tile_of(c) + threadIdx.x % 2) << log2) + c;
    if (tile < plan.tiles) sums[c][threadIdx.x % 2] = PanelTileSums(plan, tile);
  }
  __syncthreads();  // the places are known
  device::wait_for_kernel_ahead();
  const PanelFinish<T> finish(g);
  const int n = static_cast<int>(g.problem.n);
  const std::int64_t i = first + threadIdx.x % 32;
  if (i >= g.problem.m) return;
  const std::int64_t of_tile = std::int64_t{n} * plan.tile_rows;
  const int own = static_cast<int>(i) & ((1 << log2) - 1);
  for (int j = static_cast<int>(threadIdx.x) / 32; j < n; j += kPanelClassSumWarps) {
    Acc sum(0);
    if (!finish.skips_product()) {
#pragma unroll 2
      for (int c = of_k ? 0 : own; c <= (of_k ? (1 << log2) - 1 : own); ++c) {
        int row = static_cast<int>(row_of(c, i) - tile_of(c) * plan.tile_rows);
        const bool second = row >= plan.tile_rows;
        if (second) row -= plan.tile_rows;
        const PanelTileSums place = sums[c][second ? 1 : 0];
        const Acc* const source = g.partials + std::int64_t{j} * plan.tile_rows + row;
        for (int block = place.from; block <= place.to; ++block) {
          const std::int64_t kept =
              std::int64_t{block} * plan.kept + (block == place.from ? place.kept : 0);
          sum += source[kept * of_tile];
        }
      }
      sum = completed(g, i, j, sum);
    }
    finish.store(i, j, sum);
  }
}

}  // namespace lanky::dense::cuda
