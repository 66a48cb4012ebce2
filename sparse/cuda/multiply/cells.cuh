// Cells: the sums of pieces, in registers while a slice is multiplied, then in shared memory, where
// the pieces of a row meet. All sums of a product are of this one type.
#pragma once

#include "device/columns.cuh"
#include "device/element.cuh"
#include "device/memory.cuh"
#include "sparse/cuda/multiply/block.hpp"
#include "sparse/cuda/warp.cuh"

namespace lanky::sparse::cuda {

/// The sum of a piece of elements E, or of several pieces.
template <class E>
struct Cell {
  using Sum = decltype(device::widen(E{}));

  Sum sum;

  __device__ void add(E value, E factor) { add_widened(device::widen(value), factor); }
  __device__ void add_widened(Sum value, E factor) { sum = fma(value, device::widen(factor), sum); }
  __device__ friend Cell operator+(Cell a, Cell b) { return {a.sum + b.sum}; }
};

/// The same of several columns, each of which is added up as one is.
template <class E, int kCount>
struct Cell<device::Columns<E, kCount>> {
  using Sum = device::Columns<typename Cell<E>::Sum, kCount>;

  Sum sum;

  __device__ void add(E value, device::Columns<E, kCount> factor) {
    const auto wide = device::widen(value);
#pragma unroll
    for (int i = 0; i < kCount; ++i)
      sum.of[i] = fma(wide, device::widen(factor.of[i]), sum.of[i]);
  }
  __device__ friend Cell operator+(Cell a, Cell b) {
    return {a.sum + b.sum};
  }
};

/// The sum of `cell` over the lanes of a warp, in a fixed order.
template <class E>
__device__ Cell<E> sum_of_warp(Cell<E> cell) {
#pragma unroll
  for (int mask = 1; mask < kLanes; mask *= 2)
    cell = cell + Cell<E>{device::shuffle_xor(cell.sum, mask)};
  return cell;
}

/// The sum of `count` cells, for thread 0 of the team: thread i adds cells i, i + threads(), ...;
/// then lanes, then warps.
template <class Team, class E>
__device__ Cell<E> sum_of_team(const Cell<E>* cells, int count) {
  __shared__ Cell<E> sums_of_teams[Team::kTeams][Team::kTeamWarps];
  Cell<E>* const warp_sums = sums_of_teams[Team::team()];
  Cell<E> sum{};
  for (int i = Team::thread(); i < count; i += Team::threads())
    sum = sum + cells[i];
  sum = sum_of_warp(sum);
  if (lane_of_warp() == 0) warp_sums[Team::warp()] = sum;
  Team::sync();  // every warp's sum is stored before thread 0 reads it
  for (int w = 1; w < Team::warps(); ++w)
    sum = sum + warp_sums[w];
  return sum;
}

/// Cells of one row.
struct CellRange {
  int begin;
  int end;
};

// Cells of a row that a thread adds up by itself.
inline constexpr int kCellsOfThread = 16;

/// The sum of each lane's range, added up by itself or, where that is long, by the warp together.
/// All lanes of the warp take part.
template <class E>
__device__ Cell<E> sum_of_range(const Cell<E>* cells, CellRange range) {
  const bool is_long = range.end - range.begin > kCellsOfThread;
  Cell<E> sum{};
  if (!is_long) {
    for (int cell = range.begin; cell < range.end; ++cell)
      sum = sum + cells[cell];
  }
  for (unsigned left = __ballot_sync(kAllLanes, is_long); left != 0; left &= left - 1) {
    const int owner = __ffs(static_cast<int>(left)) - 1;
    const int end = __shfl_sync(kAllLanes, range.end, owner);
    Cell<E> part{};
    for (int cell = __shfl_sync(kAllLanes, range.begin, owner) + lane_of_warp(); cell < end;
         cell += kLanes)
      part = part + cells[cell];
    part = sum_of_warp(part);
    if (lane_of_warp() == owner) sum = part;
  }
  return sum;
}

/// Cells of a word of shared memory.
template <class E>
inline constexpr int kCellWord = sizeof(Cell<E>) >= kWordBytes
                                     ? 1
                                     : kWordBytes / static_cast<int>(sizeof(Cell<E>));

/// visit(first) for each word of the cells 0 .. count - 1, which begins with cell `first`; cell 0
/// is number `place` of its word, so that `first` may be negative.
template <class Team, class E, class Visit>
__device__ void for_each_word(int place, int count, Visit visit) {
  constexpr int kWord = kCellWord<E>;
  for (int first = Team::thread() * kWord - place; first < count; first += Team::threads() * kWord)
    visit(first);
}

/// Zeros in the cells 0 .. count - 1 and in what else is in their words.
template <class Team, class E>
__device__ void clear_cells(Cell<E>* cells, int place, int count) {
  const Cell<E> zeros[kCellWord<E>] = {};
  for_each_word<Team, E>(place, count, [&](int first) {
    if constexpr (sizeof(zeros) > kWordBytes) {
      cells[first] = zeros[0];
    } else {
      device::store_wide(cells + first, zeros);
    }
  });
}

}  // namespace lanky::sparse::cuda
