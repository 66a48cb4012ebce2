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

/// A thread's place in kTile: its sums are threads_m() and threads_n() apart, of every groups-th k.
template <Tile kTile>
struct TileThread {
  static constexpr int kGroupThreads = kTile.threads_m() * kTile.threads_n();

  int in_group = static_cast<int>(threadIdx.x) % kGroupThreads;
  int group = static_cast<int>(threadIdx.x) / kGroupThreads;
  int m = in_group % kTile.threads_m();
  int n = in_group / kTile.threads_m();

  __device__ static int row(int r) { return r * kTile.threads_m(); }
  __device__ static int column(int s) { return s * kTile.threads_n(); }
};

// In a struct: CUDA 12.4's compiler ends with an internal error for the alias alone.
template <Tile kTile, class Acc>
struct TileSumsOf {
  using Type = Acc[kTile.micro_m][kTile.micro_n];
};
template <Tile kTile, class Acc>
using TileSums = typename TileSumsOf<kTile, Acc>::Type;

/// Adds a group's products of the tiles of A and B in shared memory.
template <Tile kTile, class Acc>
__device__ void multiply_tiles(TileSums<kTile, Acc>& sums, const TileThread<kTile>& thread,
                               const Acc* a_tile, const Acc* b_tile, int depth) {
#pragma unroll 4
  for (int p = thread.group; p < depth; p += kTile.groups) {
    Acc column[kTile.micro_n];
#pragma unroll
    for (int s = 0; s < kTile.micro_n; ++s)
      column[s] = b_tile[p * (kTile.n + 1) + thread.n + thread.column(s)];
#pragma unroll
    for (int r = 0; r < kTile.micro_m; ++r) {
      const Acc row = a_tile[p * (kTile.m + 1) + thread.m + thread.row(r)];
#pragma unroll
      for (int s = 0; s < kTile.micro_n; ++s)
        sums[r][s] = fma(row, column[s], sums[r][s]);
    }
  }
}

/// Group after group adds to the sums of group 0, through staged[micro_m][micro_n][in_group].
template <Tile kTile, class Acc>
__device__ void add_groups(TileSums<kTile, Acc>& sums, const TileThread<kTile>& thread,
                           Acc* staged) {
  const auto place = [&](int r, int s) -> Acc& {
    return staged[(r * kTile.micro_n + s) * thread.kGroupThreads + thread.in_group];
  };
  for (int sender = 1; sender < kTile.groups; ++sender) {
#pragma unroll
    for (int r = 0; r < kTile.micro_m; ++r) {
#pragma unroll
      for (int s = 0; s < kTile.micro_n; ++s)
        if (thread.group == sender) place(r, s) = sums[r][s];
    }
    __syncthreads();  // the sender's sums are written before group 0 reads them
    if (thread.group == 0) {
#pragma unroll
      for (int r = 0; r < kTile.micro_m; ++r) {
#pragma unroll
        for (int s = 0; s < kTile.micro_n; ++s)
          sums[r][s] += place(r, s);
      }
    }
    __syncthreads();  // they are read before the next sender, or tile, overwrites them
  }
}

/// kTileOf<kIndex, T> at work. Block: tiles of C over one chunk of k, tile after tile where the
/// grid is smaller than their number. Two blocks share a multiprocessor, so that one loads while
/// the other computes.
template <int kIndex, class T, class TOut>
__global__ __launch_bounds__(kTileOf<kIndex, T>.threads(),
                             2) void gemm_tile_kernel(TileArguments<T, TOut> g) {
  using Acc = device::DeviceAccumulator<T>;
  constexpr Tile kTile = kTileOf<kIndex, T>;
  static_assert(kTile.groups == 1 || kTile.m * kTile.n <= kStagedA<kTile> + kStagedB<kTile>);
  __shared__ Acc staged[kStagedA<kTile> + kStagedB<kTile>];
  Acc* const a_tile = staged;                    // [kTile.k][kTile.m + 1]
  Acc* const b_tile = staged + kStagedA<kTile>;  // [kTile.k][kTile.n + 1]

  const Problem& problem = g.problem;
  const TileThread<kTile> thread;
  const std::int64_t k = g.alpha.load() == Acc(0) ? 0 : problem.k;
  const std::int64_t tiles = g.tiles_m * g.tiles_n;

  for (std::int64_t index = blockIdx.x; index < tiles * g.split.count; index += gridDim.x) {
    const std::int64_t chunk = index / tiles;
    const std::int64_t i0 = index % tiles / g.tiles_n * kTile.m;
    const std::int64_t j0 = index % tiles % g.tiles_n * kTile.n;
    const std::int64_t k1 = min(k, (chunk + 1) * g.split.length);
    const int rows = static_cast<int>(min(std::int64_t{kTile.m}, problem.m - i0));
    const int columns = static_cast<int>(min(std::int64_t{kTile.n}, problem.n - j0));

    TileSums<kTile, Acc> sums = {};
    for (std::int64_t k0 = chunk * g.split.length; k0 < k1; k0 += kTile.k) {
      const int depth = static_cast<int>(min(std::int64_t{kTile.k}, k1 - k0));
      stage<kTile, kTile.m>(a_tile, g.a + i0 * problem.a.row + k0 * problem.a.col, problem.a,
                            problem.conj_a, rows, depth);
      stage<kTile, kTile.n>(b_tile, g.b + k0 * problem.b.row + j0 * problem.b.col,
                            {problem.b.col, problem.b.row}, problem.conj_b, columns, depth);
      __syncthreads();  // both tiles are written before they are read
      multiply_tiles<kTile>(sums, thread, a_tile, b_tile, depth);
      __syncthreads();  // both tiles are read before the next ones, or the sums, overwrite them
    }
    add_groups<kTile>(sums, thread, staged);

    if (thread.group != 0) continue;
#pragma unroll
    for (int s = 0; s < kTile.micro_n; ++s) {
      const int j = thread.n + thread.column(s);
#pragma unroll
      for (int r = 0; r < kTile.micro_m; ++r) {
        const int i = thread.m + thread.row(r);
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
