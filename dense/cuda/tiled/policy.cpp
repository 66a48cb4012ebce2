#include "dense/cuda/tiled/policy.hpp"

#include "core/ceil_div.hpp"
#include "core/text.hpp"

namespace lanky::dense {

std::vector<TiledLaunch> tiled_candidates(const Problem& problem, std::size_t bytes_per_sum,
                                          const Machine& machine) {
  constexpr std::int64_t kBlocksPerMultiprocessor = 4;
  constexpr std::int64_t kMinSteps = 4;  // of a chunk, so that partial sums stay far smaller than A
  std::vector<TiledLaunch> all;
  for (int index = 0; index < kTileCount; ++index) {
    const Tile tile = tile_for(index, bytes_per_sum);
    const std::int64_t tiles =
        ceil_div(problem.m, std::int64_t{tile.m}) * ceil_div(problem.n, std::int64_t{tile.n});
    all.push_back(
        {index, choose_split(tiles, problem.k, kBlocksPerMultiprocessor * machine.multiprocessors,
                             tile.k, kMinSteps * tile.k)});
  }
  return all;
}

std::string algorithm_name(const TiledLaunch& launch) {
  return concat("gemm_tile_kernel, ", kTiles[launch.tile].m, " x ", kTiles[launch.tile].n);
}

std::string describe(const TiledLaunch& launch, std::size_t bytes_per_sum) {
  const Tile tile = tile_for(launch.tile, bytes_per_sum);
  return concat(algorithm_name(launch), " x ", tile.k, ", ", tile.threads(), " threads of ",
                tile.micro_m, " x ", tile.micro_n, " in ", tile.groups, " groups, k in ",
                launch.split.count, " chunks of ", launch.split.length);
}

}  // namespace lanky::dense
