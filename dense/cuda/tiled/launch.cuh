// Launches of the tile kernel; instantiated for every type in tiled.cu.
#pragma once

#include <utility>

#include "dense/cuda/run.hpp"
#include "dense/cuda/tiled/reduce.cuh"
#include "dense/cuda/tiled/tile.cuh"
#include "device/launch.cuh"

namespace lanky::dense::cuda {

/// Blocks beyond this many walk over several tiles.
inline constexpr std::int64_t kMaxBlocks = 1 << 20;

inline unsigned grid_of(std::int64_t blocks) {
  return static_cast<unsigned>(std::min(blocks, kMaxBlocks));
}

/// gemm_tile_kernel of kTiles[index].
template <class T, class TOut>
auto tile_kernel(int index) {
  return [index]<int... kIndices>(std::integer_sequence<int, kIndices...> /*all*/) {
    const auto kernels = {&gemm_tile_kernel<kIndices, T, TOut>...};
    return kernels.begin()[index];
  }
  (std::make_integer_sequence<int, kTileCount>());
}

template <class T, class TOut>
void prepare(const Stream& stream, const Problem& /*problem*/, const TiledLaunch& launch) {
  device::load_kernels(stream, tile_kernel<T, TOut>(launch.tile), &gemm_reduce_kernel<T, TOut>);
}

template <class T, class TOut>
void run(const Stream& stream, const Problem& problem, const TiledLaunch& launch,
         const Operands<T, TOut>& operands) {
  const Tile tile = tile_for(launch.tile, sizeof(Accumulator<T>));
  const TileArguments<T, TOut> arguments{
      .problem = problem,
      .split = launch.split,
      .tiles_m = device::ceil_div<std::int64_t>(problem.m, tile.m),
      .tiles_n = device::ceil_div<std::int64_t>(problem.n, tile.n),
      .a = device::device_pointer(operands.a),
      .b = device::device_pointer(operands.b),
      .c = device::device_pointer(operands.c),
      .partials = static_cast<device::DeviceAccumulator<T>*>(operands.workspace),
      .alpha = device::DeviceScalar<Accumulator<T>>(operands.alpha),
      .beta = device::DeviceScalar<Accumulator<T>>(operands.beta)};
  const device::LaunchScope scope(stream);
  const unsigned grid = grid_of(arguments.tiles_m * arguments.tiles_n * launch.split.count);
  tile_kernel<T, TOut>(launch.tile)<<<grid, tile.threads(), 0, stream.native()>>>(arguments);
  scope.check("gemm_tile_kernel");
  if (launch.split.count == 1) return;
  const std::int64_t blocks =
      device::ceil_div<std::int64_t>(problem.m * problem.n, kReduceElements);
  gemm_reduce_kernel<<<grid_of(blocks), kReduceElements * kReduceSlices, 0, stream.native()>>>(
      arguments);
  scope.check("gemm_reduce_kernel");
}

}  // namespace lanky::dense::cuda
