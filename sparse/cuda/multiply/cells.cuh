// Cells: the sums of pieces, in registers while a slice is multiplied, then in shared memory, where
// the pieces of a row meet. All sums of a product are of this one type.
#pragma once

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

  __device__ void add(E value, E factor) {
    sum = fma(device::widen(value), device::widen(factor), sum);
  }
  __device__ friend Cell operator+(Cell a, Cell b) { return {a.sum + b.sum}; }
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

/// Some of a window's cells.
struct CellRange {
  int begin;
  int end;
};

/// The cells of a window in shared memory.
template <class E>
class WindowCells {
 public:
  /// Cells of a word of shared memory, whose rows are a word of y or a part of one.
  static constexpr int kWord = kWordBytes / static_cast<int>(sizeof(Cell<E>));

  __device__ explicit WindowCells(unsigned char* shared)
      : cells_(reinterpret_cast<Cell<E>*>(shared)) {}

  /// Moves them to where cell 0 stands in its word as the window's first row does in its own.
  __device__ void move_on(int cells) { cells_ += cells; }

  __device__ const Cell<E>* data() const { return cells_; }
  __device__ Cell<E>& operator[](int cell) const { return cells_[cell]; }

  /// Cells `first` .. first + kWord - 1, a word.
  __device__ void load_word(int first, Cell<E> (&word)[kWord]) const {
    device::load_wide(word, cells_ + first);
  }
  __device__ void clear_word(int first) const {
    const Cell<E> zeros[kWord] = {};
    device::store_wide(cells_ + first, zeros);
  }

  /// The sum of a range, by one thread.
  __device__ Cell<E> sum_of(CellRange range) const {
    Cell<E> sum{};
    for (int cell = range.begin; cell < range.end; ++cell)
      sum = sum + cells_[cell];
    return sum;
  }
  /// The sum of a range, by a warp, for each of its lanes.
  __device__ Cell<E> sum_by_warp(CellRange range) const {
    Cell<E> sum{};
    for (int cell = range.begin + lane_of_warp(); cell < range.end; cell += kLanes)
      sum = sum + cells_[cell];
    return sum_of_warp(sum);
  }

 private:
  Cell<E>* cells_;  // [cells_most]
};

}  // namespace lanky::sparse::cuda
