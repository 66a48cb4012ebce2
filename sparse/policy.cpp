#include "sparse/policy.hpp"

#include <algorithm>
#include <bit>
#include <lanky/error.hpp>

#include "core/text.hpp"

namespace lanky::sparse {

namespace {

// Lanes of an H200 that multiply at once: 132 multiprocessors, 32 warps each.
constexpr std::int64_t kBusyLanes = std::int64_t{132} * 32 * kLanes;

constexpr int kWindowCostMost = 32768;

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
  const std::int64_t filled = facts.rows - facts.empty;
  const std::int64_t mean = filled == 0 ? 0 : (facts.nnz + filled - 1) / filled;
  // Rows of which kLanes are more than a window's work are cut anywhere.
  const bool regular = facts.empty == 0 && facts.longest <= 2 * mean &&
                       kLanes * (mean + Shape{}.row_cost) <= kWindowCostMost;
  const std::int64_t share = facts.nnz / kBusyLanes;  // entries of a lane
  Shape shape;
  const int longest_walk = regular ? 128 : 64;
  shape.piece_most = std::clamp(2 * floor_power(share), 8, longest_walk);
  const std::int64_t walk = std::clamp<std::int64_t>(mean, 1, shape.piece_most);
  const int most = lane_pieces_most(dtype);
  shape.lane_pieces = share >= 2 * walk * most ? most : 1;
  const std::int64_t rows =
      std::int64_t{4} * kLanes * shape.lane_pieces;  // one slice for each of 4 warps
  if (regular) {
    const std::int64_t pieces =
        std::max<std::int64_t>((mean + shape.piece_most - 1) / shape.piece_most, 1);
    shape.granule = static_cast<std::int32_t>(std::max<std::int64_t>(rows / pieces, kLanes));
    shape.window_cost = static_cast<std::int32_t>(shape.granule * (mean + shape.row_cost));
  } else {
    shape.window_cost = std::clamp(floor_power(share * 4 * kLanes), 512, kWindowCostMost);
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
