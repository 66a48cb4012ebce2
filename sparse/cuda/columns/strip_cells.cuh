// Sums of a strip's cells: those of the pieces of a row, in the order in which cells.cuh adds up
// those of one vector, so that a column has the same bits whatever stands beside it.
#pragma once

#include "device/arrival.cuh"
#include "sparse/cuda/columns/strip.hpp"
#include "sparse/cuda/columns/strip_gather.cuh"
#include "sparse/cuda/multiply/cells.cuh"
#include "sparse/cuda/warp.cuh"

namespace lanky::sparse::cuda {

/// f(own, i) for each cell of a lane, and its place in the kColumns cells of a piece.
template <class Strip, class Cells, class F>
__device__ void for_each_cell(Cells& cells, F f) {
#pragma unroll
  for (int w = 0; w < Strip::kWords; ++w) {
#pragma unroll
    for (int e = 0; e < Strip::kEach; ++e)
      f(cells.of[w][e], (w * Strip::kGroup + lane_of_group<Strip>()) * Strip::kEach + e);
  }
}

/// The lane's part of piece `number` of an array of cells.
template <class E, class Strip>
__device__ StripCells<E, Strip> load_cells(const Cell<E>* cells, int number) {
  StripCells<E, Strip> own;
  for_each_cell<Strip>(own,
                       [&](Cell<E>& cell, int i) { cell = cells[number * Strip::kColumns + i]; });
  return own;
}
template <class E, class Strip>
__device__ void store_cells(const StripCells<E, Strip>& own, Cell<E>* cells, int number) {
  for_each_cell<Strip>(
      own, [&](const Cell<E>& cell, int i) { cells[number * Strip::kColumns + i] = cell; });
}

template <class E, class Strip>
__device__ StripCells<E, Strip> operator+(StripCells<E, Strip> a, const StripCells<E, Strip>& b) {
#pragma unroll
  for (int w = 0; w < Strip::kWords; ++w) {
#pragma unroll
    for (int e = 0; e < Strip::kEach; ++e)
      a.of[w][e] = a.of[w][e] + b.of[w][e];
  }
  return a;
}

/// The sum of what kCount lanes would add up of one vector, of which lane l has cells first + l,
/// first + l + stride, ... below `end`; then lanes, as sum_of_warp() adds them up.
template <int kCount, class E, class Strip>
__device__ StripCells<E, Strip> sum_of_lanes(const Cell<E>* cells, int first, int end, int stride) {
  if constexpr (kCount > 1) {
    const auto low = sum_of_lanes<kCount / 2, E, Strip>(cells, first, end, stride);
    return low + sum_of_lanes<kCount / 2, E, Strip>(cells, first + kCount / 2, end, stride);
  } else {
    StripCells<E, Strip> sum{};
    for (int cell = first; cell < end; cell += stride)
      sum = sum + load_cells<E, Strip>(cells, cell);
    return sum;
  }
}

/// The same of all lanes of a warp, from `begin` on, each group for its share of them. Every group
/// has the sum. All lanes take part.
template <class E, class Strip>
__device__ StripCells<E, Strip> sum_by_lanes(const Cell<E>* cells, int begin, int end, int stride) {
  constexpr int kShare = Strip::kGroup;
  StripCells<E, Strip> sum =
      sum_of_lanes<kShare, E, Strip>(cells, begin + group_of_warp<Strip>() * kShare, end, stride);
#pragma unroll
  for (int mask = Strip::kGroup; mask < kLanes; mask *= 2) {
    StripCells<E, Strip> other = sum;
    for_each_cell<Strip>(
        other, [&](Cell<E>& cell, int /*i*/) { cell = {device::shuffle_xor(cell.sum, mask)}; });
    sum = sum + other;
  }
  return sum;
}

/// The sum of the cells of one row for each group of the warp, as sum_of_range() adds them up. All
/// lanes take part.
template <class E, class Strip>
__device__ StripCells<E, Strip> sum_of_strip(const Cell<E>* cells, CellRange range) {
  const bool is_long = range.end - range.begin > kCellsOfThread;
  StripCells<E, Strip> sum{};
  if (!is_long) {
    for (int cell = range.begin; cell < range.end; ++cell)
      sum = sum + load_cells<E, Strip>(cells, cell);
  }
  constexpr unsigned kFirstOfGroups = 0xffffffffU / ((1ULL << Strip::kGroup) - 1);
  for (unsigned left = __ballot_sync(kAllLanes, is_long) & kFirstOfGroups; left != 0;
       left &= left - 1) {
    const int owner = __ffs(static_cast<int>(left)) - 1;
    const int begin = __shfl_sync(kAllLanes, range.begin, owner);
    const int end = __shfl_sync(kAllLanes, range.end, owner);
    const auto part = sum_by_lanes<E, Strip>(cells, begin, end, kLanes);
    if (group_of_warp<Strip>() == owner / Strip::kGroup) sum = part;
  }
  return sum;
}

/// The sum of `count` cells as sum_of_team() of `threads` threads adds it up, for the first group
/// of the block. `warp_sums`: [threads / 32] cells in shared memory, which nobody else uses now.
template <class E, class Strip>
__device__ StripCells<E, Strip> sum_as_team(const Cell<E>* cells, int count, int threads,
                                            Cell<E>* warp_sums) {
  const int warps = threads / kLanes;
  for (int warp = warp_of_block(); warp < warps; warp += warps_of_block()) {
    const auto part = sum_by_lanes<E, Strip>(cells, warp * kLanes, count, threads);
    if (group_of_warp<Strip>() == 0) store_cells(part, warp_sums, warp);
  }
  __syncthreads();  // every warp's sum is stored before they are added up
  StripCells<E, Strip> sum{};
  if (thread_of_block() < Strip::kGroup) {
    sum = load_cells<E, Strip>(warp_sums, 0);
    for (int warp = 1; warp < warps; ++warp)
      sum = sum + load_cells<E, Strip>(warp_sums, warp);
  }
  __syncthreads();  // they are read before the next sums take their place
  return sum;
}

/// What a strip's parts of split rows share in the workspace.
template <class E>
struct StripParts {
  Cell<E>* partials;   // [header.partials, kColumns]
  unsigned* arrivals;  // [split_rows]
  const std::int64_t* split_starts;
};

/// As add_part() of one vector, by a block: of the parts of split row `split`, `partial` has these
/// cells. True for all threads where it is the last, whose first group gets the row's sum.
/// `warp_sums`: as for sum_as_team().
template <class E, class Strip>
__device__ bool add_part(const StripParts<E>& shared, int partial, int split, const Cell<E>* cells,
                         int count, int threads, Cell<E>* warp_sums, StripCells<E, Strip>& sum) {
  __shared__ bool last;
  const std::int64_t first = shared.split_starts[split];
  const auto parts = static_cast<unsigned>(shared.split_starts[split + 1] - first);
  const auto part = sum_as_team<E, Strip>(cells, count, threads, warp_sums);
  if (thread_of_block() < Strip::kGroup) store_cells(part, shared.partials, partial);
  __syncthreads();  // the part is written before the block arrives
  if (thread_of_block() == 0) last = device::arrive_at(shared.arrivals + split, parts);
  __syncthreads();  // `last` is there, and what other blocks wrote is visible
  if (!last) return false;
  sum = sum_as_team<E, Strip>(shared.partials + first * Strip::kColumns, static_cast<int>(parts),
                              threads, warp_sums);
  return true;
}

}  // namespace lanky::sparse::cuda
