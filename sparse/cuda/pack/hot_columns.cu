// Sampled entries of all columns are counted with atomics; counts of hot columns become their
// places by a scan over tiles of columns, and a histogram of counts tells how many could be hot.
#include <utility>

#include "sparse/cuda/pack/grid.cuh"
#include "sparse/cuda/steps.hpp"
#include "sparse/cuda/warp.cuh"

namespace lanky::sparse::cuda {

namespace {

constexpr int kColumnsPerThread = 8;
constexpr int kTileColumns = kThreads * kColumnsPerThread;
constexpr int kLowHeats = 2048;  // that a block counts in shared memory: those of most

struct HotTotals {
  Count columns;
  Count sampled;
};

/// Adds to `counts` the sampled entries of each column. Lanes that have one column add at once.
__global__ void __launch_bounds__(kThreads) count_sampled_kernel(CsrPattern a, int* counts) {
  const std::int64_t lane = threadIdx.x % kLanes;
  const std::int64_t sampled = device::ceil_div<std::int64_t>(a.nnz, kColumnSample);
  for (std::int64_t i = thread_of_grid(); i - lane < sampled; i += threads_of_grid()) {
    const std::int32_t column =
        i < sampled ? __ldcs(a.columns + i * kColumnSample) - a.index_base : -1;
    const unsigned peers = __match_any_sync(kAllLanes, column);
    const bool leads = lane + 1 == __ffs(static_cast<int>(peers));
    if (leads && column >= 0) atomicAdd(counts + column, __popc(peers));
  }
}

/// The columns of one thread in the block's tile.
struct ThreadColumns {
  std::int64_t first = std::int64_t{blockIdx.x} * kTileColumns + threadIdx.x * kColumnsPerThread;
  std::int64_t end;

  __device__ explicit ThreadColumns(std::int64_t cols)
      : end(min(first + std::int64_t{kColumnsPerThread}, cols)) {}

  /// Calls visit(column) for each hot one.
  template <class Visit>
  __device__ void for_each_hot(const int* counts, int least, Visit visit) const {
    for (std::int64_t column = first; column < end; ++column) {
      if (counts[column] >= least) visit(column);
    }
  }
  __device__ int count_hot(const int* counts, int least) const {
    int hot = 0;
    for_each_hot(counts, least, [&](std::int64_t /*column*/) { ++hot; });
    return hot;
  }
};

__global__ void __launch_bounds__(kThreads)
    count_hot_kernel(const int* counts, std::int64_t cols, int least, int* tile_sums,
                     HotTotals* totals) {
  const ThreadColumns own(cols);
  Count own_sampled = 0;
  own.for_each_hot(counts, least, [&](std::int64_t column) { own_sampled += counts[column]; });
  int hot;
  Count sampled;
  device::block_exclusive_sum(own.count_hot(counts, least), hot);
  device::block_exclusive_sum(own_sampled, sampled);
  if (threadIdx.x != 0) return;
  tile_sums[blockIdx.x] = hot;
  if (sampled > 0) atomicAdd(&totals->sampled, sampled);
}

/// Sums of tiles become those of the tiles before.
__global__ void __launch_bounds__(kThreads)
    scan_tiles_kernel(int* tile_sums, std::int64_t tiles, HotTotals* totals) {
  const int hot = device::scan_by_block(tile_sums, tiles);
  if (threadIdx.x == 0) totals->columns = hot;
}

/// Counts become places.
__global__ void __launch_bounds__(kThreads)
    place_hot_kernel(int* counts, std::int64_t cols, int least, const int* tile_sums,
                     std::int32_t* hot_columns) {
  const ThreadColumns own(cols);
  int total;
  int place =
      tile_sums[blockIdx.x] + device::block_exclusive_sum(own.count_hot(counts, least), total);
  for (std::int64_t column = own.first; column < own.end; ++column) {
    const bool hot = counts[column] >= least;
    if (hot) hot_columns[place] = static_cast<std::int32_t>(column);
    counts[column] = hot ? place++ : -1;
  }
}

/// Adds to heats[n] the columns of n sampled entries, from kHeatLeast on.
__global__ void __launch_bounds__(kThreads)
    count_heats_kernel(const int* counts, std::int64_t cols, unsigned* heats) {
  __shared__ unsigned low[kLowHeats];
  for (int i = static_cast<int>(threadIdx.x); i < kLowHeats; i += kThreads)
    low[i] = 0;
  __syncthreads();  // counters are zero
  for (std::int64_t column = thread_of_grid(); column < cols; column += threads_of_grid()) {
    const int heat = min(counts[column], kHeatMost);
    if (heat >= kHeatLeast) atomicAdd((heat < kLowHeats ? low : heats) + heat, 1U);
  }
  __syncthreads();  // the block has counted
  for (int i = static_cast<int>(threadIdx.x); i < kLowHeats; i += kThreads) {
    if (low[i] > 0) atomicAdd(heats + i, low[i]);
  }
}

Buffer<int> sampled_entries(const Stream& stream, const CsrPattern& a) {
  Buffer<int> counts(stream, a.cols);
  counts.fill_zero();
  launch(stream, "count_sampled_kernel", count_sampled_kernel,
         blocks_at_most(blocks_of(a.nnz, kColumnSample * kThreads)), a, counts.data());
  return counts;
}

}  // namespace

HotColumns find_hot_columns(const Stream& stream, const CsrPattern& a, const Shape& shape,
                            Allocator* allocator) {
  HotColumns hot{Buffer<std::int32_t>(stream, 0), Buffer<std::int32_t>(stream, 0)};
  if (shape.hot_least == 0 || a.nnz == 0) return hot;
  Buffer<int> counts = sampled_entries(stream, a);
  const unsigned tiles = blocks_of(a.cols, kTileColumns);
  Buffer<int> tile_sums(stream, tiles);
  Buffer<HotTotals> totals(stream, 1);
  totals.fill_zero();
  launch(stream, "count_hot_kernel", count_hot_kernel, tiles, counts.data(), a.cols,
         shape.hot_least, tile_sums.data(), totals.data());
  launch(stream, "scan_tiles_kernel", scan_tiles_kernel, 1, tile_sums.data(), tiles, totals.data());
  const HotTotals found = to_host(stream, totals.data());
  if (found.columns == 0) return hot;
  hot.columns = Buffer<std::int32_t>(stream, static_cast<std::int64_t>(found.columns), allocator);
  hot.sampled = static_cast<std::int64_t>(found.sampled);
  launch(stream, "place_hot_kernel", place_hot_kernel, tiles, counts.data(), a.cols,
         shape.hot_least, tile_sums.data(), hot.columns.data());
  hot.places = std::move(counts);
  return hot;
}

HotFacts hot_facts(const Stream& stream, const CsrPattern& a, std::int64_t most) {
  if (a.nnz == 0) return {};
  const Buffer<int> counts = sampled_entries(stream, a);
  Buffer<unsigned> heats(stream, kHeatMost + 1);
  heats.fill_zero();
  launch(stream, "count_heats_kernel", count_heats_kernel, blocks_at_most(blocks_of(a.cols)),
         counts.data(), a.cols, heats.data());
  return hot_facts_of(heats.to_host(), most);
}

}  // namespace lanky::sparse::cuda
