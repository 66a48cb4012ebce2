#include "sparse/policy.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <lanky/error.hpp>

#include "core/ceil_div.hpp"
#include "core/text.hpp"
#include "sparse/column_samples.hpp"

namespace lanky::sparse {

namespace {

// The constants below were measured on an H200; docs/lab/ tells the alternatives that lost.

// Small matrices, a warp a slice: windows of 4 slices or of 8, the most that are multiplied in one
// go. Products are fastest where all windows are resident at once: a second round takes as long.
constexpr int kSlices = 4;
constexpr int kSlicesMost = 8;
constexpr auto kPiecesOfSingle = std::array{8, 16, 32};
constexpr std::int64_t kLongestLeast = 1'400'000;  // entries: pieces of 32, where none all fit
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
// Entries from which on a matrix has wide slices, and rows, where these are short; less where their
// lengths differ.
constexpr std::int64_t kWideLeast = 2'500'000;
constexpr std::int64_t kWideUnevenLeast = 1'400'000;
constexpr std::int64_t kWideMixedLeast = 3'500'000;
constexpr std::int64_t kWideRowsLeast = 400'000;
constexpr std::int64_t kWideUnevenRowsLeast = 150'000;
constexpr std::int64_t kWideShortestLeast = 300'000;  // of up to 5 entries
constexpr std::int64_t kWideBriefestLeast = 180'000;  // of up to 4
constexpr std::int64_t kWideFarLeast = 2'500'000;     // of up to 4, in columns far from each other
constexpr std::int64_t kWideFarEightLeast = 1'750'000;  // of 3 or 4 elements of 8 bytes
constexpr std::int64_t kWideAlignedLeast = 115'000;     // of 9 to 32
constexpr std::int64_t kShortRow = 8;
// From here on there are windows enough for long ones.
constexpr std::int64_t kLargeLeast = 20'000'000;
// Rows of about equal length up to this many entries are never cut: windows of whole slices.
constexpr std::int64_t kAlignedMost = 32;
constexpr std::int64_t kRegularMost = 256;
// Pieces of longer ones, at most; of those whose lengths differ.
constexpr std::int32_t kRegularPiece = 27;
constexpr std::int32_t kUnevenPiece = 12;
// Windows of a multiprocessor at work at once, four warps each; nearly all of those of eight, which
// stage columns. Such counts are shares of all that an H200 has: 520 of windows that stage, 1048 of
// about equal work, 960 beside hubs, 1060 of scattered rows, 1000 where most rows are empty.
constexpr double kWindowsAtOnce = 8;
constexpr double kStagingInRound = 3.94;
// Warps of two windows that are made one.
constexpr std::int32_t kJoinedWarps = 8;
// Rows of 3 or 4 entries of 8 bytes in columns far from each other: their gathers end at different
// times, which two rounds of windows even out.
constexpr std::int64_t kFarRows = 960;
// Columns of 8 bytes that windows stage, for each of their rows: more are staged again too often.
constexpr double kRestagedMost = 4;
// Of about equal work, nearly all that fit: one to three rounds of windows of at most so much work.
constexpr double kWindowsInRound = 7.94;
constexpr std::int64_t kRoundWork = 5500;
// Where rows are split, and the number of windows is not known exactly; and work that fills a
// round.
constexpr double kHubsAtOnce = 7.273;
constexpr double kScatteredAtOnce = 8.031;
constexpr int kHubsRowCost = 8;
constexpr std::int64_t kWholeMost = 1536;  // entries of rows that are not split
constexpr double kSparseAtOnce = 7.576;    // where most rows are empty
constexpr std::int64_t kHubsWork = 9216;
// Windows that are made larger to stage the columns that their rows reach: such rows have so many
// entries at least, and there are so many windows for a multiprocessor.
constexpr std::int64_t kReachingMean = 16;
constexpr int kReachedMost = 16'384;   // columns
constexpr int kPairMost = 13'312;      // of 8 bytes, for two blocks of a multiprocessor
constexpr double kStagedSpread = 1.1;  // what any rows reach, over what most do
constexpr double kReachSpread = 1.15;  // what most rows reach, over the mean
constexpr double kWindowsLeast = 3.788;
// Windows of split rows are multiplied beside those of other rows that read the same part of x,
// where x is more than the share of the L2 that stays there beside all that passes through.
constexpr double kNearShare = 0.4;
constexpr std::int32_t kBands = 1024;
// Slots of a wide slice that are entries for sure, in percent: of pieces of any lengths, or of
// nearly one where rows are alike (others take their common offsets from them) and for elements of
// 8 bytes, whose ragged steps cost more.
constexpr int kFillAny = 30;
constexpr int kFillAlike = 75;
// x that a window stages: three blocks of a multiprocessor share 227 KB.
constexpr int kStagedBytes = 64 << 10;
constexpr int kBesidesStaged = 8 << 10;  // of a block's shared memory, for sums and slices

// Columns are far from each other where rows reach over an eighth of them, and `reach` is known.
constexpr std::int64_t kReachLeast = 180'000;  // entries
constexpr std::int64_t kFarReach = 8;

// Hot columns: from so many entries on, where x is more than the first cache holds, columns are far
// (graphs that are ordered find most of x in the caches), and so many of a hundred entries are in
// them.
constexpr std::int64_t kHotLeast = 6'000'000;
constexpr std::int64_t kHotVectorBytes = 512 << 10;
constexpr std::int64_t kHotPercent = 30;
// What a block that holds hot columns leaves the first cache, whose lines are what limits the
// gathers in flight (H200: 194 KB of shared memory are the most that is of use). More columns are
// staged for longer than they save.
constexpr std::int64_t kHotLeaves = 62 << 10;
constexpr std::int64_t kHotMost = 65'536;
constexpr int kHotPiece = 16;
constexpr int kHotRowCost = 8;
constexpr int kHotWindowCost = 8192;

/// The power of 2 next below, at least 1.
std::int64_t floor_power(std::int64_t value) {
  return static_cast<std::int64_t>(
      std::bit_floor(static_cast<std::uint64_t>(std::max<std::int64_t>(value, 1))));
}

/// What a choice depends on.
struct Kind {
  RowFacts facts;
  const Machine& machine;
  int bytes;          // of an element
  std::int64_t mean;  // entries of a row that has any, rounded up
  std::int64_t work;  // entries, and as many as rows cost
  bool even = facts.longest <= 2 * mean;
  bool alike = 4 * facts.longest <= 5 * mean;  // nearly all rows are of one length
  bool regular = even && facts.empty == 0 && mean <= kRegularMost;
  bool brief = facts.longest <= 2 * kShortRow;  // rows of a piece or two
  bool hubs = facts.longest > 64 * mean;
  bool scattered = hubs && 8 * facts.empty > facts.rows;
  bool parted = hubs && mean <= 4 && facts.longest > kWholeMost;  // short rows beside split ones
  // Hubs whose windows can stage columns too: what all of a block has is small.
  bool heavy_halves = hubs && !scattered && bytes == 2 && facts.nnz >= kLargeLeast;
  bool far = kFarReach * facts.reach >= facts.cols;  // columns
  bool sparse = 2 * facts.empty > facts.rows;
  bool repeated = facts.repeated >= 75;  // rows, by the next ones: stencils

