// Y = alpha A X + beta Y on tiles: a warp for each block of rows and strip of columns, or all warps
// of a thread block where a block of rows has many steps, one after the other.
#pragma once

#include <cstdint>

#include "device/grid_dependency.cuh"
#include "sparse/cuda/tiles/tile_walk.cuh"

namespace lanky::sparse::cuda {

/// The lane's words of a strip whose first column is `column`. Where there are none, those of the
/// last columns again.
template <class Strip, class T>
__device__ LaneColumns<device::DeviceElement<T>> columns_of_lane(const DeviceColumns<T>& product,
                                                                 int column, int lane) {
  constexpr int kEach = Strip::kEach;
  const int own = column + lane / 4 * kEach;
  const int last = product.columns - 1;
  const int first = min(own, Strip::kAdjacent ? last / kEach * kEach : last);
  const int second = min(own + 1, last);
  const auto* const x = product.x + first * (Strip::kAdjacent ? 1 : product.x_column);
  return {device::opaque(x), (second - first) * product.x_column, product.x_row_bytes};
}

/// What row `row` of a block has in one column, as IEEE says, entry by entry: products multiply the
/// zeros of its column vectors, too, which Inf and NaN make NaN. `x`: of the column, in row 0.
template <class Sum, class E>
__device__ __noinline__ Sum sum_of_entries(const DeviceTiles<E>& a, std::uint32_t block, int row,
                                           const E* x, std::uint32_t x_row_bytes) {
  constexpr bool kUnits = unit_values(sizeof(E)) > 1;
  Sum sum{};
  const E* values = a.values + std::int64_t{a.starts[block].unit} * unit_values(sizeof(E));
  const std::uint32_t end = a.starts[block + 1].step;
  for (std::uint32_t step = a.starts[block].step; step < end; ++step) {
    const std::int32_t* const columns = a.columns + std::int64_t{step} * kStepVectors;
    const std::uint32_t* const masks = a.masks + std::int64_t{step} * kLaneVectors;
    const std::uint32_t any = masks[0] | masks[1] | masks[2] | masks[3];
#pragma unroll 1
    for (int vector = 0; vector < kStepVectors; ++vector) {
      const int place = place_of_vector(vector, kUnits);
      const int j = place % kLaneVectors;
      const std::uint32_t own = 1U << (row * 4 + place / kLaneVectors);
      const std::uint32_t stored = kUnits ? any : masks[j];
      if ((masks[j] & own) != 0) {
        const E* const unit = values + __popc(stored & (own - 1)) * unit_values(sizeof(E));
        const E factor =
            *device::advanced(x, static_cast<std::uint32_t>(columns[place]), x_row_bytes);
        sum = fma(Sum{device::widen(unit[kUnits ? j : 0])}, Sum{device::widen(factor)}, sum);
      }
      const bool last = kUnits ? vector == kStepVectors - 1 : vector % 4 == 3;
      if (last) values += __popc(stored) * unit_values(sizeof(E));
    }
  }
  return sum;
}

/// Shared memory in which the sums of the warps of a shared block meet.
template <class Sums>
constexpr std::size_t meeting_bytes() {
  return sizeof(typename Sums::Sum) * Sums::kCount * kLanes * (kTileWarps - 1);
}

/// Adds the sums of all warps to those of warp 0, in the order of the warps. All threads of the
/// thread block take part.
template <class Sums>
__device__ void add_up_warps(Sums& sums, int lane) {
  extern __shared__ __align__(16) unsigned char shared[];
  auto* const meeting = reinterpret_cast<typename Sums::Sum*>(shared);
  const auto place = [lane](int warp, int k) {
    return ((warp - 1) * Sums::kCount + k) * kLanes + lane;
  };
  const int own = warp_of_block();
  if (own > 0) {
#pragma unroll
    for (int k = 0; k < Sums::kCount; ++k)
      meeting[place(own, k)] = sums[k];
  }
  __syncthreads();
  if (own > 0) return;
#pragma unroll
  for (int warp = 1; warp < kTileWarps; ++warp) {
#pragma unroll
    for (int k = 0; k < Sums::kCount; ++k)
      sums[k] += meeting[place(warp, k)];
  }
}

/// A whole block, as a part.
template <class E>
__device__ TilePart whole_block(const DeviceTiles<E>& a, std::uint32_t block) {
  const TileStart start = a.starts[block];
  return {block, start.step, a.starts[block + 1].step, start.unit};
}

template <class Strip, class T>
__global__ void __launch_bounds__(kTileWarps* kLanes, Strip::kBlocks)
    spmm_tiles_kernel(const __grid_constant__ DeviceColumns<T> product,
                      const __grid_constant__ DeviceTiles<device::DeviceElement<T>> a) {
  using E = device::DeviceElement<T>;
  using Sums = TileSums<E, Strip>;
  using Sum = typename Sums::Sum;
  device::let_next_kernel_start();
  const int lane = lane_of_warp();
  // The first thread blocks have a shared block each, and stay whole until its sums have met.
  const unsigned sharing = a.shared_blocks * product.strips;
  const bool shared = blockIdx.x < sharing;
  const unsigned turn = shared ? blockIdx.x : (blockIdx.x - sharing) * kTileWarps + warp_of_block();
  const unsigned blocks = shared ? a.shared_blocks : a.blocks;
  // Strips of a row of X share its lines; of columns, one strip after the other reads fewer pages.
  const bool in_rows = product.x_column == 1;
  const unsigned number = in_rows ? turn / product.strips : turn % blocks;
  const unsigned strip = in_rows ? turn % product.strips : turn / blocks;
  if (number >= blocks || strip >= product.strips) return;
  const TilePart part =
      shared ? a.parts[std::size_t{number} * kTileWarps + warp_of_block()] : whole_block(a, number);
  if (!shared && part.end - part.step > a.share_above) return;
  const std::uint32_t block = part.block;
  const int column = static_cast<int>(strip) * Strip::kColumns;
  TileSteps steps(a, part, lane);
  device::wait_for_kernel_ahead();

  Sums sums;
  sums.add_steps(steps, device::opaque(a.values + std::int64_t{part.unit} * unit_values(sizeof(E))),
                 columns_of_lane<Strip>(product, column, lane), lane);
  if (shared) {
    add_up_warps(sums, lane);
    if (warp_of_block() > 0) return;
  }

  /// f(row of the block, column, sum) for each that the lane has.
  const auto for_each_sum = [&](auto f) {
#pragma unroll
    for (int i = 0; i < Sums::kRows; ++i) {
#pragma unroll
      for (int run = 0; run < Sums::kRuns; ++run) {
#pragma unroll
        for (int e = 0; e < Sums::kRun; ++e)
          f(Sums::row(lane, i), column + Sums::column(lane, run) + e, sums.at(i, run, e));
      }
    }
  };
  bool finite = true;
  for_each_sum([&](int, int, Sum sum) { finite = finite && isfinite(sum); });
  if (__any_sync(kAllLanes, !finite)) {
    for_each_sum([&](int row, int j, Sum& sum) {
      if (isfinite(sum) || j >= product.columns) return;
      sum =
          sum_of_entries<Sum>(a, block, row, product.x + j * product.x_column, product.x_row_bytes);
    });
  }

  const ColumnsWriter<T> writer(product);
  const std::int64_t first = std::int64_t{block} * kBlockRows;
  if constexpr (Sums::kRows == 2) {
    const std::int64_t row = first + Sums::row(lane, 0);
    if (product.y_adjacent && row + 1 < a.rows) {
#pragma unroll
      for (int e = 0; e < Sums::kRun; ++e) {
        Cell<E> cells[2];
        cells[0].sum = sums.at(0, 0, e);
        cells[1].sum = sums.at(1, 0, e);
        writer.write_pair(row, column + Sums::column(lane, 0) + e, cells);
      }
      return;
    }
  }
#pragma unroll
  for (int i = 0; i < Sums::kRows; ++i) {
    const std::int64_t row = first + Sums::row(lane, i);
    if (row >= a.rows) continue;
#pragma unroll
    for (int run = 0; run < Sums::kRuns; ++run) {
      Cell<E> cells[Sums::kRun];
#pragma unroll
      for (int e = 0; e < Sums::kRun; ++e)
        cells[e].sum = static_cast<typename Cell<E>::Sum>(sums.at(i, run, e));
      writer.write(row, column + Sums::column(lane, run), cells);
    }
  }
}

}  // namespace lanky::sparse::cuda
