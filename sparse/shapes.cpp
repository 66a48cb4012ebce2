#include "sparse/shapes.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <lanky/error.hpp>
#include <sstream>
#include <tuple>
#include <utility>

#include "core/ceil_div.hpp"
#include "core/text.hpp"
#include "sparse/cost.hpp"
#include "sparse/policy.hpp"

namespace lanky::sparse {

namespace {

/// A field of a shape, and what it is called.
struct Field {
  std::string_view name;
  std::int32_t Shape::*value;
};
constexpr Field kFields[] = {{"lane", &Shape::lane_pieces},   {"fill", &Shape::wide_fill},
                             {"piece", &Shape::piece_most},   {"cost", &Shape::row_cost},
                             {"window", &Shape::window_cost}, {"rows", &Shape::granule},
                             {"staged", &Shape::stage_most},  {"bands", &Shape::bands},
                             {"hot", &Shape::hot_least},      {"warps", &Shape::warps}};

/// Shapes that cut rows alike stand side by side, of which predict_us() takes less time.
bool precedes(const Shape& a, const Shape& b) {
  const auto key = [](const Shape& s) {
    return std::tie(s.piece_most, s.row_cost, s.granule, s.window_cost, s.lane_pieces, s.wide_fill,
                    s.stage_most, s.bands, s.hot_least, s.warps);
  };
  return key(a) < key(b);
}

constexpr std::int64_t kOtherSharedBytes = 8 << 10;  // what kernels have besides sums and columns

/// Wide shapes of a matrix, from the coarsest decision to the finest.
class Space {
 public:
  Space(const RowFacts& facts, DType dtype, const Machine& machine)
      : facts_(facts),
        dtype_(dtype),
        machine_(machine),
        bytes_(size_of(dtype)),
        even_(facts.empty == 0 && facts.even()) {}

  std::vector<Shape> all() {
    for (const int piece : pieces()) {
      for (const double windows : counts_of_windows())
        add_windows(piece, windows);
    }
    if (facts_.hot_least > 0) add(hot_shape(facts_.hot_least, dtype_));
    return std::move(shapes_);
  }

 private:
  static constexpr std::int64_t kStagedMost = 16'384;  // columns
  static constexpr double kFullRound = 0.985;   // of the windows that have room at once, in a round
  static constexpr double kEntriesLeast = 256;  // of a window
  // Work of a window. Of 130 trials of larger ones (H200, H100, all families), beside the best of
  // the others, 2 were more than 3 % faster and 78 more than 3 % slower.
  static constexpr double kWorkMost = 48 << 10;
  static constexpr std::int32_t kWarpsMost = 8;
  // Of a multiprocessor: rounds need not be full.
  static constexpr std::int64_t kManyWindows = 8;
  static constexpr std::int32_t kBands = 1024;
  // The share of the L2 that x may take to stay there beside all that passes through.
  static constexpr double kNearShare = 0.4;

  /// Lengths of pieces that differ for these rows; rows of about one length are cut evenly.
  std::vector<int> pieces() const {
    std::vector<int> all;
    for (const int most : {8, 16, 32}) {
      if (facts_.longest <= most) break;
      const auto parts = ceil_div(facts_.longest, std::int64_t{most});
      all.push_back(even_ ? static_cast<int>(ceil_div(facts_.longest, parts)) : most);
    }
    if (facts_.longest <= kPieceMostLimit)
      all.push_back(static_cast<int>(std::max<std::int64_t>(facts_.longest, 4)));
    return all;
  }

  /// From two windows on each multiprocessor to as many as have kEntriesLeast entries.
  std::vector<double> counts_of_windows() const {
    std::vector<double> counts;
    for (std::int64_t of_each = 2;;
         of_each = of_each % 3 == 0 ? of_each * 4 / 3 : of_each * 3 / 2) {
      const auto all = static_cast<double>(of_each * machine_.multiprocessors) * kFullRound;
      if (static_cast<double>(facts_.nnz) < kEntriesLeast * all) return counts;
      counts.push_back(all);
    }
  }

  /// Windows of rows of about one length have as many rows, whole slices of them where these are
  /// short; others have as much work. Of elements of 2 bytes slices are wide even where entries
  /// fill them badly; ragged steps of larger ones cost more.
  void add_windows(int piece, double windows) {
    const int lane_pieces = lane_pieces_most(bytes_);
    Shape shape{.lane_pieces = lane_pieces,
                .wide_fill = lane_pieces == 1 ? 100
                             : bytes_ == 2    ? 30
                                              : 75,
                .piece_most = piece};
    const auto rows = static_cast<std::int64_t>(static_cast<double>(facts_.rows) / windows);
    if (even_ && rows >= kLanes) {
      align_windows(shape, facts_, whole_rows(rows, lane_pieces));
      add_blocks(shape);
      return;
    }
    for (const int row_cost : {4, 8}) {
      // In f64 the cost prefers windows of dearer rows too often: by replay of trials (H200, H100)
      // choices without them take .994 of the time on the sparse set, .996 on validation families.
      if (row_cost == 8 && bytes_ >= 8) continue;
      shape.row_cost = row_cost;
      const auto work = static_cast<double>(facts_.nnz + row_cost * facts_.rows);
      shape.window_cost = static_cast<std::int32_t>(
          std::clamp<double>(std::ceil(work / windows), piece, kWorkMost));
      add_blocks(shape);
    }
  }

