// C of a panel product whose columns of A lie off 16 bytes: the sums of all classes of columns, each
// of them with rows of its own (PanelClasses), added up.
#pragma once

#include "dense/cuda/panel_ring.cuh"

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

/// Block: 32 rows of C; warp: every eighth column; lane: a row. The rows are in one or two tiles of
/// each class.
template <class T>
__global__ __launch_bounds__(32 * kPanelClassSumWarps) void panel_class_sum_kernel(
    const __grid_constant__ PanelArguments<T> g) {
  using Acc = device::DeviceAccumulator<T>;
  constexpr int kMostClasses = PanelMaps<T>::kCount;
  __shared__ PanelTileSums sums[kMostClasses][2];
  device::let_next_kernel_start();
  const PanelPlan& plan = g.plan;
  const int classes = 1 << plan.classes.log2;
  const std::int64_t first = std::int64_t{blockIdx.x} * 32;
  if (threadIdx.x < 2 * classes) {
    const int c = static_cast<int>(threadIdx.x) / 2;
    const std::int64_t in_class = (first + g.past_multiple(c)) / plan.tile_rows + threadIdx.x % 2;
    const std::int64_t tile = (in_class << plan.classes.log2) + c;
    if (tile < plan.tiles) sums[c][threadIdx.x % 2] = PanelTileSums(plan, tile);
  }
  __syncthreads();  // the places are known
  device::wait_for_kernel_ahead();
  const PanelFinish<T> finish(g);
  const int n = static_cast<int>(g.problem.n);
  const std::int64_t i = first + threadIdx.x % 32;
  if (i >= g.problem.m) return;
  const std::int64_t of_tile = std::int64_t{n} * plan.tile_rows;
  const int in_tile = static_cast<int>(first % plan.tile_rows);
  for (int j = static_cast<int>(threadIdx.x) / 32; j < n; j += kPanelClassSumWarps) {
    Acc sum(0);
    if (!finish.skips_product()) {
#pragma unroll 2
      for (int c = 0; c < classes; ++c) {
        const int past = g.past_multiple(c);
        const int begin = (in_tile + past) / plan.tile_rows * plan.tile_rows;  // of the first tile
        int row = in_tile + past + static_cast<int>(threadIdx.x % 32) - begin;
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
    }
    finish.store(i, j, sum);
  }
}

}  // namespace lanky::dense::cuda
