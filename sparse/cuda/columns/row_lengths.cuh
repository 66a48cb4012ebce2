// Rows counted by their lengths, by the threads of blocks that have one each.
#pragma once

#include "sparse/cuda/columns/row_sharing.hpp"
#include "sparse/cuda/pack/grid.cuh"
#include "sparse/cuda/warp.cuh"

namespace lanky::sparse::cuda {

/// A block's counts on their way to RowLengths, in shared memory, of a matrix of less than 2^31
/// entries. All threads clear it, and wait for each other, before they add rows, and before they
/// add it up.
class BlockLengths {
 public:
  __device__ void clear() {
    for (int i = thread_of_block(); i < kRowLengths; i += kThreads) {
      rows_[i] = 0;
      entries_[i] = 0;
    }
    if (thread_of_block() == 0) longest_ = 0;
  }
  __device__ void add(unsigned length) {
    const int place = length > 1 ? 32 - __clz(static_cast<int>(length - 1)) : 0;
    atomicAdd(rows_ + place, 1U);
    atomicAdd(entries_ + place, length);
    atomicMax(&longest_, length);
  }
  __device__ void add_to(RowLengths& lengths) const {
    for (int i = thread_of_block(); i < kRowLengths; i += kThreads) {
      if (rows_[i] == 0) continue;
      atomicAdd(lengths.rows + i, rows_[i]);
      atomicAdd(lengths.entries + i, Count{entries_[i]});
    }
    if (thread_of_block() == 0) atomicMax(&lengths.longest, longest_);
  }

 private:
  unsigned rows_[kRowLengths];
  unsigned entries_[kRowLengths];
  unsigned longest_;
};

}  // namespace lanky::sparse::cuda
