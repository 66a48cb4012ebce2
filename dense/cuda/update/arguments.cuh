// What every update kernel is given, C[m, n] = alpha A[m, k] B[k, n] + beta C with a long m.
#pragma once

#include <cstdint>
#include <lanky/dtype.hpp>
#include <type_traits>

#include "dense/cuda/epilogue.cuh"
#include "dense/cuda/update/policy.hpp"
#include "dense/problem.hpp"
#include "device/element.cuh"
#include "device/grid_dependency.cuh"
#include "device/memory.cuh"

namespace lanky::dense::cuda {

template <class T, class TOut>
struct UpdateArguments {
  using Acc = device::DeviceAccumulator<T>;
  using Element = device::DeviceElement<T>;
  using Result = device::DeviceElement<TOut>;

  std::int64_t m;
  int n;
  int k;
  int passes;  // over the rows of a block, one after the other
  Strides a_strides;
  Strides b_strides;
  Strides c_strides;
  bool conj_a;  // of complex elements
  bool conj_b;
  const Element* a;  // [m, k]
  const Element* b;  // [k, n]
  Result* c;         // [m, n]
  device::DeviceScalar<Accumulator<T>> alpha;
  device::DeviceScalar<Accumulator<T>> beta;
  UpdateStreamPlan stream{};
};

/// Elements of 16 bytes.
template <class E>
inline constexpr int kWide = 16 / static_cast<int>(sizeof(E));

/// The epilogue, and the part of k that counts: with alpha = 0, as with k = 0, A and B are not
/// read.
template <class Acc>
struct Factors : Epilogue<Acc> {
  int k;

  template <class T, class TOut>
  __device__ explicit Factors(const UpdateArguments<T, TOut>& g)
      : Epilogue<Acc>(g.k, g.alpha, g.beta), k(this->multiplies() ? g.k : 0) {}
};

/// Has the L2 fetch what will be read of so many rows and columns of C, from (i0, j0) on: nothing
/// where i0 is negative. By a warp, early: where beta is not 0, C is read after all products, and
/// nothing else hides its latency.
template <class T, class TOut>
__device__ void prefetch_c(const UpdateArguments<T, TOut>& g,
                           const Factors<device::DeviceAccumulator<T>>& factors, std::int64_t i0,
                           int rows, int j0, int columns) {
  using Acc = device::DeviceAccumulator<T>;
  const bool by_columns = g.c_strides.row == 1;
  if (factors.beta == Acc(0) || i0 < 0 || i0 >= g.m || (!by_columns && g.c_strides.col != 1))
    return;
  rows = static_cast<int>(min(std::int64_t{rows}, g.m - i0));
  columns = min(columns, g.n - j0);
  constexpr int kSector = 32 / static_cast<int>(sizeof(*g.c));  // elements
  const int lines = by_columns ? columns : rows;
  const int sectors = ((by_columns ? rows : columns) + kSector - 1) / kSector;
  const std::int64_t stride = by_columns ? g.c_strides.col : g.c_strides.row;
  // The lanes of a line: a power of two.
  const int width_bits = min(5, 32 - __clz(sectors - 1));
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int first_line = lane >> width_bits;
  const int first_sector = lane & ((1 << width_bits) - 1);
  const int line_step = 32 >> width_bits;
  const auto* line = g.c + i0 * g.c_strides.row + j0 * g.c_strides.col + first_line * stride;
  for (int l = first_line; l < lines; l += line_step, line += line_step * stride)
    for (int s = first_sector; s < sectors; s += 1 << width_bits)
      device::prefetch(line + s * kSector);
}

/// store(slot, load(slot)) for slots by the threads of a row of the block; kBatch loads of a thread
/// are in flight before its first store.
template <int kBatch, class Load, class Store>
__device__ void stage(int slots, Load load, Store store) {
  const int threads = static_cast<int>(blockDim.x);
  for (int first = static_cast<int>(threadIdx.x); first < slots; first += kBatch * threads) {
    decltype(load(0)) values[kBatch];
#pragma unroll
    for (int s = 0; s < kBatch; ++s)
      if (first + s * threads < slots) values[s] = load(first + s * threads);
#pragma unroll
    for (int s = 0; s < kBatch; ++s)
      if (first + s * threads < slots) store(first + s * threads, values[s]);
  }
}

}  // namespace lanky::dense::cuda
