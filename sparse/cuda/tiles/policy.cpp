#include "sparse/cuda/tiles/policy.hpp"

#include <algorithm>
#include <lanky/half.hpp>
#include <limits>

#include "sparse/cuda/multiply/block.hpp"
#include "sparse/launch.hpp"
#include "sparse/policy.hpp"

namespace lanky::sparse::cuda {

namespace {

struct TileStripColumns {
  int all;
  int of_word;
  int words;
  bool adjacent;
  int blocks;  // of a multiprocessor
};
TileStripColumns columns_of(TileStrip kind, DType dtype) {
  const auto columns = [](auto strip) -> TileStripColumns {
    using Strip = decltype(strip);
    return {Strip::kColumns, Strip::kEach, Strip::kWords, Strip::kAdjacent, Strip::kBlocks};
  };
  if (dtype == DType::f64) return with_tile_strip<double>(kind, columns);
  if (dtype == DType::f32) return with_tile_strip<float>(kind, columns);
  return with_tile_strip<half>(kind, columns);
}

}  // namespace

std::int64_t strips_of(TileStrip kind, std::int64_t columns, DType dtype) {
  const std::int64_t all = columns_of(kind, dtype).all;
  return (columns + all - 1) / all;
}

int strip_warps(TileStrip kind, DType dtype) {
  return columns_of(kind, dtype).blocks * kTileWarps;
}

bool may_have_tiles(const SparseOptions& options, DType dtype, std::int64_t nnz) {
  return has_tiles(dtype) && options.expected_columns >= tiled_columns_least(dtype) && nnz > 0 &&
         nnz <= kTiledEntriesMost && options.engine != Engine::cuda_cores;
}

double strips_us(const StripTimes& times, std::int64_t strips) {
  const auto count = static_cast<double>(strips);
  const double work = count * times.work;
  const double begun = std::max(0.0, 1 - times.at_once / count);
  return std::max({work, times.shared, begun * work + times.alone});
}

TileStrip best_tile_strip(const StripTimes (&times)[kTileStrips], std::int64_t columns,
                          DType dtype) {
  TileStrip best = TileStrip::narrow;
  double best_us = std::numeric_limits<double>::infinity();
  for (const TileStrip kind : {TileStrip::wide, TileStrip::middle, TileStrip::narrow}) {
    if (kind != TileStrip::narrow && columns_of(kind, dtype).all > columns) continue;
    const double us = strips_us(times[static_cast<int>(kind)], strips_of(kind, columns, dtype));
    if (us >= best_us) continue;
    best = kind;
    best_us = us;
  }
  return best;
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
