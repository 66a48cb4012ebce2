#include "sparse/cuda/tiles/policy.hpp"

#include <algorithm>
#include <lanky/half.hpp>

#include "sparse/cuda/multiply/block.hpp"
#include "sparse/launch.hpp"
#include "sparse/policy.hpp"

namespace lanky::sparse::cuda {

namespace {

// Warps of a multiprocessor that have a strip at once, about: registers leave room for 24 to 64.
constexpr std::int64_t kWarpsAtOnce = 32;

struct TileStripColumns {
  int all;
  int of_word;
  int words;
  bool adjacent;
};
TileStripColumns columns_of(TileStrip kind, DType dtype) {
  const auto columns = [](auto strip) -> TileStripColumns {
    using Strip = decltype(strip);
    return {Strip::kColumns, Strip::kEach, Strip::kWords, Strip::kAdjacent};
  };
  if (dtype == DType::f64) return with_tile_strip<double>(kind, columns);
  if (dtype == DType::f32) return with_tile_strip<float>(kind, columns);
  return with_tile_strip<half>(kind, columns);
}

std::int64_t strips_of(TileStrip kind, std::int64_t columns, DType dtype) {
  const std::int64_t all = columns_of(kind, dtype).all;
  return (columns + all - 1) / all;
}

}  // namespace

std::int64_t warps_at_once(const Machine& machine) {
  return kWarpsAtOnce * machine.multiprocessors;
}

bool may_have_tiles(const PlanOptions& options, DType dtype, std::int64_t nnz) {
  return has_tiles(dtype) && options.expected_columns >= tiled_columns_least(dtype) && nnz > 0 &&
         nnz <= kTiledEntriesMost &&
         (options.path == SpmvPath::mma || options.path == SpmvPath::automatic);
}

TileStrip widest_tile_strip(std::int64_t warps, std::int64_t columns, DType dtype,
                            const Machine& machine) {
  for (const TileStrip kind : {TileStrip::wide, TileStrip::middle}) {
    if (warps * strips_of(kind, columns, dtype) >= warps_at_once(machine)) return kind;
  }
  return TileStrip::narrow;
}

std::int64_t tile_strips(std::int64_t warps, std::int64_t columns, DType dtype,
                         const Machine& machine) {
  return strips_of(widest_tile_strip(warps, columns, dtype, machine), columns, dtype);
}

NextTileStrips next_tile_strips(const ColumnsLeft& left, TileStrip widest, DType dtype) {
  const std::int64_t least = columns_of(TileStrip::apart, dtype).all;
  for (const TileStrip kind : {TileStrip::wide, TileStrip::middle, TileStrip::narrow}) {
    const TileStripColumns strip = columns_of(kind, dtype);
    const auto word = static_cast<int>(strip.of_word * size_of(dtype));
    if (kind > widest || !strip.adjacent || left.word_bytes < word) continue;
    std::int64_t strips = (left.columns + least - 1) / least / (strip.all / least);
    const bool whole_words = strip.words == 1 && left.readable % strip.of_word == 0;
    if (strips * strip.all > left.columns && !whole_words) --strips;
    if (strips > 0) return {kind, std::min(strips * strip.all, left.columns)};
  }
  return {TileStrip::apart, left.columns};
}

}  // namespace lanky::sparse::cuda
