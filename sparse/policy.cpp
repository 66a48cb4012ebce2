#include "sparse/policy.hpp"

#include <algorithm>
#include <bit>
#include <lanky/error.hpp>

#include "core/text.hpp"

namespace lanky::sparse {

namespace {

// What follows was measured on an H200 (docs/performance.md tells the alternatives).

// From so many entries on there is work for wide slices and long pieces.
constexpr std::int64_t kLargeLeast = 5'000'000;
constexpr std::int64_t kLargeRegularLeast = 2'500'000;
// Smaller matrices are cut into about as many windows as blocks are resident at once.
constexpr std::int64_t kWindowsAtOnce = 750;
constexpr std::int64_t kWindowOfFew = 512;  // entries, where there are not so many windows
// From so many on, several windows for each resident block, to even out their work.
constexpr std::int64_t kWindowsLeast = 1300;
constexpr std::int64_t kIrregularWindows = 3000;
// Rows of equal length beyond this many entries are cut like any others.
constexpr std::int64_t kRegularMost = 256;
// Entries of a window of regular rows, at most: a 27-point stencil took 153 us with 7,000, 134 with
// 28,000 and 201 with 56,000, where too few windows are left.
constexpr std::int64_t kRegularWindow = 28'000;
// x that a window stages: four blocks of a multiprocessor share 227 KB.
constexpr int kStagedBytes = 48 << 10;

/// The power of 2 next below, at least 1.
int floor_power(std::int64_t value) {
  return static_cast<int>(
      std::bit_floor(static_cast<std::uint64_t>(std::max<std::int64_t>(value, 1))));
}

/// The greatest window_cost for which no window can pass kCellsLimit. Until the last granule
/// begins, a window's cost is below window_cost, and a cell costs row_cost or piece_most at least.
int window_cost_limit(const RowFacts& facts, const Shape& shape) {
  const std::int64_t longest = std::min<std::int64_t>(facts.longest, shape.window_cost);
  const std::int64_t last = shape.granule * std::max(pieces_of(longest, shape.piece_most), 1);
  const std::int64_t cost = (kCellsLimit - last) * std::min(shape.row_cost, shape.piece_most);
  return static_cast<int>(cost / shape.piece_most * shape.piece_most);
}

/// For rows of about equal length: windows begin at multiples of a granule of rows.
void shape_regular(Shape& shape, const RowFacts& facts, std::int64_t mean, bool large) {
  std::int64_t granule =
      std::min<std::int64_t>(round_up(facts.rows / kWindowsAtOnce + 1, kLanes), 1024);
  // Of long rows a few are a window's work.
  const std::int64_t most_entries =
      std::max<std::int64_t>(facts.nnz / kWindowsAtOnce, kWindowOfFew) * 3 / 2;
  if (granule * mean > most_entries) {
    granule = std::max<std::int64_t>(most_entries / mean, 1);
    if (granule > kLanes) granule = granule / kLanes * kLanes;
  }
  if (large) {
    const std::int64_t most = std::min(kRegularWindow / mean, facts.rows / kWindowsLeast);
    granule = std::clamp<std::int64_t>(floor_power(most), 8 * kLanes, 2048);
  }
  shape.granule = static_cast<std::int32_t>(granule);
  // Less than the granule's work, so that each begins a window.
  shape.window_cost = static_cast<std::int32_t>(shape.granule * (mean + shape.row_cost) * 3 / 4);
}

/// For all others: windows of about equal work.
void shape_irregular(Shape& shape, const RowFacts& facts, std::int64_t mean, bool large) {
  const std::int64_t work = facts.nnz + shape.row_cost * facts.rows;
  if (!large) {
    shape.window_cost = static_cast<std::int32_t>(
        std::clamp<std::int64_t>(work / kWindowsAtOnce, kWindowOfFew, 4096));
  } else if (facts.longest > 64 * mean) {
    shape.piece_most = 32;
    shape.window_cost = 4096;
  } else {
    shape.window_cost = static_cast<std::int32_t>(
        std::clamp<std::int64_t>(work / kIrregularWindows, 4096, mean < 16 ? 8192 : 16384));
  }
}

}  // namespace

Shape choose_shape(const RowFacts& facts, DType dtype) {
  const std::int64_t filled = std::max<std::int64_t>(facts.rows - facts.empty, 1);
  const std::int64_t mean = std::max<std::int64_t>((facts.nnz + filled - 1) / filled, 1);
  const bool regular = facts.empty == 0 && facts.longest <= 2 * mean && mean <= kRegularMost;
  const bool large = facts.nnz >= (regular ? kLargeRegularLeast : kLargeLeast);
  Shape shape;
  if (large) {
    shape.lane_pieces = lane_pieces_most(size_of(dtype));
    // What one window stages, all blocks take from the first cache: not for a few of many.
    if (facts.longest <= 64 * mean && 2 * facts.empty < facts.rows)
      shape.stage_most = std::min(kStagedBytes / static_cast<int>(size_of(dtype)), 8192);
    shape.piece_most = regular ? kPieceMostLimit : 64;
  } else {
    shape.piece_most = facts.nnz < 700'000 ? 8 : facts.nnz < 1'400'000 ? 16 : 32;
  }
  if (regular) {
    shape_regular(shape, facts, mean, large);
  } else {
    shape_irregular(shape, facts, mean, large);
  }
  // A granule of rows may hold several times the mean: where that could pass a window's cells, or
  // where a row is as long as a window, windows begin anywhere.
  if (shape.granule * facts.longest > 2 * std::int64_t{shape.window_cost}) shape.granule = 1;
  shape.window_cost = static_cast<std::int32_t>(round_up(shape.window_cost, shape.piece_most));
  shape.window_cost = std::min(shape.window_cost, window_cost_limit(facts, shape));
  return shape;
}

PathChoice choose_path(SpmvPath requested, DType dtype, Device device) {
  const bool has_mma = dtype == DType::f64 || is_half(dtype);
  if (requested == SpmvPath::mma && !has_mma) {
    throw Error(ErrorCode::unsupported, concat("tensor cores have no IEEE product of ", name(dtype),
                                               "; use SpmvPath::automatic or SpmvPath::cuda"));
  }
  if (!device.is_cuda()) return {SpmvPath::cuda, "the cpu replays the slices, on every path alike"};
  if (requested == SpmvPath::mma) return {SpmvPath::mma, "asked for"};
  if (requested == SpmvPath::cuda) return {SpmvPath::cuda, "asked for"};
  return {SpmvPath::cuda, "one vector is bound by memory, and tensor cores win no class"};
}

}  // namespace lanky::sparse
