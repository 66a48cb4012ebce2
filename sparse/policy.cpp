#include "sparse/policy.hpp"

#include <algorithm>
#include <bit>
#include <lanky/error.hpp>

#include "core/text.hpp"

namespace lanky::sparse {

namespace {

// Matrices of fewer entries are cut finely: an H200 multiplies with 135,000 lanes at once.
constexpr std::int64_t kLargeLeast = 2'000'000;
// Rows of equal length beyond this many entries are cut like any others.
constexpr std::int64_t kRegularMost = 256;
// Entries of a window of regular rows, at most, and windows, at least: 27-point stencils took 153
// us with 7,000 entries, 134 with 28,000 and 201 with 56,000, where too few windows are left.
constexpr std::int64_t kRegularWindow = 28'000;
constexpr std::int64_t kWindowsLeast = 1300;
// x that a window stages: eight blocks of a multiprocessor share 227 KB.
constexpr int kStagedBytes = 32 << 10;

int lane_pieces_most(DType dtype) {
  const auto bytes = static_cast<int>(size_of(dtype));
  return bytes <= 4 ? 4 : 16 / bytes;
}

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

}  // namespace

Shape choose_shape(const RowFacts& facts, DType dtype) {
  const std::int64_t filled = std::max<std::int64_t>(facts.rows - facts.empty, 1);
  const std::int64_t mean = std::max<std::int64_t>((facts.nnz + filled - 1) / filled, 1);
  const bool regular = facts.empty == 0 && facts.longest <= 2 * mean && mean <= kRegularMost;
  const bool large = facts.nnz >= kLargeLeast;
  Shape shape;
  shape.lane_pieces = large ? lane_pieces_most(dtype) : 1;
  shape.stage_most = large ? std::min(kStagedBytes / static_cast<int>(size_of(dtype)), 8192) : 0;
  if (regular) {
    // Windows of as many slices as a block has warps, or of several times as many where that leaves
    // enough of them.
    const std::int64_t least = std::int64_t{4} * kLanes;
    const std::int64_t most = std::min(kRegularWindow / mean, facts.rows / kWindowsLeast);
    const std::int64_t rows = large ? std::max(least, std::int64_t{floor_power(most)}) : least;
    shape.piece_most = large ? kPieceMostLimit : 32;
    shape.granule = static_cast<std::int32_t>(std::min<std::int64_t>(rows, 2048));
    shape.window_cost = static_cast<std::int32_t>(shape.granule * (mean + shape.row_cost) * 3 / 4);
  } else if (large) {
    const bool skewed = facts.longest > 64 * mean;
    shape.piece_most = skewed ? 32 : 64;
    shape.window_cost = skewed ? 4096 : mean < 16 ? 8192 : 16384;
  } else {
    shape.piece_most = 8;
    shape.window_cost =
        std::clamp(floor_power((facts.nnz + shape.row_cost * facts.rows) / 700), 128, 2048);
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