  /// The sum over all multiprocessors of what each has.
  std::int64_t of_all(double of_multiprocessor) const {
    return static_cast<std::int64_t>(of_multiprocessor * machine.multiprocessors);
  }
  /// Work that fills a round of windows beside hubs.
  std::int64_t round_most() const { return of_all(kHubsAtOnce) * kHubsWork; }
};

/// Slices of small matrices that a multiprocessor has at once: the kernel for pieces of up to 8
/// takes fewer registers.
int slices_at_once(int piece_most, int bytes) {
  return piece_most <= kShortRow && bytes <= 8 ? 32 : 24;
}

/// Rows of small matrices that are much alike: pieces as short, and windows as large, as are
/// resident at once.
void shape_single_aligned(Shape& shape, const Kind& kind) {
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
  const bool gathers = kind.far && facts.cols * kind.bytes > kind.machine.first_cache_bytes;
  for (const int piece_most : kPiecesOfSingle) {
    const bool cut = facts.longest > piece_most;
    const bool shared = cut && kind.regular && kind.bytes < 8 && piece_most <= kShortRow;
    const bool last = piece_most == kPiecesOfSingle.back();
    const double large = take(piece_most, kSlicesMost);
    if (large <= kOneRound && (shared || (last && large >= kEnoughLarge))) return;
    const double small = take(piece_most, kSlices);
    if (small <= kOneRound || (gathers && small <= kFarRounds)) return;
    if (large <= kOneRound) {
      take(piece_most, kSlicesMost);
      return;
    }
    if (!cut && piece_most <= kShortRow) return;
  }
  const bool few = facts.nnz < kLongestLeast;  // entries
  take(few ? 16 : kPiecesOfSingle.back(), few ? kSlices : kSlicesMost);
}

/// Others: windows of no more slices than a block has warps.
void shape_single_irregular(Shape& shape, const Kind& kind) {
  const RowFacts& facts = kind.facts;
  const auto slices8 = static_cast<double>(facts.pieces8) / kLanes;
  const auto slices16 = static_cast<double>(facts.pieces16) / kLanes;
  const bool split8 = facts.longest > kShortRow * kWindowPieces;
  const auto fits = [&](double slices, int piece_most) {
    const double at_once = split8 && kind.bytes >= 8
                               ? kSplitSlices
                               : kIrregularShare * slices_at_once(piece_most, kind.bytes);
    return slices <= kind.machine.multiprocessors * at_once;
  };
  const bool shortest = fits(slices8, 8) || slices16 > kFewerPieces * slices8;
  shape.piece_most = shortest ? 8 : facts.nnz < kLongestLeast || fits(slices16, 16) ? 16 : 32;
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
}

void shape_single(Shape& shape, const Kind& kind) {
  if (kind.regular || kind.brief) {
    shape_single_aligned(shape, kind);
  } else {
    shape_single_irregular(shape, kind);
  }
}

/// The work of a window of rows of about equal length that are cut: whole rounds of windows,
/// whether these stage columns or not.
std::int64_t long_rows_window(const Kind& kind) {
  const bool small = kind.bytes < 8;  // elements
  const std::int64_t in_round = kind.of_all(kStagingInRound);
  if (small && kind.work <= in_round * 16'384)
    return std::max<std::int64_t>(ceil_div(kind.work, in_round), 4096);
  if (!small && kind.facts.nnz < kLargeLeast)
    return std::clamp<std::int64_t>(floor_power(kind.work / 420), 4096, 8192);
  const std::int64_t rounds = ceil_div(kind.work, 2 * in_round * (small ? 24'576 : 13'000));
  return ceil_div(kind.work, 2 * in_round * rounds);
}

/// Columns that a row begins further on than the one before, where all of a matrix are reached.
double advance_of(const RowFacts& facts) {
  return static_cast<double>(facts.cols) / static_cast<double>(facts.rows);
}

/// Entries of a row, empty ones counted.
double mean_of(const RowFacts& facts) {
  return static_cast<double>(facts.nnz) / static_cast<double>(facts.rows);
}

/// Columns from the first to the last that most of so many rows after another reach.
double columns_reached(const RowFacts& facts, double rows) {
  return kReachSpread * static_cast<double>(facts.reach) + rows * advance_of(facts);
}

/// Columns that a window of any size stages at most.
int reached_most(const Kind& kind) {
  const std::int64_t room = kind.machine.shared_bytes_per_block - kBesidesStaged;
  return static_cast<int>(std::min<std::int64_t>(kReachedMost, room / kind.bytes));
}

/// Columns that windows stage where all of these do: two blocks of a multiprocessor or more.
int staged_most(const Kind& kind) {
  if (kind.bytes != 8) return reached_most(kind);
  const std::int64_t room = kind.machine.shared_bytes_per_block - kBesidesStaged;
  return static_cast<int>(std::min<std::int64_t>(kPairMost, room / 2 / kind.bytes));
}

/// Whether so many rows after another reach no more columns than can be staged, and read most of
/// them: otherwise the sectors of 32 bytes that entries lead to are fewer bytes.
bool reads_reached(const Kind& kind, double rows) {
  const double columns = columns_reached(kind.facts, rows);
  const double entries =
      rows * static_cast<double>(kind.facts.nnz) / static_cast<double>(kind.facts.rows);
  return kStagedSpread * columns <= staged_most(kind) &&
         static_cast<double>(kSectorBytes) * entries >= kind.bytes * columns;
}

/// Rows that a window of those of about equal length has at most. Larger ones pay where rows repeat
/// each other, or all that they read is staged; otherwise the first cache holds less of it.
std::int64_t rows_most(const Kind& kind) {
  const bool small = kind.bytes < 8;  // elements
  const bool large = kind.facts.nnz >= kLargeLeast;
  const auto stages = [&](std::int64_t rows) {
    return large && kind.bytes <= 8 && reads_reached(kind, static_cast<double>(rows));
  };
  if (kind.mean <= 4) {
    if (kind.bytes == 2 && stages(6144)) return 6144;
    if (kind.bytes == 8 && kind.far && kind.mean > 2 && !large) return kFarRows;
    return small || (!kind.repeated && stages(4096)) ? 4096 : 2048;
  }
  const std::int64_t usual = small ? 2048 : 1024;
  const bool widened = small && kind.mean >= kReachingMean;  // later
  return kind.repeated || (!widened && stages(2 * usual)) ? 2 * usual : usual;
}

/// Rows of about equal length, by the thousand: windows of whole slices or, where rows are long,
/// of pieces enough for many warps.
void shape_regular(Shape& shape, const Kind& kind) {
  const bool large = kind.facts.nnz >= kLargeLeast;
  if (kind.mean <= kAlignedMost) {
    shape.piece_most = kPieceMostLimit;
    const bool small = kind.bytes < 8;  // elements
    const std::int64_t most = std::min((small ? 56'000 : 28'000) / kind.mean, rows_most(kind));
    const std::int64_t rounds = ceil_div(kind.facts.rows, kind.of_all(kWindowsAtOnce) * most);
    // Of short rows, eight slices for each warp, if the last round is nearly full.
    const bool full = 4 * kind.facts.rows >= 3 * rounds * kind.of_all(kWindowsAtOnce) * most;
    if (kind.mean <= 4 && rounds > 1 && full) return align_windows(shape, kind.facts, most);
    // As many rows in each round of windows; wide slices, if these are not many more.
    const std::int64_t rows = ceil_div(kind.facts.rows, kind.of_all(kWindowsAtOnce) * rounds);
    const std::int64_t whole = round_up(rows, 4 * kLanes);
    const bool brief = kind.mean <= 4 && !large;
    const bool few_more = rounds > 1 || brief || (small && 100 * whole <= 115 * rows);
    return align_windows(
        shape, kind.facts,
        std::max<std::int64_t>(few_more ? whole : round_up(rows, kLanes), 4 * kLanes));
  }
  // Rows of one length have pieces of one length; of others most are to be full.
  shape.piece_most = kind.alike || kind.bytes >= 8
                         ? static_cast<std::int32_t>(ceil_div(
                               kind.facts.longest, ceil_div(kind.facts.longest, kRegularPiece)))
                         : kUnevenPiece;
  shape.window_cost = static_cast<std::int32_t>(long_rows_window(kind));
}

/// How full wide slices are to be, in percent.
int wide_fill(const Kind& kind) {
  if (kind.mean > kAlignedMost && kind.regular) return kind.bytes == 2 ? kFillAny : kFillAlike;
  // Windows so small that their warps share the pieces best in slices of 32.
  if (kind.parted && kind.facts.nnz < kLargeLeast) return 100;
  return (kind.regular && kind.alike) || kind.bytes >= 8 ? kFillAlike : kFillAny;
}

/// Columns that a window may stage. What one does, all blocks take from the first cache: not for a
/// few of many windows, nor for columns of which each is hardly read again.
void stage_columns(Shape& shape, const Kind& kind) {
  const bool alone = kind.hubs && !kind.heavy_halves;  // rows that share the first cache
  if (alone || 2 * kind.facts.empty >= kind.facts.rows) return;
  const bool large = kind.facts.nnz >= kLargeLeast;
  const bool aligned = shape.granule > 1;
  if (aligned && !large && kind.mean <= 4) return;
  if (aligned && large && kind.mean < kReachingMean && kind.bytes <= 8) {
    if (reads_reached(kind, shape.granule)) shape.stage_most = staged_most(kind);
    return;
  }
  const std::int64_t of_rows = shape.granule * kind.mean;
  const std::int64_t entries =
      aligned && !large ? of_rows : std::max<std::int64_t>(shape.window_cost, of_rows);
  // Small matrices have half of x in the first cache anyway.
  const int reads = large || aligned ? 1 : kind.regular ? 2 : 3;
  const std::int64_t staged_bytes =
      std::min<std::int64_t>(kStagedBytes, kind.machine.shared_bytes_per_block * 2 / 7);
  const std::int64_t reread = kind.bytes < 8 ? entries / reads : entries * 2 / 5;
  shape.stage_most =
      static_cast<std::int32_t>(std::min<std::int64_t>({staged_bytes / kind.bytes, 8192, reread}));
}

/// Rows of a window.
double rows_of_window(const Shape& shape, const RowFacts& facts) {
  return std::max(shape.window_cost / (mean_of(facts) + shape.row_cost), 1.0 * shape.granule);
}

/// Windows of a large matrix that have so many rows that the columns that these reach are few
/// enough to be staged, and read several times: where the windows that it has are too small. False
/// where it has them as they are.
bool widen_windows(Shape& shape, const Kind& kind) {
  const RowFacts& facts = kind.facts;
  const bool held = shape.stage_most > 0 && kind.bytes <= 8;  // by shared memory
  if (!held || facts.nnz < kLargeLeast || kind.mean < kReachingMean) return false;
  const double mean = mean_of(facts);
  const double advance = advance_of(facts);
  const double own = rows_of_window(shape, facts);
  const double reads = kind.bytes < 8 ? 2 : 3;  // of each column
  if (columns_reached(facts, own) <= std::min<double>(shape.stage_most, own * mean)) return false;
  if (mean <= reads * advance) return false;
  const double rows =
      std::max(2 * own, reads * columns_reached(facts, 0) / (mean - reads * advance));
  const bool enough =
      rows * static_cast<double>(kind.of_all(kWindowsLeast)) <= static_cast<double>(facts.rows);
  const int most = reached_most(kind);
  if (columns_reached(facts, rows) > most || !enough) return false;
  shape.stage_most = most;
  // So large windows have pieces enough without cutting rows.
  const bool small = kind.bytes < 8;
  if (!kind.regular && facts.longest <= (small ? 64 : 48)) {
    shape.piece_most = static_cast<std::int32_t>(facts.longest);
  } else if (!kind.regular && !small) {
    shape.piece_most = kRegularPiece;
  }
  const auto whole = static_cast<std::int64_t>(rows);
  if (shape.granule > 1) {
    align_windows(shape, kind.facts, round_up(whole, 4 * kLanes));
  } else {
    shape.window_cost = static_cast<std::int32_t>(
        std::min<double>(rows * (mean + shape.row_cost), kWindowCostMost - shape.piece_most));
  }
  return true;
}

/// Whether windows of rows of this kind are better joined in pairs; what they stage may forbid it.
bool gains_by_joining(const Kind& kind) {
  const bool small = kind.bytes < 8;  // elements
  if (kind.facts.nnz < kLargeLeast || kind.mean <= 4 || kind.sparse) return false;
  if (kind.hubs) return true;
  if (!kind.regular) return small && kind.mean < kReachingMean;
  // Halves of x from everywhere are too many for the first cache anyway.
  if (kind.bytes == 2 && kind.far) return false;
  return small || kind.mean <= kAlignedMost;
}

/// Makes two windows of a large matrix one, shared by twice as many warps: each finds in the first
/// cache what others brought there. Not where these would reach too many columns to be staged.
void join_windows(Shape& shape, const Kind& kind) {
  if (shape.lane_pieces == 1 || !gains_by_joining(kind)) return;
  const double rows = rows_of_window(shape, kind.facts);
  const double columns = columns_reached(kind.facts, rows);
  const bool may_stage = !kind.hubs && !kind.repeated && columns <= kReachSpread * shape.stage_most;
  const bool both_stage = columns_reached(kind.facts, 2 * rows) <= shape.stage_most;
  const bool gains = kind.bytes < 8 || columns >= kRestagedMost * rows;  // where both stage
  if (may_stage && !(both_stage && gains)) return;
  shape.warps = kJoinedWarps;
  if (shape.granule > 1) return align_windows(shape, kind.facts, 2 * shape.granule);
  shape.window_cost = std::min(2 * shape.window_cost, kWindowCostMost - shape.piece_most);
}

/// The work of a window of a large matrix where most rows are empty: so many rows that these read
/// most of the columns that they reach, which are staged, if they have room; 0 of others.
std::int64_t staging_window(const Kind& kind) {
  const RowFacts& facts = kind.facts;
  if (!kind.sparse || kind.hubs || facts.nnz < kLargeLeast || kind.bytes > 8) return 0;
  const double of_row = static_cast<double>(kind.work) / static_cast<double>(facts.rows);
  if (!few_filled(facts.rows, facts.empty, kind.bytes)) {
    if (kind.bytes == 8) return 0;
    const std::int64_t work = kind.bytes == 2 ? 36'864 : 28'672;
    return columns_reached(facts, static_cast<double>(work) / of_row) <= reached_most(kind) ? work
                                                                                            : 0;
  }
  // Without cells: two blocks of a multiprocessor or, where rows reach less far, more.
  const double shared = columns_reached(facts, 0);  // with the next window
  const double fewer = kind.bytes == 8 ? 7400 : 10'000;
  const double columns = 3 * shared <= fewer ? fewer : kind.bytes == 8 ? 11'800 : 14'800;
  const double rows = (columns - shared) / advance_of(facts);
  return rows > 0 && reads_reached(kind, rows) ? static_cast<std::int64_t>(rows * of_row) : 0;
}

/// The work of a window where rows are not alike.
std::int64_t irregular_window(const Kind& kind, int row_cost) {
  const RowFacts& facts = kind.facts;
  const std::int64_t work = facts.nnz + row_cost * facts.rows;
  const std::int64_t most = kind.scattered                      ? 4096
                            : kind.heavy_halves                 ? 32'768
                            : kind.mean >= 16 || kind.bytes < 8 ? 16'384
                                                                : 8192;
  if (kind.hubs && work <= kind.round_most()) {
    const std::int64_t windows = kind.of_all(kind.scattered && kind.far   ? kScatteredAtOnce
                                             : facts.longest > kWholeMost ? kHubsAtOnce
                                                                          : kWindowsInRound);
    return std::clamp<std::int64_t>(work / windows, kWholeMost,
                                    kind.far ? most : kind.round_most());
  }
  const bool large = facts.nnz >= kLargeLeast;
  const std::int64_t in_round = kind.of_all(kWindowsInRound);
  const std::int64_t staging = kind.of_all(kStagingInRound);
  if (kind.sparse && large && !kind.hubs)
    return std::max<std::int64_t>(staging_window(kind), kind.bytes < 8 ? 21'504 : 10'752);
  if (kind.sparse || kind.hubs) {
    const std::int64_t windows = kind.sparse ? kind.of_all(kSparseAtOnce) : 3 * in_round;
    return std::clamp<std::int64_t>(work / windows, 3072, most);
  }
  if (large && kind.mean >= kReachingMean && kind.bytes < 8)
    return ceil_div(work, staging * ceil_div(work, staging * 28'672));
  const std::int64_t rounds = std::clamp<std::int64_t>(ceil_div(work, in_round * kRoundWork), 1, 3);
  return std::clamp<std::int64_t>(ceil_div(work, in_round * rounds), 1536, most);
}

/// All others, by the thousand rows: windows of about equal work.
void shape_irregular(Shape& shape, const Kind& kind) {
  const RowFacts& facts = kind.facts;
  shape.piece_most = 16;
  // Short rows cost more beside hubs, but the parts of split ones are to be short.
  const bool dear = kind.scattered || kind.bytes < 8;
  if (kind.hubs && facts.nnz < kLargeLeast && !kind.parted && dear) shape.row_cost = kHubsRowCost;
  shape.window_cost = static_cast<std::int32_t>(irregular_window(kind, shape.row_cost));
  const auto kept = kNearShare * static_cast<double>(kind.machine.second_cache_bytes);
  const bool near = static_cast<double>(facts.cols * kind.bytes) <= kept;
  if (kind.hubs && !kind.scattered && !near) shape.bands = kBands;
  if (staging_window(kind) > 0) shape.stage_most = staged_most(kind);
}

/// Has the columns that many entries are in listed, and their x held in shared memory.
void hold_hot_columns(Shape& shape, const Kind& kind, DType dtype) {
  const RowFacts& facts = kind.facts;
  const bool cached = facts.cols * kind.bytes <= kHotVectorBytes;
  const bool many = 100 * facts.hot_entries >= kHotPercent * facts.nnz;
  if (facts.hot_least == 0 || cached || !kind.far || !many) return;
  shape = hot_shape(facts.hot_least, dtype);
}

/// The rows and entries of a matrix as a choice sees them.
Kind kind_of(const RowFacts& facts, DType dtype, const Machine& machine) {
  const std::int64_t filled = std::max<std::int64_t>(facts.rows - facts.empty, 1);
  return {facts, machine, static_cast<int>(size_of(dtype)),
          std::max<std::int64_t>(ceil_div(facts.nnz, filled), 1),
          facts.nnz + Shape{}.row_cost * facts.rows};
}

/// Whether there are pieces enough for wide slices.
bool prefers_wide(const Kind& kind) {
  const RowFacts& facts = kind.facts;
  const std::int64_t filled = facts.rows - facts.empty;
  if (kind.regular && facts.longest <= 4) {
    if (!kind.far) return facts.rows >= kWideBriefestLeast;
    if (kind.bytes < 8) return facts.rows >= kWideFarLeast;
    return facts.rows >= (facts.longest > 2 ? kWideFarEightLeast : kWideRowsLeast);
  }
  const bool aligned = kind.mean > kShortRow && kind.mean <= kAlignedMost;
  // Wide slices are of pieces of one length.
  if (kind.regular && aligned && !kind.alike && kind.bytes < 8) return facts.nnz >= kWideMixedLeast;
  return facts.nnz >= (kind.even ? kWideLeast : kWideUnevenLeast) ||
         (kind.mean <= kShortRow &&
          filled >= (kind.brief ? kWideRowsLeast : kWideUnevenRowsLeast)) ||
         (kind.regular && kind.mean <= 5 && facts.rows >= kWideShortestLeast) ||
         (kind.regular && aligned && facts.rows >= kWideAlignedLeast) ||
         (kind.sparse && facts.rows >= kWideRowsLeast);
}

}  // namespace

Shape hot_shape(std::int32_t hot_least, DType dtype) {
  return {.lane_pieces = lane_pieces_most(size_of(dtype)),
          .piece_most = kHotPiece,
          .row_cost = kHotRowCost,
          .window_cost = kHotWindowCost,
          .hot_least = hot_least};
}

void align_windows(Shape& shape, const RowFacts& facts, std::int64_t rows) {
  shape.granule = static_cast<std::int32_t>(std::max<std::int64_t>(rows, 1));
  shape.window_cost = static_cast<std::int32_t>(
      std::max<std::int64_t>(facts.longest, std::int64_t{shape.granule} * shape.row_cost));
}

// Until the last granule begins, a window's cost is below window_cost, and a cell costs row_cost or
// piece_most at least.
int window_cost_limit(const RowFacts& facts, const Shape& shape) {
  const std::int64_t longest = std::min<std::int64_t>(facts.longest, shape.window_cost);
  const std::int64_t last = shape.granule * std::max(pieces_of(longest, shape.piece_most), 1);
  const std::int64_t cost = (kCellsLimit - last) * std::min(shape.row_cost, shape.piece_most);
  return static_cast<int>(cost / shape.piece_most * shape.piece_most);
}

void limit_windows(Shape& shape, const RowFacts& facts) {
  const std::int64_t whole = kWindowCostMost / shape.piece_most * shape.piece_most;
  shape.window_cost =
      static_cast<std::int32_t>(std::min(round_up(shape.window_cost, shape.piece_most), whole));
  shape.window_cost = std::min(shape.window_cost, window_cost_limit(facts, shape));
}

bool reads_reach(const RowFacts& facts, const Machine& machine) {
  const Kind kind = kind_of(facts, DType::f64, machine);
  return facts.nnz >= kLargeLeast ||
         (facts.nnz >= kReachLeast && (kind.regular || kind.brief || kind.hubs));
}

bool reads_hot_columns(const RowFacts& facts, const Machine& machine) {
  return facts.nnz >= kHotLeast && !kind_of(facts, DType::f64, machine).even;
}

std::int64_t hot_columns_most(DType dtype, const Machine& machine) {
  const auto bytes = static_cast<std::int64_t>(size_of(dtype));
  const std::int64_t sum_bytes = is_half(dtype) ? sizeof(float) : bytes;
  // Of each window that a block has at once: a sum for each cell, and a slice for each 32 of them.
  const std::int64_t cells = kHotTeams * std::int64_t{kHotWindowCost / kHotRowCost};
  const std::int64_t of_windows = cells * sum_bytes + cells / kLanes * std::int64_t{sizeof(Slice)};
  const std::int64_t held =
      std::min(machine.first_cache_bytes - kHotLeaves, machine.shared_bytes_per_block - kHotOther);
  const std::int64_t left = held - of_windows;
  return std::clamp<std::int64_t>(left / bytes, 0, kHotMost);
}

Shape choose_shape(const RowFacts& facts, DType dtype, const Machine& machine) {
  return choose_shape(facts, dtype, machine, prefers_wide(kind_of(facts, dtype, machine)));
}

Shape choose_shape(const RowFacts& facts, DType dtype, const Machine& machine, bool wide) {
  Shape shape;
  const Kind kind = kind_of(facts, dtype, machine);
  if (!wide) {
    shape_single(shape, kind);
  } else {
    shape.lane_pieces = lane_pieces_most(size_of(dtype));
    shape.wide_fill = wide_fill(kind);
    if (kind.regular) {
      shape_regular(shape, kind);
    } else {
      shape_irregular(shape, kind);
    }
    stage_columns(shape, kind);
    if (!widen_windows(shape, kind)) join_windows(shape, kind);
    hold_hot_columns(shape, kind, dtype);
  }
  limit_windows(shape, facts);
  return shape;
}

bool has_mma(DType dtype) {
  return dtype == DType::f64 || is_half(dtype);
}

PathChoice choose_path(SpmvPath requested, DType dtype, DeviceKind device) {
  const bool tf32 = requested == SpmvPath::tf32 || requested == SpmvPath::tf32x3;
  if (requested == SpmvPath::mma && !has_mma(dtype)) {
    throw Error(ErrorCode::unsupported,
                concat("tensor cores have no IEEE product of ", name(dtype),
                       dtype == DType::f32 ? "; use SpmvPath::automatic, cuda, tf32 or tf32x3"
                                           : "; use SpmvPath::automatic or cuda"));
  }
  if (tf32 && dtype != DType::f32) {
    throw Error(ErrorCode::unsupported,
                concat("SpmvPath::tf32 and tf32x3 are for f32, not for ", name(dtype)));
  }
  if (device == DeviceKind::cpu)
    return {SpmvPath::cuda, "the cpu replays the slices, on every path alike"};
  if (requested != SpmvPath::automatic) return {requested, "asked for"};
  return {SpmvPath::cuda, "one vector is bound by memory, and tensor cores win no class"};
}

}  // namespace lanky::sparse
