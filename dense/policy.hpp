// What is chosen for a product, and why: its family, the vendor or lanky's own kernels, the tile of
// a block, the split of the reduction, and the bound max(bytes / bandwidth, flops / peak).
// Functions of the shape and the machine alone.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <lanky/dense.hpp>
#include <lanky/device.hpp>
#include <string>
#include <string_view>

#include "core/ceil_div.hpp"
#include "core/machine.hpp"
#include "dense/problem.hpp"

namespace lanky::dense {

/// Sides up to this length count as skinny.
inline constexpr std::int64_t kSkinny = 128;

/// True where cuBLASLt is known to be faster on a GPU than lanky's kernels for the family: from the
/// measurements that docs/performance.md names, by classes of shapes.
bool prefers_vendor(const Problem& problem, GemmFamily family, DType in, const Machine& machine);
/// Whether lanky has a kernel for runs whose B is A, which take it wherever others go.
bool has_symmetric_kernel(const Problem& problem, GemmFamily family, DType in,
                          const Machine& machine);

/// What one block of the tile kernel computes: m x n elements of C, k of the reduction at a time.
/// Each thread holds micro_m x micro_n sums; `groups` groups of threads share out the reduction.
struct Tile {
  int m;
  int n;
  int k;
  int micro_m;
  int micro_n;
  int groups;

  constexpr int threads_m() const noexcept { return m / micro_m; }
  constexpr int threads_n() const noexcept { return n / micro_n; }
  constexpr int threads() const noexcept { return threads_m() * threads_n() * groups; }
};

/// A square tile for gram, whose long k is shared out among the groups, and tall ones for the long
/// m of panel and update. Sized so that a double tile fits 48 KiB of shared memory; few, because
/// each costs seconds to compile and serves only what no faster kernel takes.
inline constexpr Tile kTiles[] = {
    {16, 16, 128, 4, 4, 16}, {128, 8, 32, 4, 2, 2}, {128, 32, 32, 4, 4, 1}};
inline constexpr int kTileCount = static_cast<int>(std::size(kTiles));

/// kTiles[index]; for sums of 16 bytes (complex doubles) half as deep.
constexpr Tile tile_for(int index, std::size_t bytes_per_sum) noexcept {
  Tile tile = kTiles[index];
  if (bytes_per_sum > sizeof(double)) tile.k /= 2;
  return tile;
}

/// Index into kTiles of the smallest tile that covers a skinny C, or the columns of a long one.
constexpr int choose_tile(std::int64_t m, std::int64_t n) noexcept {
  if (m <= 16) return 0;
  return n <= 8 ? 1 : 2;
}

/// The reduction in `count` chunks of `length` (the last may be shorter), summed one after the
/// other by a second pass where count > 1.
struct Split {
  std::int64_t count = 1;
  std::int64_t length = 0;
};

/// Enough chunks that `tiles` x count reaches `wanted`, each a multiple of `step` and at least
/// `min_length` long.
constexpr Split choose_split(std::int64_t tiles, std::int64_t k, std::int64_t wanted,
                             std::int64_t step, std::int64_t min_length) noexcept {
  if (k == 0 || tiles == 0) return {1, k};
  const std::int64_t chunks = std::max<std::int64_t>(1, ceil_div(wanted, tiles));
  const std::int64_t length =
      step * ceil_div(std::max(ceil_div(k, chunks), std::min(min_length, k)), step);
  return {ceil_div(k, length), length};
}

/// Bytes of the partial sums [count][n][m] that a split leaves to its second pass.
constexpr std::int64_t partial_bytes(const Problem& problem, Split split,
                                     std::int64_t bytes_per_sum) noexcept {
  return split.count > 1 ? split.count * problem.m * problem.n * bytes_per_sum : 0;
}

/// What the product must move and compute, and how long that takes at best.
struct Bound {
  double bytes = 0;  // A, B and C once each, beta = 0
  double flops = 0;
  double bandwidth = 0;  // nominal, bytes per second
  double peak = 0;       // nominal, flops per second in the accumulation type
  double seconds() const noexcept { return std::max(bytes / bandwidth, flops / peak); }
  bool memory_bound() const noexcept { return bytes / bandwidth >= flops / peak; }
};

Bound predict(const Problem& problem, DType in, DType out, const Machine& machine);

/// One line of explain(): bytes, flops and the bound that they set.
std::string describe(const Bound& bound);

}  // namespace lanky::dense
