#include "sparse/cuda/tiles/cost.hpp"

#include <algorithm>
#include <initializer_list>

#include "sparse/cuda/tiles/policy.hpp"

namespace lanky::sparse::cuda {

namespace {

// Fitted on an H200 to 33 matrices of up to 8 million entries with 8, 32 and 64 columns, and judged
// on 33 others: the median error was 4 to 8 % for tiles and 16 to 19 % for rows. The cycles of
// entries and steps and the share of long rows below came later, from the same matrices, and were
// judged by the copies that are chosen (docs/lab/spmm.md).
constexpr double kTilesUs = 0.9;  // of a launch
constexpr double kRowsUs = 1.8;
constexpr double kRowsOfXUs = 2.3;
constexpr double kEntryUs = 0.035;  // of a row's entries, one after the other
constexpr int kRowEntries = 64;     // that lanes have of a row, at most: longer ones are cut
constexpr double kOfL2 = 1.13;      // time of gathers from the L2, over that of its nominal rate
constexpr double kRowsOfL2 = 0.6;   // the same of rows, which the L1 has in part
constexpr double kWritten = 2;      // time of bytes of Y, over that of reading them
constexpr double kL1Bytes = 128;    // of an L1 in a cycle

/// Of a step of 16 column vectors, one after the other: floats are made doubles.
double step_us(DType dtype) {
  return dtype == DType::f64 ? 0.26 : dtype == DType::f32 ? 0.36 : 0.21;
}
// The sums of the warps of a shared block meet in shared memory and are added up.
constexpr double kMeetingUs = 0.5;
// A warp loads where its block begins, then the first columns and masks, before its first step.
constexpr double kStartUs = 0.4;

/// The longest chains of steps, in microseconds: that of a warp which has its block alone, and that
/// of a shared block, with the meeting.
struct StepChains {
  double alone_us = 0;
  double shared_us = 0;
};
StepChains step_chains(const TileFacts& facts, std::uint32_t share_above, DType dtype) {
  const double us = step_us(dtype);
  if (facts.steps_most <= share_above)
    return {.alone_us = us * static_cast<double>(facts.steps_most)};
  const std::int64_t part = (facts.steps_most + kTileWarps - 1) / kTileWarps;
  StepChains chains{.shared_us = us * static_cast<double>(part) + kMeetingUs};
  for (int i = 0; i < kStepClasses; ++i) {
    const std::int64_t steps = std::int64_t{1} << i;
    if (steps <= share_above && facts.by_steps.blocks[i] > 0)
      chains.alone_us = us * static_cast<double>(steps);
  }
  return chains;
}

/// Microseconds of a product that is bound by the latencies of its warps. Shared blocks come first.
/// The last warp begins when all but those that the machine holds at once have ended, and it may
/// have the longest of the blocks that are not shared.
double latency_us(const TileHeader& tiles, std::uint32_t share_above, std::int64_t columns,
                  DType dtype, const Machine& machine) {
  const StepCounts& counts = tiles.facts.by_steps;
  double steps = 0;  // of all warps, with those for which a warp waits for the others of its block
  for (int i = 0; i < kStepClasses; ++i) {
    constexpr double kRoundedUp = 0.5 * (kTileWarps - 1);  // waited for in a block, in the mean
    const double blocks = counts.blocks[i];
    const auto own = static_cast<double>(counts.steps[i]);
    steps += std::int64_t{1} << i <= share_above
                 ? own
                 : std::max(kTileWarps * blocks, own + kRoundedUp * blocks);
  }
  const std::int64_t shared = blocks_above(counts, share_above);
  const std::int64_t warps = tile_warps(tiles.blocks, shared);
  const auto strips = static_cast<double>(tile_strips(warps, columns, dtype, machine));
  const auto held = static_cast<double>(warps_at_once(machine));
  const double work_us =
      strips / held *
      (kStartUs * static_cast<double>(warps) +
       kMeetingUs * kTileWarps * static_cast<double>(shared) + step_us(dtype) * steps);
  const double begun = std::max(0.0, 1 - held / (strips * static_cast<double>(warps)));
  const StepChains chains = step_chains(tiles.facts, share_above, dtype);
  return std::max(
      {work_us, kStartUs + chains.shared_us, begun * work_us + kStartUs + chains.alone_us});
}

/// Of an entry of a row, in cycles of a multiprocessor.
double entry_cycles(DType dtype) {
  return dtype == DType::f64 ? 1.2 : dtype == DType::f32 ? 0.7 : 0.35;
}
/// Rows of kLongRow entries or more are multiplied in narrow strips, which read entries again: so
/// much more of the time of these.
constexpr double kLongRows = 0.7;

// Columns of the narrowest strip, which are multiplied whether they exist or not.
constexpr std::int64_t kStripLeast = kBlockRows;
/// Cycles of a multiprocessor for a step of floats, which are made doubles, and for each 8 columns
/// of it.
constexpr double kStepCycles = 40;
constexpr double kBlockCycles = 17;
/// Of a step and a column of X, where columns are apart.
constexpr double kColumnCycles = 8;

/// The share of the entries that are in rows of kLongRow or more, about.
double long_share(const RowFacts& rows) {
  double entries = 0;
  for (int i = 0; i < kLongClasses; ++i) {
    constexpr double kMean = 1.4;  // of the rows of a class, over its least
    entries += static_cast<double>(rows.long_rows[i]) * kMean * static_cast<double>(kLongRow << i);
  }
  return std::min(1.0, entries / static_cast<double>(std::max<std::int64_t>(rows.nnz, 1)));
}

}  // namespace

std::int64_t blocks_above(const StepCounts& counts, std::uint32_t share_above) {
  std::int64_t blocks = 0;
  for (int i = 0; i < kStepClasses; ++i) {
    if (std::int64_t{1} << i > share_above) blocks += counts.blocks[i];
  }
  return blocks;
}

std::uint32_t choose_share_above(const TileHeader& tiles, std::int64_t columns, DType dtype,
                                 const Machine& machine) {
  std::uint32_t best = kNeverShared;
  double best_us = latency_us(tiles, best, columns, dtype, machine);
  for (const std::uint32_t limit : {256U, 128U, 64U, 32U, 16U, 8U, 4U, 0U}) {
    const double us = latency_us(tiles, limit, columns, dtype, machine);
    if (us >= best_us) continue;
    best = limit;
    best_us = us;
  }
  return best;
}

double CopyCosts::from_l2_us(double bytes) const {
  return 1e6 * bytes / machine_.l2_bandwidth();
}

double CopyCosts::from_memory_us(double bytes) const {
  return 1e6 * bytes / machine_.read_bandwidth;
}

double CopyCosts::arithmetic_us(std::int64_t columns) const {
  if (is_half(dtype_)) return 0;
  const double flops =
      2.0 * kBlockRows * static_cast<double>(tiles_.facts.vectors * std::max(columns, kStripLeast));
  return kTilesUs + 1e6 * flops / std::max(machine_.tensor_f64, machine_.peak_f64);
}

double CopyCosts::instructions_us(std::int64_t columns) const {
  if (dtype_ != DType::f32) return 0;
  const std::int64_t warps = tile_warps(tiles_.blocks, tiles_.shared_blocks);
  const auto strips = static_cast<double>(tile_strips(warps, columns, dtype_, machine_));
  const double cycles =
      kStepCycles * strips + kBlockCycles * static_cast<double>(columns) / kBlockRows;
  return kTilesUs + 1e6 * static_cast<double>(tiles_.facts.steps) * cycles /
                        (machine_.clock * machine_.multiprocessors);
}

double CopyCosts::bound_us(double us, std::int64_t columns) const {
  return std::max({us, instructions_us(columns), arithmetic_us(columns)});
}

double CopyCosts::other_us(std::int64_t columns) const {
  constexpr double kVectorBytes = 5;  // a column and its share of masks
  const TileFacts& facts = tiles_.facts;
  const double a = static_cast<double>(tiles_.nnz) * element_bytes() +
                   static_cast<double>(facts.vectors) * kVectorBytes;
  const double y = static_cast<double>(tiles_.rows * columns) * element_bytes();
  const StepChains chains = step_chains(facts, tiles_.share_above, dtype_);
  return kTilesUs + std::max(chains.alone_us, chains.shared_us) +
         from_memory_us(a / 3 + kWritten * y);
}

double CopyCosts::tiles_us(std::int64_t columns) const {
  const double x = static_cast<double>(tiles_.facts.vectors * columns) * element_bytes();
  return bound_us(other_us(columns) + kOfL2 * from_l2_us(x), columns);
}

double CopyCosts::direct_us(std::int64_t columns) const {
  constexpr double kSectorBytes = 32;
  const double x = static_cast<double>(tiles_.facts.sectors * columns) * kSectorBytes;
  // Each load of a warp is from 8 columns or more, of whose lines the L1 has one after the other.
  const double cycles = kColumnCycles * static_cast<double>(tiles_.facts.steps * columns);
  const double l1_us = kTilesUs + 1e6 * cycles / (machine_.clock * machine_.multiprocessors);
  return bound_us(std::max(other_us(columns) + kOfL2 * from_l2_us(x), l1_us), columns);
}

double CopyCosts::rows_us(std::int64_t columns) const {
  const double row = static_cast<double>(columns) * element_bytes();
  const double entries = static_cast<double>(rows_.nnz);
  const double cycles = machine_.clock * machine_.multiprocessors;
  const double gathers = 1e6 * entries * (entry_cycles(dtype_) + row / kL1Bytes) / cycles +
                         kRowsOfL2 * from_l2_us(static_cast<double>(tiles_.facts.vectors) * row);
  return kRowsUs +
         kEntryUs * static_cast<double>(std::min<std::int64_t>(rows_.longest, kRowEntries)) +
         (1 + kLongRows * long_share(rows_)) * gathers +
         from_memory_us(static_cast<double>(rows_.rows) * row);
}

double CopyCosts::rows_of_x_us(std::int64_t columns) const {
  const double x = static_cast<double>(rows_.cols * columns) * element_bytes();
  return kRowsOfXUs + from_memory_us(2 * x);
}

bool CopyCosts::tiles_pay(const PlanOptions& options) const {
  const std::int64_t columns = options.expected_columns;
  if (options.expected_layout == Layout::row) return tiles_us(columns) < rows_us(columns);
  // Rows of Y go to columns by way of shared memory.
  const double y = static_cast<double>(rows_.rows * columns) * element_bytes();
  const double rows = rows_us(columns) + rows_of_x_us(columns) + from_memory_us(kWritten * y);
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
