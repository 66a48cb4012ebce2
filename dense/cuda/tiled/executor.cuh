// Launches of the tile kernel; instantiated for every type in tiled.cu.
#pragma once

#include <utility>

#include "core/text.hpp"
#include "dense/cuda/tiled/executor.hpp"
#include "dense/cuda/tiled/reduce.cuh"
#include "dense/cuda/tiled/tile.cuh"
#include "device/launch.cuh"

namespace lanky::dense::cuda {

/// Chunks of k are made until every multiprocessor has this many blocks.
inline constexpr int kWantedBlocksPerMultiprocessor = 4;
/// Tiles of k in the shortest chunk, so that the partial sums stay far smaller than the operands.
inline constexpr int kMinStepsPerChunk = 4;
/// Blocks beyond this many walk over several tiles.
inline constexpr std::int64_t kMaxBlocks = 1 << 20;

inline unsigned grid_of(std::int64_t blocks) {
  return static_cast<unsigned>(std::min(blocks, kMaxBlocks));
}

template <class T, class TOut>
using TileKernel = void (*)(TileArguments<T, TOut>);

template <class T, class TOut, int... kIndices>
TileKernel<T, TOut> tile_kernel_of(int index, std::integer_sequence<int, kIndices...> /*all*/) {
  const TileKernel<T, TOut> kernels[] = {&gemm_tile_kernel<kIndices, T, TOut>...};
  return kernels[index];
}

/// gemm_tile_kernel of kTiles[index].
template <class T, class TOut>
TileKernel<T, TOut> tile_kernel(int index) {
  return tile_kernel_of<T, TOut>(index, std::make_integer_sequence<int, kTileCount>());
}

template <class T, class TOut>
TiledExecutor<T, TOut>::TiledExecutor(const Stream& stream, const Problem& problem,
                                      std::string reason)
    : problem_(problem), tile_(choose_tile(problem.m, problem.n)), reason_(std::move(reason)) {
  const Tile tile = tile_for(tile_, sizeof(Accumulator<T>));
  const std::int64_t tiles = device::ceil_div<std::int64_t>(problem.m, tile.m) *
                             device::ceil_div<std::int64_t>(problem.n, tile.n);
  const std::int64_t wanted =
      std::int64_t{kWantedBlocksPerMultiprocessor} * stream.device().properties().multiprocessors;
  split_ = choose_split(tiles, problem.k, wanted, tile.k, std::int64_t{kMinStepsPerChunk} * tile.k);
  device::load_kernels(stream, tile_kernel<T, TOut>(tile_), &gemm_reduce_kernel<T, TOut>);
}

template <class T, class TOut>
std::int64_t TiledExecutor<T, TOut>::workspace_bytes() const noexcept {
  return partial_bytes(problem_, split_, sizeof(Accumulator<T>));
}

template <class T, class TOut>
std::string TiledExecutor<T, TOut>::explain() const {
  const Tile tile = tile_for(tile_, sizeof(Accumulator<T>));
  return concat("gemm_tile_kernel, tile ", tile.m, " x ", tile.n, " x ", tile.k, ", ",
                tile.threads(), " threads of ", tile.micro_m, " x ", tile.micro_n, " in ",
                tile.groups, " groups, k in ", split_.count, " chunks of ", split_.length,
                reason_.empty() ? "" : "; ", reason_);
}

template <class T, class TOut>
void TiledExecutor<T, TOut>::run(const Stream& stream, const Operands<T, TOut>& operands) const {
  const Tile tile = tile_for(tile_, sizeof(Accumulator<T>));
  const TileArguments<T, TOut> arguments{
      .problem = problem_,
      .split = split_,
      .tiles_m = device::ceil_div<std::int64_t>(problem_.m, tile.m),
      .tiles_n = device::ceil_div<std::int64_t>(problem_.n, tile.n),
      .a = device::device_pointer(operands.a),
      .b = device::device_pointer(operands.b),
      .c = device::device_pointer(operands.c),
      .partials = static_cast<device::DeviceAccumulator<T>*>(operands.workspace),
      .alpha = device::DeviceScalar<Accumulator<T>>(operands.alpha),
      .beta = device::DeviceScalar<Accumulator<T>>(operands.beta)};
  const device::LaunchScope scope(stream);
  const unsigned grid = grid_of(arguments.tiles_m * arguments.tiles_n * split_.count);
  tile_kernel<T, TOut>(tile_)<<<grid, tile.threads(), 0, stream.native()>>>(arguments);
  scope.check("gemm_tile_kernel");
  if (split_.count == 1) return;
  const std::int64_t blocks =
      device::ceil_div<std::int64_t>(problem_.m * problem_.n, kReduceElements);
  gemm_reduce_kernel<<<grid_of(blocks), kReduceElements * kReduceSlices, 0, stream.native()>>>(
      arguments);
  scope.check("gemm_reduce_kernel");
}

}  // namespace lanky::dense::cuda
