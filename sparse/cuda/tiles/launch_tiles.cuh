// Launches a product of several columns on the kernels of tiles. Included by one .cu file for each
// element type.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include "sparse/cuda/columns/launch_operands.cuh"
#include "sparse/cuda/tiles/policy.hpp"
#include "sparse/cuda/tiles/spmm_tiles.cuh"
#include "sparse/cuda/tiles/steps.hpp"

namespace lanky::sparse::cuda {

template <class T>
using TilesKernel = void (*)(DeviceColumns<T>, DeviceTiles<device::DeviceElement<T>>);

template <class T>
TilesKernel<T> tiles_kernel(TileStrip kind) {
  return with_tile_strip<T>(
      kind, [](auto strip) -> TilesKernel<T> { return &spmm_tiles_kernel<decltype(strip), T>; });
}

template <class T>
void load_tiles(const Stream& stream) {
  device::load_kernels(stream, tiles_kernel<T>(TileStrip::apart),
                       tiles_kernel<T>(TileStrip::narrow), tiles_kernel<T>(TileStrip::middle),
                       tiles_kernel<T>(TileStrip::wide));
}

template <class T>
DeviceTiles<device::DeviceElement<T>> device_tiles(const Tiles<T>& tiles) {
  return {tiles.starts.data(),
          tiles.columns.data(),
          tiles.masks.data(),
          device::device_pointer(static_cast<const T*>(tiles.values.data())),
          tiles.parts.data(),
          static_cast<std::uint32_t>(tiles.header.shared_blocks),
          tiles.header.share_above,
          static_cast<std::uint32_t>(tiles.header.blocks),
          static_cast<std::int32_t>(tiles.header.rows)};
}

/// Strips of the columns, however these stand.
template <class T, class TOut>
void run_tile_strips(const Stream& stream, const Tiles<T>& tiles,
                     const ColumnsProduct<T, TOut>& product) {
  using E = device::DeviceElement<T>;
  const std::int64_t blocks = tiles.header.blocks;
  const std::int64_t shared = tiles.header.shared_blocks;
  const std::int64_t alone = shared < blocks ? blocks : 0;  // warps pass over the shared ones
  const TileStrip widest = best_tile_strip(tiles.header.times, product.columns, kDType<T>);
  const device::LaunchScope scope(stream);
  for (std::int64_t done = 0; done < product.columns;) {
    const NextTileStrips next = next_tile_strips(
        {product.columns - done, readable_columns(product, done),
         word_bytes_of(product.x + done * product.x_strides.column, product.x_strides)},
        widest, kDType<T>);
    with_tile_strip<T>(next.kind, [&](auto strip) {
      using Strip = decltype(strip);
      using Sums = TileSums<E, Strip>;
      // Warps, thread blocks and columns are numbered in 31 bits.
      const std::int64_t strips_most = std::numeric_limits<std::int32_t>::max() /
                                       std::max<std::int64_t>(blocks + shared, Strip::kColumns);
      const std::int64_t columns = std::min(next.columns, strips_most * Strip::kColumns);
      const std::int64_t strips = device::ceil_div<std::int64_t>(columns, Strip::kColumns);
      const device::LaunchSize size{
          dim3(static_cast<unsigned>(shared * strips +
                                     device::ceil_div<std::int64_t>(alone * strips, kTileWarps))),
          dim3(kTileWarps * kLanes), shared > 0 ? meeting_bytes<Sums>() : 0};
      device::launch_dependent(stream, tiles_kernel<T>(next.kind), size,
                               device_columns(product, done, columns, strips, Sums::kRun),
                               device_tiles(tiles));
      done += columns;
    });
  }
}

template <class T, class TOut>
void run_tiles(const Stream& stream, const Tiles<T>& tiles,
               const ColumnsProduct<T, TOut>& product) {
  const bool apart = product.x_strides.column != 1;
  if (apart && product.columns <= tiles.header.direct_columns)
    return run_tile_strips(stream, tiles, product);
  by_rows_of_x(stream, tiles.header.cols, product,
               [&](const ColumnsProduct<T, TOut>& part) { run_tile_strips(stream, tiles, part); });
}

}  // namespace lanky::sparse::cuda

/// The kernels of plans for T with results of TOut...
#define LANKY_INSTANTIATE_TILES(T)                                                      \
  namespace lanky::sparse::cuda {                                                       \
  template void load_tiles<T>(const Stream&);                                           \
  template void run_tiles(const Stream&, const Tiles<T>&, const ColumnsProduct<T, T>&); \
  }
/// ... and, of halves, with results of float.
#define LANKY_INSTANTIATE_WIDENED_TILES(T)                                                  \
  namespace lanky::sparse::cuda {                                                           \
  template void run_tiles(const Stream&, const Tiles<T>&, const ColumnsProduct<T, float>&); \
  }
