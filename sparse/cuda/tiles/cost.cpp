#include "sparse/cuda/tiles/cost.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>

#include "sparse/cuda/columns/policy.hpp"
#include "sparse/cuda/multiply/block.hpp"
#include "sparse/cuda/tiles/policy.hpp"

namespace lanky::sparse::cuda {

namespace {

// Fitted on an H200: those of tiles to every second of 22 matrices by name, of 40 thousand to 56
// million entries, with 8 to 64 columns, timed in every width of strips with several
// TileHeader::share_above; predictions are off by 14 % in root mean square there and on the others.
// Those of rows beside what row_sharing.cpp has of lanes, to CSR products of 27 matrices with 8 to
// 64 columns: off by 19 % there and by 21 % on 21 matrices that nothing was fitted to
// (docs/lab/spmm.md).
constexpr double kTilesUs = 1.1;  // of a launch
constexpr double kRowsUs = 0.83;
// Time of gathers of rows of X, of one for each column vector, over that of so many bytes at the
// L2's nominal rate.
constexpr double kVectorsOfL2 = 0.99;
constexpr double kRowsOfL2 = 1.03;
constexpr double kGatherBytes = 64;  // a shorter row of X takes as long
// Cycles of a multiprocessor's first cache for a line that a group asks for: of an entry's column,
// of its value and of each of its row of X.
constexpr double kLineCycles = 0.26;
constexpr double kLineBytes = 128;
/// Time of bytes that are streamed, over that at the rate of the cache or memory that has them.
struct StreamCosts {
  double a;
  double x;
  double y;
};
constexpr StreamCosts kTileStreams{.a = 0.49, .x = 0.44, .y = 1.24};
constexpr StreamCosts kRowStreams{.a = 0.28, .x = 0.35, .y = 1.87};
// The same of Y that rows leave by way of shared memory, at the rate of memory.
constexpr double kColumnsOfYStream = 2;
constexpr double kCached = 0.8;  // of the L2, up to which it has all operands

/// Of a step of 16 column vectors, one after the other, for strips of each width.
double step_us(TileStrip kind, DType dtype) {
  constexpr double kDoubles[] = {0.3, 0.3, 0.35, 0.42};
  constexpr double kFloats[] = {0.31, 0.31, 0.3, 0.47};
  constexpr double kHalves[] = {0.4, 0.25, 0.34, 0.47};
  static_assert(std::size(kDoubles) == kTileStrips && std::size(kFloats) == kTileStrips &&
                std::size(kHalves) == kTileStrips);
  const auto place = static_cast<int>(kind);
  return dtype == DType::f64 ? kDoubles[place]
                             : (dtype == DType::f32 ? kFloats[place] : kHalves[place]);
}
// A warp loads where its block begins, then the first columns and masks, before its first step.
constexpr double kStartUs = 0.29;
// The sums of the warps of a shared block meet in shared memory and are added up.
constexpr double kMeetingUs = 0.19;
// Warps that are at work, of those that a multiprocessor has room for.
constexpr double kAtWork = 0.67;

/// Strips of one kind, where blocks of more than `share_above` steps are shared.
StripTimes strip_times(const TileHeader& tiles, std::uint32_t share_above, TileStrip kind,
                       DType dtype, const Machine& machine) {
  const StepCounts& counts = tiles.facts.by_steps;
  const double us = step_us(kind, dtype);
  const std::int64_t shared = blocks_above(counts, share_above);
  const auto warps = static_cast<double>(tile_warps(tiles.blocks, shared));
  const double held = kAtWork * strip_warps(kind, dtype) * machine.multiprocessors;
  StripTimes times;
  double steps = 0;  // of all warps, with those for which a warp waits for the others of its block
  for (int i = 0; i < kStepClasses; ++i) {
    constexpr double kRoundedUp = 0.5 * (kTileWarps - 1);  // waited for in a block, in the mean
    const double blocks = counts.blocks[i];
    const auto own = static_cast<double>(counts.steps[i]);
    const std::int64_t most = std::int64_t{1} << i;
    if (most > share_above) {
      steps += std::max(kTileWarps * blocks, own + kRoundedUp * blocks);
    } else {
      steps += own;
      if (blocks > 0) times.alone = kStartUs + us * static_cast<double>(most);
    }
  }
  if (shared == 0) {
    times.alone = kStartUs + us * static_cast<double>(tiles.facts.steps_most);
  } else {
    const std::int64_t part = (tiles.facts.steps_most + kTileWarps - 1) / kTileWarps;
    times.shared = kStartUs + us * static_cast<double>(part) + kMeetingUs;
  }
  times.work =
      (kStartUs * warps + kMeetingUs * kTileWarps * static_cast<double>(shared) + us * steps) /
      held;
  times.at_once = held / std::max(warps, 1.0);
  return times;
}

/// The least that strips of any width are predicted to take.
double least_us(const StripTimes (&times)[kTileStrips], std::int64_t columns, DType dtype) {
  const TileStrip kind = best_tile_strip(times, columns, dtype);
  return strips_us(times[static_cast<int>(kind)], strips_of(kind, columns, dtype));
}

// Columns of the narrowest strip, which are multiplied whether they exist or not.
constexpr std::int64_t kStripLeast = kBlockRows;
/// Cycles of a multiprocessor for a step and a column of X, where columns are apart.
constexpr double kColumnCycles = 8;

}  // namespace

std::int64_t blocks_above(const StepCounts& counts, std::uint32_t share_above) {
  std::int64_t blocks = 0;
  for (int i = 0; i < kStepClasses; ++i) {
    if (std::int64_t{1} << i > share_above) blocks += counts.blocks[i];
  }
  return blocks;
}

void choose_sharing(TileHeader& tiles, std::int64_t columns, DType dtype, const Machine& machine) {
  double best_us = std::numeric_limits<double>::infinity();
  for (const std::uint32_t limit : {kNeverShared, 256U, 128U, 64U, 32U, 16U, 8U, 4U, 2U, 0U}) {
    StripTimes times[kTileStrips];
    for (int i = 0; i < kTileStrips; ++i)
      times[i] = strip_times(tiles, limit, static_cast<TileStrip>(i), dtype, machine);
    const double us = least_us(times, columns, dtype);
    if (us >= best_us) continue;
    best_us = us;
    tiles.share_above = limit;
    std::copy(std::begin(times), std::end(times), std::begin(tiles.times));
  }
  tiles.shared_blocks = blocks_above(tiles.facts.by_steps, tiles.share_above);
}

double CopyCosts::from_l2_us(double bytes) const {
  return 1e6 * bytes / machine_.l2_bandwidth();
}

double CopyCosts::from_memory_us(double bytes) const {
  return 1e6 * bytes / machine_.read_bandwidth;
}

double CopyCosts::streamed_us(double bytes, std::int64_t columns) const {
  constexpr double kIndexBytes = 2;  // of an entry, about
  const double a = static_cast<double>(rows_.facts.nnz) * (element_bytes() + kIndexBytes);
  const double all = a + x_bytes(columns) + y_bytes(columns);
  const bool cached = all < kCached * static_cast<double>(machine_.second_cache_bytes);
  return cached ? from_l2_us(bytes) : from_memory_us(bytes);
}

double CopyCosts::arithmetic_us(std::int64_t columns) const {
  if (is_half(dtype_)) return 0;
  const double flops =
      2.0 * kBlockRows * static_cast<double>(tiles_.facts.vectors * std::max(columns, kStripLeast));
  return kTilesUs + 1e6 * flops / std::max(machine_.tensor_f64, machine_.peak_f64);
}

double CopyCosts::streams_of_tiles_us(std::int64_t columns) const {
  constexpr double kVectorBytes = 5;  // a column and its share of masks
  const double a = static_cast<double>(tiles_.nnz) * element_bytes() +
                   static_cast<double>(tiles_.facts.vectors) * kVectorBytes;
  return streamed_us(
      kTileStreams.a * a + kTileStreams.x * x_bytes(columns) + kTileStreams.y * y_bytes(columns),
      columns);
}

double CopyCosts::tiles_us(std::int64_t columns) const {
  const double gathered = static_cast<double>(tiles_.facts.vectors * columns) * element_bytes();
  const double us = kTilesUs + least_us(tiles_.times, columns, dtype_) +
                    kVectorsOfL2 * from_l2_us(gathered) + streams_of_tiles_us(columns);
  return std::max(us, arithmetic_us(columns));
}

double CopyCosts::direct_us(std::int64_t columns) const {
  constexpr double kSectorBytes = 32;
  const double gathered = static_cast<double>(tiles_.facts.sectors * columns) * kSectorBytes;
  const double strips = strips_us(tiles_.times[static_cast<int>(TileStrip::apart)],
                                  strips_of(TileStrip::apart, columns, dtype_));
  const double us =
      kTilesUs + strips + kVectorsOfL2 * from_l2_us(gathered) + streams_of_tiles_us(columns);
  // Each load of a warp is from 8 columns or more, whose lines the L1 has one after the other.
  const double cycles = kColumnCycles * static_cast<double>(tiles_.facts.steps * columns);
  const double l1_us = kTilesUs + 1e6 * cycles / (machine_.clock * machine_.multiprocessors);
  return std::max({us, l1_us, arithmetic_us(columns)});
}

double CopyCosts::rows_us(std::int64_t columns, Layout y) const {
  constexpr double kIndexBytes = 4;
  const bool staged = y == Layout::col;
  const double row = static_cast<double>(columns) * element_bytes();
  const auto words = static_cast<int>(std::ceil(row / kWordBytes));
  const RowSharing rows = share_rows(rows_.lengths, rows_.shape, words, dtype_, machine_, staged);
  // Rows of X are read once for rows of A beside each other, unless these are sorted.
  const bool sorted = !staged && is_uneven(rows_.lengths, rows.limit);
  const auto read = static_cast<double>(sorted ? rows_.facts.nnz : tiles_.facts.vectors);
  const double gathers = kRowsOfL2 * from_l2_us(read * std::max(row, kGatherBytes));
  const double lines = static_cast<double>(rows_.facts.nnz) * (2 + std::ceil(row / kLineBytes));
  const double l1_us = 1e6 * kLineCycles * lines / (machine_.clock * machine_.multiprocessors);
  const double a = static_cast<double>(rows_.facts.nnz) * (element_bytes() + kIndexBytes);
  const double streams = streamed_us(
      kRowStreams.a * a + kRowStreams.x * x_bytes(columns) + kRowStreams.y * y_bytes(columns),
      columns);
  // Each hides behind the others in part.
  return kRowsUs + rows.parts_us +
         std::hypot(std::hypot(rows.work_us, rows.longest_us, l1_us), std::hypot(gathers, streams));
}

double CopyCosts::rows_of_x_us(std::int64_t columns) const {
  return cuda::rows_of_x_us(rows_.facts.cols, columns, dtype_, machine_);
}

bool CopyCosts::tiles_pay(const SparseOptions& options) const {
  const std::int64_t columns = options.expected_columns;
  if (options.expected_layout == Layout::row)
    return tiles_us(columns) < rows_us(columns, Layout::row);
  // Rows of Y go to columns by way of shared memory.
  const double rows = rows_us(columns, Layout::col) + rows_of_x_us(columns) +
                      from_memory_us(kColumnsOfYStream * y_bytes(columns));
  return std::min(direct_us(columns), tiles_us(columns) + rows_of_x_us(columns)) < rows;
}

std::int64_t CopyCosts::direct_columns() const {
  std::int64_t most = 0;
  for (std::int64_t columns = kBlockRows; columns <= 128; columns *= 2) {
    if (direct_us(columns) > tiles_us(columns) + rows_of_x_us(columns)) break;
    most = columns;
  }
  return most;
}

}  // namespace lanky::sparse::cuda
