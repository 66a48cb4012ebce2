// The tile kernel, which serves every shape: tiles of C, and the split of the reduction.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <vector>

#include "core/host_device.hpp"
#include "core/machine.hpp"
#include "dense/problem.hpp"
#include "dense/split.hpp"

namespace lanky::dense {

/// What one block of the tile kernel computes: m x n elements of C, k of the reduction at a time.
/// Each thread holds micro_m x micro_n sums; `groups` groups of threads share out the reduction.
struct Tile {
  int m;
  int n;
  int k;
  int micro_m;
  int micro_n;
  int groups;

  LANKY_HOST_DEVICE constexpr int threads_m() const noexcept { return m / micro_m; }
  LANKY_HOST_DEVICE constexpr int threads_n() const noexcept { return n / micro_n; }
  LANKY_HOST_DEVICE constexpr int threads() const noexcept {
    return threads_m() * threads_n() * groups;
  }
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

struct TiledLaunch {
  int tile = 0;  // index into kTiles
  Split split{};

  friend bool operator==(const TiledLaunch&, const TiledLaunch&) = default;
};

/// Every tile, with k split so that all multiprocessors have blocks.
std::vector<TiledLaunch> tiled_candidates(const Problem& problem, std::size_t bytes_per_sum,
                                          const Machine& machine);

/// What tells it from other candidates, whatever the extents.
std::string algorithm_name(const TiledLaunch& launch);
std::string describe(const TiledLaunch& launch, std::size_t bytes_per_sum);

}  // namespace lanky::dense
