// The shape of small matrices: all windows are resident at once, and each slice has a warp.
#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>

#include "core/ceil_div.hpp"
#include "sparse/policy.hpp"
#include "sparse/shapes.hpp"

namespace lanky::sparse {

namespace {

// The constants below were measured on an H200; docs/lab/ tells the alternatives that lost.

// Small matrices, a warp a slice: windows of 4 slices or of 8, the most that are multiplied in one
// go. Products are fastest where all windows are resident at once: a second round takes as long.
constexpr int kSlices = 4;
constexpr int kSlicesMost = 8;
constexpr auto kPiecesOfSingle = std::array{8, 16, 32};
constexpr std::int64_t kManyLeast = 1'400'000;  // entries: no single shape, where none all fit
// Of irregular rows windows are not alike, and fewer slices are resident; of elements of 8 bytes
// still fewer beside rows that are split: so many on a multiprocessor.
constexpr double kIrregularShare = 0.9;
constexpr double kSplitSlices = 12;
// Pieces that are twice as long are worth it if there are so many less.
constexpr double kFewerPieces = 0.7;
// Longer pieces for all, in matrices of fewer entries, are worth it where no row is split then.
constexpr std::int64_t kLongerPiecesMost = 400'000;
// Windows of irregular rows have work for so many full pieces; more where there are more windows:
// of rows of which some are split, and of others.
constexpr int kWindowPieces = 88;
constexpr std::int64_t kManySplit = 850;
constexpr std::int64_t kManyAlike = 400;
constexpr std::int64_t kManyWhole = 1500;
constexpr double kOneRound = 0.97;
// Large windows are better for the longest pieces, where there are so many of what is resident.
constexpr double kEnoughLarge = 0.66;
// Rounds of short pieces that pay where gathers count: columns are far from each other, and x is
// more than the first cache holds.
constexpr double kFarRounds = 1.3;
// Columns are far from each other where rows reach over an eighth of them, in matrices of so many
// entries.
constexpr std::int64_t kReachLeast = 180'000;
constexpr std::int64_t kFarReach = 8;
constexpr std::int64_t kShortRow = 8;
constexpr std::int64_t kRegularMost = 256;  // entries of rows of about equal length

/// What the choice depends on.
struct Kind {
  RowFacts facts;
  const Machine& machine;
  int bytes;          // of an element
  std::int64_t work;  // entries, and as many as rows cost
  std::int64_t mean = facts.mean();
  bool regular = facts.even() && facts.empty == 0 && mean <= kRegularMost;
  bool brief = facts.longest <= 2 * kShortRow;  // rows of a piece or two
  bool hubs = facts.longest > 64 * mean;

