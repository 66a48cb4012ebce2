#include "sparse/shapes.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <lanky/error.hpp>
#include <sstream>
#include <utility>

#include "core/ceil_div.hpp"
#include "core/text.hpp"
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

constexpr std::int64_t kOtherSharedBytes = 8 << 10;  // what kernels have besides sums and columns

/// Every shape of a matrix, from the coarsest decision to the finest.
class Space {
 public:
  Space(const RowFacts& facts, DType dtype, const Machine& machine)
      : facts_(facts), dtype_(dtype), machine_(machine), bytes_(size_of(dtype)) {
    const std::int64_t filled = std::max<std::int64_t>(facts.rows - facts.empty, 1);
    even_ = facts.empty == 0 && facts.longest <= 2 * ceil_div(facts.nnz, filled);
  }

  std::vector<Shape> all() {
    for (const int piece : pieces()) {
      add_single(piece);
      add_wide(piece);
    }
    add_hot();
    std::sort(shapes_.begin(), shapes_.end(), precedes);
    shapes_.erase(std::unique(shapes_.begin(), shapes_.end()), shapes_.end());
    return std::move(shapes_);
  }

 private:
  static constexpr std::int64_t kStagedMost = 16'384;  // columns
  static constexpr std::int32_t kBands = 1024;
  static constexpr double kFullRound =
      0.985;  // windows of a round, of those that have room at once

  static bool precedes(const Shape& a, const Shape& b) {
    for (const Field& field : kFields) {
      if (a.*field.value != b.*field.value) return a.*field.value < b.*field.value;
    }
    return false;
  }

  /// Lengths of pieces that differ for these rows; rows of about one length are cut evenly.
  std::vector<int> pieces() const {
    std::vector<int> all;
    for (const int most : {4, 8, 16, 32, 64}) {
      if (facts_.longest <= most) break;
      const auto parts = ceil_div(facts_.longest, std::int64_t{most});
      all.push_back(even_ ? static_cast<int>(ceil_div(facts_.longest, parts)) : most);
    }
    if (facts_.longest <= kPieceMostLimit)
      all.push_back(static_cast<int>(std::max<std::int64_t>(facts_.longest, 4)));
    return all;
  }

  /// Windows of up to `slices` slices, each with a warp of its own, whatever the lengths of rows:
  /// where these differ, a row costs as many full pieces as it is cut into, and a window has room
  /// for its last row.
  void add_single(int piece) {
    for (const int slices : {1, 2, 4, 6, kSingleWarps}) {
      Shape shape{.piece_most = piece, .row_cost = std::max(piece / 2, 1)};
      const std::int64_t pieces_of_longest = std::max(pieces_of(facts_.longest, piece), 1);
      const std::int64_t pieces = slices * kLanes;
      if (even_) {
        if (pieces < pieces_of_longest) continue;
        align_windows(shape, facts_, pieces / pieces_of_longest);
      } else {
        shape.row_cost = piece - 1;
        shape.window_cost =
            static_cast<std::int32_t>(std::max(pieces - pieces_of_longest, pieces / 2) * piece);
      }
      add(shape);
      shape.stage_most = columns_of(4);
      add(shape);
    }
  }

  /// Windows of many slices: from two on each multiprocessor to as many as have 256 entries.
  void add_wide(int piece) {
    for (std::int64_t windows = 2;;
         windows = windows % 3 == 0 ? windows * 4 / 3 : windows * 3 / 2) {
      const double count =
          kFullRound * static_cast<double>(windows) * static_cast<double>(machine_.multiprocessors);
      if (static_cast<double>(facts_.nnz) < 256 * count) break;
      for (const int fill :
           lane_pieces_most(bytes_) > 1 ? std::vector{30, 75, 100} : std::vector{100}) {
        for (const int warps : {4, kSingleWarps}) {
          Shape shape{.lane_pieces = lane_pieces_most(bytes_),
                      .wide_fill = fill,
                      .piece_most = piece,
                      .warps = warps};
          if (even_) {
            const auto rows = static_cast<std::int64_t>(static_cast<double>(facts_.rows) / count);
            if (rows < kLanes) continue;
            align_windows(shape, facts_, round_up(rows, kLanes));
            add_staging(shape);
          } else {
            add_irregular(shape, count);
          }
        }
      }
    }
  }

  void add_irregular(Shape shape, double windows) {
    for (const int row_cost : {4, 8}) {
      shape.row_cost = row_cost;
      const auto work = static_cast<double>(facts_.nnz + row_cost * facts_.rows);
      shape.window_cost = static_cast<std::int32_t>(
          std::clamp<double>(std::ceil(work / windows), shape.piece_most, kWindowCostMost));
      add_staging(shape);
    }
  }

  /// A shape, and those that stage so many columns that one, two or four blocks share the memory of
  /// a multiprocessor.
  void add_staging(Shape shape) {
    add(shape);
    for (const int blocks : {1, 2, 4}) {
      shape.stage_most = columns_of(blocks);
      add(shape);
    }
    if (facts_.longest <= shape.window_cost) return;
    shape.stage_most = 0;
    shape.bands = kBands;
    add(shape);
  }

  /// Columns that a block has room for, of so many on a multiprocessor.
  std::int32_t columns_of(int blocks) const {
    const std::int64_t room = machine_.shared_bytes_per_block / blocks - 2 * kOtherSharedBytes;
    return static_cast<std::int32_t>(
        std::min<std::int64_t>(room / static_cast<std::int64_t>(bytes_), kStagedMost));
  }

  void add_hot() {
    if (facts_.hot_least > 0) add(hot_shape(facts_.hot_least, dtype_));
  }

  void add(Shape shape) {
    limit_windows(shape, facts_);
    if (fits(shape, facts_, dtype_, machine_)) shapes_.push_back(shape);
  }

  const RowFacts& facts_;
  DType dtype_;
  const Machine& machine_;
  std::size_t bytes_;
  bool even_ = false;  // all rows are of about one length, and none is empty
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
  const std::int64_t sum_bytes = is_half(dtype) ? sizeof(float) : bytes;
  return entries <= 2 * kWindowCostMost && cells <= kCellsLimit &&
         cells * sum_bytes + shape.stage_most * bytes <=
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

std::vector<Shape> all_shapes(const RowFacts& facts, DType dtype, const Machine& machine) {
  if (facts.nnz == 0) return {};
  return Space(facts, dtype, machine).all();
}

}  // namespace lanky::sparse