  /// Where a warp multiplies several shallow slices at once, windows of whole slices, and if there
  /// are many, of as many as a block of kWarpsMost does: a group that lacks a slice takes as long,
  /// one with a slice that is not full longer.
  std::int64_t whole_rows(std::int64_t rows, int lane_pieces) const {
    if (!is_shallow(facts_)) return round_up(rows, kLanes);
    const std::int64_t slice = std::int64_t{kLanes} * lane_pieces;
    const std::int64_t groups = slice * kShallowGroup * kWarpsMost;
    const bool many = facts_.rows >= kManyWindows * machine_.multiprocessors * groups;
    return many && rows >= groups ? round_up(rows - groups / 2, groups) : round_up(rows, slice);
  }

  /// Blocks of four warps and of eight, and those that stage so many columns that one, two or four
  /// share the memory of a multiprocessor, where most windows have no more: if a few do, all blocks
  /// have the room. Windows of split rows are multiplied beside those of
  /// other rows that read the same part of x, where that does not stay in the L2.
  void add_blocks(Shape shape) {
    const auto kept = kNearShare * static_cast<double>(machine_.second_cache_bytes);
    const bool far = static_cast<double>(facts_.cols) * static_cast<double>(bytes_) > kept;
    if (far && facts_.longest > shape.window_cost) shape.bands = kBands;
    add(shape);
    shape.warps = kWarpsMost;
    add(shape);
    const double span = median_span(shape, facts_);
    for (const int blocks : {1, 2, 4}) {
      shape.stage_most = columns_of(blocks);
      if (span <= shape.stage_most) add(shape);
    }
  }

  /// Columns that a block has room for, of so many on a multiprocessor.
  std::int32_t columns_of(int blocks) const {
    const std::int64_t room = machine_.shared_bytes_per_block / blocks - 2 * kOtherSharedBytes;
    return static_cast<std::int32_t>(
        std::min<std::int64_t>(room / static_cast<std::int64_t>(bytes_), kStagedMost));
  }

  void add(Shape shape) {
    limit_windows(shape, facts_);
    if (fits(shape, facts_, dtype_, machine_)) shapes_.push_back(shape);
  }

  const RowFacts& facts_;
  DType dtype_;
  const Machine& machine_;
  std::size_t bytes_;
  bool even_;  // all rows are of about one length, and none is empty
  std::vector<Shape> shapes_;
};

}  // namespace

bool fits(const Shape& shape, const RowFacts& facts, DType dtype, const Machine& machine) {
  if (shape.window_cost < shape.piece_most) return false;
  const std::int64_t longest = std::min<std::int64_t>(facts.longest, shape.window_cost);
  const std::int64_t entries = shape.window_cost + shape.granule * longest;
  const std::int64_t cells =
      shape.window_cost / std::min(shape.row_cost, shape.piece_most) +
      std::int64_t{shape.granule} * std::max(pieces_of(longest, shape.piece_most), 1);
  const auto bytes = static_cast<std::int64_t>(size_of(dtype));
  return entries <= 2 * kWindowCostMost && cells <= kCellsLimit &&
         pieces_of(longest, shape.piece_most) <= facts.pieces_most &&
         cells * sum_bytes_of(dtype) + shape.stage_most * bytes <=
             machine.shared_bytes_per_block - kOtherSharedBytes;
}

std::string name_of(const Shape& shape) {
  std::string text;
  for (const Field& field : kFields)
    text += concat(text.empty() ? "" : " ", field.name, " ", shape.*field.value);
  return text;
}

Shape shape_of(std::string_view name) {
  Shape shape;
  std::istringstream words{std::string(name)};
  for (const Field& field : kFields) {
    std::string word;
    if (!(words >> word >> shape.*field.value) || word != field.name)
      throw Error(ErrorCode::invalid_argument, concat("no shape is called \"", name, "\""));
  }
  return shape;
}

std::vector<Shape> candidates(const RowFacts& facts, DType dtype, const Machine& machine) {
  std::vector<Shape> all = Space(facts, dtype, machine).all();
  if (const auto single = single_shape(facts, dtype, machine)) all.push_back(*single);
  std::sort(all.begin(), all.end(), precedes);
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

}  // namespace lanky::sparse
