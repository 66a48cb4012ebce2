// C[m, n] = alpha A[m, k] B[k, n] + beta C, operands of any strides, one tile of C and one chunk of
// k per block. Both tiles pass through shared memory in the accumulation type; the reduction is
// shared out among groups of threads, which serves a gram product (small tile, long k) and a panel
// (tall tile) alike. Chunks leave partial sums for gemm_reduce_kernel, so that no atomics are
// needed.
#pragma once

#include <lanky/dtype.hpp>

#include "dense/cuda/epilogue.cuh"
#include "dense/cuda/tiled/policy.hpp"
#include "dense/problem.hpp"
#include "device/element.cuh"

namespace lanky::dense::cuda {

template <class T, class TOut>
struct TileArguments {
  using Acc = device::DeviceAccumulator<T>;
  using Element = device::DeviceElement<T>;
  using Result = device::DeviceElement<TOut>;

  Problem problem;
  Split split;
  std::int64_t tiles_m;  // tiles along m and along n
  std::int64_t tiles_n;
  const Element* a;  // [m, k], problem.a
  const Element* b;  // [k, n], problem.b
  Result* c;         // [m, n], problem.c
  Acc* partials;     // [split.count][n][m], unused for one chunk
  device::DeviceScalar<Accumulator<T>> alpha;
  device::DeviceScalar<Accumulator<T>> beta;
};

template <class T, class TOut>
__device__ void finish(const TileArguments<T, TOut>& g, std::int64_t i, std::int64_t j,
                       device::DeviceAccumulator<T> sum) {
  const Epilogue<device::DeviceAccumulator<T>> epilogue(g.problem.k, g.alpha, g.beta);
  epilogue.store(g.c[i * g.problem.c.row + j * g.problem.c.col], sum);
}

/// tile[p][r] = source(r, p) for p < depth, and 0 for rows beyond `rows`, whose sums are never
/// stored; its conjugate where `conjugated`. Neighbouring threads take neighbours in memory: along
/// k where that stride is 1, along the rows otherwise. All loads of a thread are in flight before
/// its first store.
template <Tile kTile, int kRows, class Element, class Acc>
__device__ void stage(Acc* tile, const Element* source, Strides strides, bool conjugated, int rows,
                      int depth) {
  constexpr int kSlots = (kRows * kTile.k + kTile.threads() - 1) / kTile.threads();
  const bool along_k = strides.col == 1;
  Acc values[kSlots];
#pragma unroll
  for (int s = 0; s < kSlots; ++s) {
    const int slot = s * kTile.threads() + static_cast<int>(threadIdx.x);
    const int r = along_k ? slot / kTile.k : slot % kRows;
    const int p = along_k ? slot % kTile.k : slot / kRows;
    values[s] = r < rows && p < depth
                    ? device::conjugate_if(conjugated,
                                           device::widen(source[r * strides.row + p * strides.col]))
                    : Acc(0);
  }
#pragma unroll
  for (int s = 0; s < kSlots; ++s) {
    const int slot = s * kTile.threads() + static_cast<int>(threadIdx.x);
    const int r = along_k ? slot / kTile.k : slot % kRows;
    const int p = along_k ? slot % kTile.k : slot / kRows;
    if (r < kRows && p < depth) tile[p * (kRows + 1) + r] = values[s];
  }
}

/// Shared elements of a tile's operands; rows are padded by one so that stores along k spread over
/// the banks. The sums of a tile are combined in the same memory.
template <Tile kTile>
inline constexpr int kStagedA = kTile.k*(kTile.m + 1);
template <Tile kTile>
inline constexpr int kStagedB = kTile.k*(kTile.n + 1);

/// The tile kTiles[kIndex] for operands of T.
template <int kIndex, class T>
inline constexpr Tile kTileOf = tile_for(kIndex, sizeof(Accumulator<T>));

/// kTileOf<kIndex, T> at work. Block: tiles of C over one chunk of k, tile after tile where the
/// grid is smaller than their number. Thread: micro_m x micro_n sums, threads_m() and threads_n()
/// apart; group g takes every groups-th k from g on. Two blocks share a multiprocessor, so that one
/// loads while the other computes.
template <int kIndex, class T, class TOut>
__global__ __launch_bounds__(kTileOf<kIndex, T>.threads(),
                             2) void gemm_tile_kernel(TileArguments<T, TOut> g) {
  using Acc = device::DeviceAccumulator<T>;
  constexpr Tile kTile = kTileOf<kIndex, T>;
  constexpr int kGroupThreads = kTile.threads_m() * kTile.threads_n();
  static_assert(kTile.groups == 1 || kTile.m * kTile.n <= kStagedA<kTile> + kStagedB<kTile>);
  __shared__ Acc staged[kStagedA<kTile> + kStagedB<kTile>];
  Acc* const a_tile = staged;                    // [kTile.k][kTile.m + 1]
  Acc* const b_tile = staged + kStagedA<kTile>;  // [kTile.k][kTile.n + 1]

  const Problem& problem = g.problem;
  const int in_group = static_cast<int>(threadIdx.x) % kGroupThreads;
  const int group = static_cast<int>(threadIdx.x) / kGroupThreads;
  const int thread_m = in_group % kTile.threads_m();
  const int thread_n = in_group / kTile.threads_m();
  const std::int64_t k = g.alpha.load() == Acc(0) ? 0 : problem.k;
  const std::int64_t tiles = g.tiles_m * g.tiles_n;

  for (std::int64_t index = blockIdx.x; index < tiles * g.split.count; index += gridDim.x) {
    const std::int64_t chunk = index / tiles;
    const std::int64_t i0 = index % tiles / g.tiles_n * kTile.m;
    const std::int64_t j0 = index % tiles % g.tiles_n * kTile.n;
    const std::int64_t k1 = min(k, (chunk + 1) * g.split.length);
    const int rows = static_cast<int>(min(std::int64_t{kTile.m}, problem.m - i0));
    const int columns = static_cast<int>(min(std::int64_t{kTile.n}, problem.n - j0));

    Acc sums[kTile.micro_m][kTile.micro_n] = {};
    for (std::int64_t k0 = chunk * g.split.length; k0 < k1; k0 += kTile.k) {
      const int depth = static_cast<int>(min(std::int64_t{kTile.k}, k1 - k0));
      stage<kTile, kTile.m>(a_tile, g.a + i0 * problem.a.row + k0 * problem.a.col, problem.a,
                            problem.conj_a, rows, depth);
      stage<kTile, kTile.n>(b_tile, g.b + k0 * problem.b.row + j0 * problem.b.col,
                            {problem.b.col, problem.b.row}, problem.conj_b, columns, depth);
      __syncthreads();  // both tiles are written before they are read
#pragma unroll 4
      for (int p = group; p < depth; p += kTile.groups) {
        Acc column[kTile.micro_n];
#pragma unroll
        for (int s = 0; s < kTile.micro_n; ++s)
          column[s] = b_tile[p * (kTile.n + 1) + thread_n + s * kTile.threads_n()];
#pragma unroll
        for (int r = 0; r < kTile.micro_m; ++r) {
          const Acc row = a_tile[p * (kTile.m + 1) + thread_m + r * kTile.threads_m()];
#pragma unroll
          for (int s = 0; s < kTile.micro_n; ++s)
            sums[r][s] = fma(row, column[s], sums[r][s]);
        }
      }
      __syncthreads();  // both tiles are read before the next ones, or the sums, overwrite them
    }

    // Group after group adds to the sums of group 0, through staged[micro_m][micro_n][in_group].
    for (int sender = 1; sender < kTile.groups; ++sender) {
#pragma unroll
      for (int r = 0; r < kTile.micro_m; ++r) {
#pragma unroll
        for (int s = 0; s < kTile.micro_n; ++s) {
          if (group == sender) {
            staged[(r * kTile.micro_n + s) * kGroupThreads + in_group] = sums[r][s];
          }
        }
      }
      __syncthreads();  // the sender's sums are written before group 0 reads them
      if (group == 0) {
#pragma unroll
        for (int r = 0; r < kTile.micro_m; ++r) {
#pragma unroll
          for (int s = 0; s < kTile.micro_n; ++s)
            sums[r][s] += staged[(r * kTile.micro_n + s) * kGroupThreads + in_group];
        }
      }
      __syncthreads();  // they are read before the next sender, or tile, overwrites them
    }

    if (group != 0) continue;
#pragma unroll
    for (int s = 0; s < kTile.micro_n; ++s) {
      const int j = thread_n + s * kTile.threads_n();
#pragma unroll
      for (int r = 0; r < kTile.micro_m; ++r) {
        const int i = thread_m + r * kTile.threads_m();
        if (i >= rows || j >= columns) continue;
        if (g.split.count > 1) {
          g.partials[(chunk * problem.n + j0 + j) * problem.m + i0 + i] = sums[r][s];
        } else {
          finish(g, i0 + i, j0 + j, sums[r][s]);
        }
      }
    }
  }
}

}  // namespace lanky::dense::cuda