  bool far() const {
    return facts.nnz >= kReachLeast && (regular || brief || hubs) &&
           kFarReach * facts.reach >= facts.cols;
  }
};

/// Slices of small matrices that a multiprocessor has at once: the kernel for pieces of up to 8
/// takes fewer registers.
int slices_at_once(int piece_most, int bytes) {
  return piece_most <= kShortRow && bytes <= 8 ? 32 : 24;
}

/// Rows of small matrices that are much alike: pieces as short, and windows as large, as are
/// resident at once. Returns whether there is such a shape.
bool shape_aligned(Shape& shape, const Kind& kind) {
  const RowFacts& facts = kind.facts;
  // Returns how many times all windows that are resident at once there are.
  const auto take = [&](int piece_most, std::int64_t slices) {
    const int pieces = std::max(pieces_of(facts.longest, piece_most), 1);
    const std::int64_t rows = std::max<std::int64_t>(slices * kLanes / pieces, 1);
    shape.piece_most = piece_most;
    shape.row_cost = piece_most / 2;
    align_windows(shape, facts, rows < kLanes ? rows : rows / kLanes * kLanes);
    const std::int64_t full = ceil_div(std::int64_t{shape.granule} * pieces, kLanes);
    const std::int64_t blocks =
        kind.machine.multiprocessors * (slices_at_once(piece_most, kind.bytes) / full);
    const std::int64_t windows = ceil_div(facts.rows, shape.granule);
    return static_cast<double>(windows) / static_cast<double>(blocks);
  };
  const bool gathers = kind.far() && facts.cols * kind.bytes > kind.machine.first_cache_bytes;
  for (const int piece_most : kPiecesOfSingle) {
    const bool cut = facts.longest > piece_most;
    const bool shared = cut && kind.regular && kind.bytes < 8 && piece_most <= kShortRow;
    const bool last = piece_most == kPiecesOfSingle.back();
    const double large = take(piece_most, kSlicesMost);
    if (large <= kOneRound && (shared || (last && large >= kEnoughLarge))) return true;
    const double small = take(piece_most, kSlices);
    if (small <= kOneRound || (gathers && small <= kFarRounds)) return true;
    if (large <= kOneRound) {
      take(piece_most, kSlicesMost);
      return true;
    }
    if (!cut && piece_most <= kShortRow) return true;
  }
  take(16, kSlices);
  return facts.nnz < kManyLeast;
}

/// Others: windows of no more slices than a block has warps. Returns whether there is such a shape.
bool shape_irregular(Shape& shape, const Kind& kind) {
  const RowFacts& facts = kind.facts;
  const auto slices8 = static_cast<double>(facts.pieces8) / kLanes;
  const auto slices16 = static_cast<double>(facts.pieces16) / kLanes;
  const std::int64_t pieces32 = facts.nnz / 32 + facts.rows - facts.empty;  // at most
  const auto slices32 = static_cast<double>(pieces32) / kLanes;
  const auto fits = [&](double slices, int piece_most) {
    const bool split = facts.longest > piece_most * kWindowPieces;
    const double at_once = split && kind.bytes >= 8
                               ? kSplitSlices
                               : kIrregularShare * slices_at_once(piece_most, kind.bytes);
    return slices <= kind.machine.multiprocessors * at_once;
  };
  const bool shortest = fits(slices8, 8) || slices16 > kFewerPieces * slices8;
  shape.piece_most = shortest ? 8 : facts.nnz < kManyLeast || fits(slices16, 16) ? 16 : 32;
  const bool resident = shape.piece_most < 32 || fits(slices32, 32);
  shape.row_cost = shape.piece_most / 2;
  shape.window_cost = shape.piece_most * (facts.nnz < 60'000 ? 48 : kWindowPieces);
  // A window has less than this, and one row that is no longer. It has 8 slices at most, for that
  // row has pieces of piece_most, and others one for each row_cost + 1 or each piece_most.
  constexpr int kPieces = kSlicesMost * kLanes;
  const auto largest = [&] { return kPieces / 2 * shape.piece_most; };
  const std::int64_t windows = kind.work / shape.window_cost;
  if (facts.longest > shape.window_cost) {
    // Rows that are split take a latency more: none is, if that takes no more than longer pieces.
    if (kind.bytes < 8 && facts.nnz < kLongerPiecesMost && facts.longest > largest() &&
        facts.longest <= 2 * largest())
      shape.piece_most *= 2;
    if (facts.longest <= largest()) {
      const auto longest = static_cast<std::int32_t>(facts.longest);
      shape.window_cost = longest;
      shape.row_cost = longest / (kPieces - pieces_of(longest, shape.piece_most) - 1);
    } else if (shortest && kind.mean > 5 && windows > kManySplit) {
      shape.window_cost = largest();
      shape.row_cost = shape.piece_most - 1;
    }
  } else if (shortest && kind.bytes < 8 && windows > kManyWhole) {
    shape.window_cost = largest();
    shape.row_cost = shape.piece_most - 1;
  } else if (shortest && kind.bytes < 8 && windows > kManyAlike) {
    const int others = kPieces - pieces_of(facts.longest, shape.piece_most);
    shape.window_cost = std::clamp(others * (shape.row_cost + 1), shape.window_cost, 1200);
  }
  return resident;
}

}  // namespace

std::optional<Shape> single_shape(const RowFacts& facts, DType dtype, const Machine& machine) {
  const Kind kind{facts, machine, static_cast<int>(size_of(dtype)),
                  facts.nnz + Shape{}.row_cost * facts.rows};
  Shape shape;
  const bool aligned = kind.regular || kind.brief;
  if (!(aligned ? shape_aligned(shape, kind) : shape_irregular(shape, kind))) return std::nullopt;
  limit_windows(shape, facts);
  return shape;
}

}  // namespace lanky::sparse
