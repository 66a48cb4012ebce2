// What the kernels of a gram product C[m, n] = alpha A[m, k] B[k, n] + beta C are told: k is long,
// m and n are at most 128. Each walker (a block, or the blocks of all strips together) leaves
// partial sums; gram_sum.cuh adds them.
#pragma once

#include <cstdint>
#include <lanky/dtype.hpp>

#include "dense/problem.hpp"
#include "device/element.cuh"

namespace lanky::dense::cuda {

template <class T>
struct GramArguments {
  using Element = device::DeviceElement<T>;
  using Acc = device::DeviceAccumulator<T>;

  int m;
  int n;
  std::int64_t k;
  const Element* a;  // [m, k]
  const Element* b;  // [k, n]
  Strides a_strides;
  Strides b_strides;
  bool symmetric;  // A and B are the same memory: it is loaded once
  bool conj_a;     // complex: A is conjugated
  bool conj_b;
  bool vectors;   // 16-byte loads are possible
  bool a_turned;  // rows: of A, along k
  bool b_turned;
  int strips;            // of C, side by side in the grid
  bool stacked;          // direct: A's rows and B's columns, 8 at most, pass as one operand
  bool spread;           // direct: the loads that a warp has in flight are far apart
  int packed;            // row-major: rows that make a wide row; otherwise 1
  int walkers;           // that share out k
  int diagonal_walkers;  // fma, symmetric, 2 x 2 tiles: of each tile on the diagonal, at least half
                         // of `walkers`, which are those of the tile below; 0: all have as many
  int run_log2;          // staged: neighbouring slots' worth of k that one block takes, 2^run_log2
  int depth;             // stream: k of a slot
  int group_log2;        // stream: 2^group_log2 warps share slots
  int turn;              // stream: k of a lane before the next lane's
  Acc* partials;         // [walkers][n][m]
  int sum_columns_log2;  // elements of C that a block adds at the end
  bool prefetch;         // the L2 is to fetch what is read first
  unsigned* arrivals;    // zero; the last block to arrive adds the partials. Null: gram_sum_kernel
  void* c;               // [m, n], of T, or of float where c_is_wide
  Strides c_strides;
  bool c_is_wide;
  device::DeviceScalar<Accumulator<T>> alpha;
  device::DeviceScalar<Accumulator<T>> beta;
};

/// Of the parts of k that the grid's warps take in turn every `warps`-th, from `own` on, is this
/// warp's.
struct WarpTurns {
  std::int64_t own;
  std::int64_t warps;
};

}  // namespace lanky::dense::cuda
