// Estimates of what a packed matrix will be, by the rules of sparse/packed.hpp; where these depend
// on more than is known, an expected value. Constants are measured shares, not limits of a card
// (docs/lab/regret.md, "Sparse shapes by cost").
#include "sparse/cost.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "sparse/cost_table.hpp"
#include "sparse/policy.hpp"

namespace lanky::sparse {

namespace {

constexpr double kWarps = 32;                   // of a multiprocessor, with 64 registers a thread
constexpr double kSingleSlices = kSingleWarps;  // of a window whose slices have a warp each
constexpr int kFewSteps = 8;
constexpr double kPiecesOfThread = 16;  // of a row, that one thread adds up
// A line of the L1 waits kLineWaitsUs for sectors of x from the L2, and kLineWaitsLongerUs more for
// sectors from memory. Both are what starved gathers took on an H200 and an H100.
constexpr double kLineBytes = 128;
constexpr double kLineWaitsUs = 0.28;
constexpr double kLineWaitsLongerUs = 0.8;
// The share of the plan's bytes that displaces x in the L1, although the loads ask it not to.
constexpr double kPassingShare = 0.25;
constexpr double kKeptShare = 5.0 / 6;  // of the L2, that keeps what the next product reads again
// What a multiprocessor can set aside as shared memory (CUDA C++ Programming Guide, "Unified
// Shared Memory/L1/Texture Cache"); the rest of the first cache holds lines.
constexpr std::array kSharedKilobytes = {0, 8, 16, 32, 64, 100, 132, 164, 196, 228};
constexpr auto kOfSystem = static_cast<double>(kSharedBytesOfSystem);

/// From 0 to 1 as x rises.
double rises(double x) {
  return 1 / (1 + std::exp(-std::clamp(x, -30.0, 30.0)));
}

double fourth_power(double x) {
  return x * x * (x * x);
}

/// The value at so many rows of one that is known of samples: linear in logarithms, and beyond the
/// last linear in rows, as what rows reach in all is.
template <class F>
double at_rows(double rows, F&& known) {
  const auto most = static_cast<double>(sample_rows(2));
  const auto fewer = static_cast<double>(sample_rows(1));
  if (rows > most)
    return known(2) + std::max(known(2) - known(1), 0.0) * (rows - most) / (most - fewer);
  const double place = (std::log2(std::max(rows, 1.0)) - 5) / 2;
  const int first = place < 1 ? 0 : 1;
  const double low = std::log(std::max(known(first), 1e-9));
  const double high = std::log(std::max(known(first + 1), 1e-9));
  return std::exp(low + (high - low) * (place - first));
}

/// Rows of more than `length` entries, and their entries: those of a class are spread evenly.
struct Longer {
  double rows = 0;
  double entries = 0;
};
Longer longer_than(double length, const RowFacts& facts) {
  Longer found;
  for (std::size_t i = 0; i < facts.long_rows.size(); ++i) {
    if (facts.long_rows[i] == 0) continue;
    const auto least = static_cast<double>(kLongRow << i);
    const double most = std::min(2 * least - 1, static_cast<double>(facts.longest));
    if (most <= length) continue;
    const double from = std::max(least, std::floor(length) + 1);
    const double rows =
        static_cast<double>(facts.long_rows[i]) * (most - from + 1) / (most - least + 1);
    found.rows += rows;
    found.entries += rows * (from + most) / 2;
  }
  return found;
}

/// Windows, and what one has on average.
struct Cutting {
  double nnz, rows, mean, longest;  // mean: entries of a row that has any
  bool cut, split, even, alike, aligned;
  double pieces;
  double windows;
  double rows_of_window, entries_of_window, pieces_of_window;
  double depth;    // of a piece
  double bound;    // of the pieces of a window
  double fullest;  // the most pieces of a window
};

/// Full pieces, and the rests of rows, which facts count for 8 entries and for 16.
double pieces_of_all(const Shape& s, const RowFacts& f, double filled) {
  const auto nnz = static_cast<double>(f.nnz);
  const double piece = s.piece_most;
  const double part8 = static_cast<double>(f.pieces8) - nnz / 8;
  const double part16 = static_cast<double>(f.pieces16) - nnz / 16;
  const double parts = piece <= 8    ? part8 * (0.85 + 0.15 * (piece - 4) / 4)
                       : piece <= 16 ? part8 + (part16 - part8) * (piece - 8) / 8
                                     : 1.1 * part16;
  return std::max(nnz / piece + parts, filled);
}

double windows_of_all(const Shape& s, const Cutting& c) {
  const double work = c.nnz + s.row_cost * c.rows;
  const double size = s.window_cost;
  const double whole = std::min((work - (c.split ? c.longest : 0)) / size, c.rows / s.granule);
  if (!c.split) return std::max(std::ceil(whole), 1.0);
  const double all = work / size + (c.nnz / c.rows > size / 2 ? c.rows / 2 : 1);
  return std::ceil(std::max(all, whole + std::ceil(c.longest / size)));
}

/// At most so many pieces of a window, whatever the lengths of its rows.
double bound_of(const Shape& s, const Cutting& c) {
  const double size = s.window_cost;
  if (!c.aligned)
    return size / std::min<double>(s.row_cost + 1, s.piece_most) +
           std::ceil(std::min(c.longest, size) / s.piece_most);
  const double rows = std::max<double>(s.granule, size / (c.nnz / c.rows + s.row_cost));
  return std::min(rows, c.rows) * std::ceil(c.longest / s.piece_most);
}

double fullest_of(const Shape& s, const RowFacts& f, const Cutting& c) {
  if (!c.aligned && c.alike && f.empty == 0) {
    const double rows = std::ceil(s.window_cost / (c.nnz / c.rows + s.row_cost) - 1e-9);
    return std::min(rows * c.pieces / c.rows, c.bound);
  }
  if (!c.aligned) return std::sqrt(c.pieces_of_window * c.bound);
  const double work = s.granule * (c.nnz / c.rows + s.row_cost);
  const double granules = std::max(std::ceil(s.window_cost / work - 1e-9), 1.0);
  const double uneven = c.cut && !c.alike ? 1.04 : 1;
  const double rows = std::min(s.granule * granules, c.rows);
  return std::min(rows * c.pieces / c.rows * uneven, c.bound);
}

Cutting cut(const Shape& s, const RowFacts& f) {
  Cutting c{};
  const auto filled = static_cast<double>(std::max<std::int64_t>(f.rows - f.empty, 1));
  c.nnz = static_cast<double>(f.nnz);
  c.rows = static_cast<double>(f.rows);
  c.mean = c.nnz / filled;
  c.longest = static_cast<double>(std::max<std::int64_t>(f.longest, 1));
  c.cut = c.longest > s.piece_most;
  c.split = c.longest > s.window_cost;
  c.even = f.even();
  c.alike = c.longest <= 1.25 * c.mean;
  c.aligned = s.granule > 1;
  c.pieces = c.cut ? pieces_of_all(s, f, filled) : filled;
  c.windows = windows_of_all(s, c);
  c.rows_of_window = c.rows / c.windows;
  c.entries_of_window = c.nnz / c.windows;
  c.pieces_of_window = c.pieces / c.windows;
  c.depth = c.nnz / c.pieces;
  c.bound = std::max(bound_of(s, c), c.pieces_of_window);
  c.fullest = fullest_of(s, f, c);
  return c;
}

/// How likely no window has more slices than a block has warps for one each.
double single_likely(const Cutting& c) {
  constexpr double kPieces = kSingleSlices * kLanes;
  if (c.bound <= kPieces) return 1;
  if (c.aligned) {
    if (c.cut && !c.alike) return rises((std::log(kPieces + 0.5) - std::log(c.fullest)) / 0.03);
    return c.fullest <= kPieces ? 1 : 0;
  }
  if (c.pieces_of_window > kPieces) return 0;
  const double reached = std::log(kPieces / c.pieces_of_window) /
                         std::max(std::log(c.bound / c.pieces_of_window), 0.02);
  return rises((reached - 0.53) / 0.12);
}

/// Columns from the first to the last of a window, of a tenth of the windows at most (0), half of
/// them (1), or nine tenths (2).
double span_of(const RowFacts& f, const Cutting& c, std::size_t share) {
  const double columns =
      at_rows(c.rows_of_window, [&](int i) { return f.locality[i].span[share]; });
  return std::clamp(columns, 1.0, std::max(static_cast<double>(f.cols), 1.0));
}

/// Windows that are parts of split rows, which are taken to have their columns anywhere.
struct SplitParts {
  double share = 0;  // of the entries
  double windows = 0;
  double span = 0;  // columns of one

  bool stage(const Shape& s) const {
    return windows > 0 && span <= std::min<double>(s.stage_most, 8.0 * s.window_cost);
  }
};
SplitParts split_parts(const Shape& s, const RowFacts& f, const Cutting& c) {
  const Longer split = longer_than(s.window_cost, f);
  if (split.rows == 0) return {};
  const double each = split.entries / split.rows;
  return {std::min(split.entries / c.nnz, 1.0), split.entries / s.window_cost,
          static_cast<double>(f.cols) * s.window_cost / each};
}

/// The columns of x that windows reach.
struct Reached {
  double span;               // of a window, from the first to the last
  double longest_span;       // of one window of ten
  double spread;             // of their logarithms
  double sectors_of_window;  // read for each entry, where the first cache holds them
  double sectors_of_slice;   // and where it does not
  double long_share;         // of the entries, in long rows, which samples hardly meet
  double sectors_of_long;    // of these at most, for each entry
};
/// Long rows are taken to have their columns anywhere, in order.
void reach_of_long_rows(Reached& x, const RowFacts& f, int bytes) {
  const double all = std::max(static_cast<double>(f.cols) * bytes / kSectorBytes, 1.0);
  double entries = 0;
  double sectors = 0;
  for (std::size_t i = 0; i < f.long_rows.size(); ++i) {
    if (f.long_rows[i] == 0) continue;
    const auto least = static_cast<double>(kLongRow << i);
    const double length = (least + std::min(2 * least - 1, static_cast<double>(f.longest))) / 2;
    const auto rows = static_cast<double>(f.long_rows[i]);
    entries += rows * length;
    sectors += rows * all * (1 - std::exp(-length / all));
  }
  x.long_share = std::min(entries / static_cast<double>(f.nnz), 1.0);
  x.sectors_of_long = entries > 0 ? sectors / entries : 1;
}
Reached reached(const RowFacts& f, const Cutting& c, int bytes) {
  Reached x{};
  x.span = span_of(f, c, 1);
  x.longest_span = span_of(f, c, 2);
  x.spread = std::clamp(std::log(x.longest_span / span_of(f, c, 0)) / 2.56 * 0.55, 0.05, 1.0);
  const double sectors = at_rows(c.rows_of_window, [&](int i) {
    return f.locality[i].sectors * static_cast<double>(sample_rows(i));
  });
  x.sectors_of_window = std::min(sectors / std::max(c.rows_of_window, 1.0), 1.0);
  x.sectors_of_slice = f.locality[0].sectors;
  reach_of_long_rows(x, f, bytes);
  return x;
}

/// What the first and the last window of a band reach: half of what a row does, and as far as the
/// band moves; 0: this is no band.
double edge_span(const RowFacts& f, const Cutting& c, const Reached& x) {
  const auto cols = static_cast<double>(f.cols);
  if (!c.even || x.span > 0.8 * cols) return 0;
  return 1.06 * (x.span + std::min(c.rows_of_window * cols / c.rows, x.span)) / 2;
}

/// Whether the last window has so few rows that no slice of it repeats.
bool last_is_alone(const Shape& s, const RowFacts& f) {
  const std::int64_t rows = f.rows % s.granule;
  return rows > 0 && rows < 2 * kLanes * s.lane_pieces;
}

/// The share of the windows that stage columns, as stages() decides, and how many one stages at
/// most; `repeated`: the share of the entries in rows that repeat.
struct Staging {
  double share = 0;
  double most = 0;
};
Staging staging_of(const Shape& s, const RowFacts& f, const Cutting& c, const SplitParts& parts,
                   const Reached& x, double repeated) {
  if (s.stage_most == 0) return {};
  const double most = s.stage_most;
  const double others = c.entries_of_window * (1 - repeated);
  const double share =
      rises(std::log(most / x.span) / x.spread) *
      rises((std::log(8 * others + 1) - std::log(x.span)) / 0.3) *
      rises((others - 0.4 * c.entries_of_window) / (0.05 * c.entries_of_window + 1e-9));
  const double by_parts = parts.stage(s) ? parts.span : 0;
  if (share > 0.5) return {share, std::min(most, std::max(1.02 * x.longest_span, by_parts))};
  const double edge = edge_span(f, c, x);
  if (edge > 0 && edge < most && (f.repeated < 75 || last_is_alone(s, f))) return {share, edge};
  return {share, std::max(share * c.windows > 0.5 ? 0.9 * most : 0, by_parts)};
}

/// The estimated number of rows of more than kPiecesOfThread pieces in the window that has most of
/// them. Entries of the densest sample of as many rows bound it, at 1.5 kPiecesOfThread full pieces
/// a row.
double long_rows_of_window(const Shape& s, const RowFacts& f, const Cutting& c) {
  const Longer long_rows = longer_than(kPiecesOfThread * s.piece_most, f);
  const double mean = std::min(long_rows.rows / c.windows, c.rows_of_window);
  if (mean == 0) return 0;
  const double entries = at_rows(
      c.rows_of_window, [&](int i) { return static_cast<double>(f.locality[i].entries_most); });
  const double each = 1.5 * kPiecesOfThread * s.piece_most;
  const double most = std::min(entries, 2 * c.entries_of_window) / each;
  return std::max(mean, std::min({most, long_rows.rows, c.rows_of_window}));
}

/// Entries of the longest piece of a window and of the shortest, and of slices of 32 pieces.
struct Depths {
  double deepest, shallowest, narrow;
};
Depths depths_of(const Shape& s, const Cutting& c) {
  const double deepest = std::min({c.longest, double(s.piece_most), 2.5 * c.mean + 1});
  const double shallowest = std::clamp(2 * c.depth - deepest, std::min(1.0, deepest), deepest);
  const double spread = (deepest - shallowest) / std::max(c.pieces_of_window / kLanes, 1.0);
  return {deepest, shallowest, std::min(c.depth + spread / 2, deepest)};
}

/// Slices of a window where they may be wide, their steps, and their slots.
struct WideSlices {
  double slices, steps, slots;
};
WideSlices wide_slices(const Shape& s, const Cutting& c, const Depths& depths) {
  const double width = kLanes * s.lane_pieces;
  const double spread =
      (depths.deepest - depths.shallowest) / std::max(c.pieces_of_window / width, 1.0);
  const double depth = std::min(c.depth + spread / 2, depths.deepest);
  const double full = std::floor(c.pieces_of_window / width);
  const double left = c.pieces_of_window - full * width;
  const bool last_wide = 100 * left >= s.wide_fill * width;
  const double filled = 1 - spread / std::max(depth + spread / 2, 1e-9);
  const double wide_share = c.alike || c.cut ? 1 : rises((filled - s.wide_fill / 100.0) / 0.08);
  const double wide = (full + (last_wide ? 1 : 0)) * wide_share;
  const double narrow = (1 - wide_share) * std::ceil(c.pieces_of_window / kLanes) +
                        wide_share * (last_wide ? 0 : std::ceil(left / kLanes));
  const double others = c.pieces_of_window - std::min(wide * width, c.pieces_of_window);
  return {std::ceil(wide + narrow), wide * depth + narrow * depths.narrow,
          wide * width * depth + others * c.depth};
}

/// Steps of the warp that has most of a window: its slices, from the deepest to the shallowest, are
/// dealt forth and back over the warps.
double longest_turn(double slices, double warps, double deepest, double shallowest) {
  if (slices <= 1) return deepest;
  const auto depth = [&](double i) { return deepest - (deepest - shallowest) * i / (slices - 1); };
  const double both = 2 * warps;  // slices, forth and back
  const double whole = std::floor(slices / both);
  const double left = slices - whole * both;
  const double turns = whole * (depth(0) + depth(std::max(whole * both - 1, 0.0)));
  if (left <= 0) return turns;
  const double forth = depth(whole * both);
  if (left <= warps) return turns + forth;
  return turns + forth + std::max(depth(whole * both + both - 1), 0.0);
}

/// What shapes have in common that cut rows alike.
struct Cut {
  Shape shape;
  Cutting cutting;
  Reached reached;
  Depths depths;
  SplitParts parts;
  double long_rows;  // of a window

  Cut(const Shape& s, const RowFacts& f, int bytes)
      : shape(s),
        cutting(cut(s, f)),
        reached(sparse::reached(f, cutting, bytes)),
        depths(depths_of(s, cutting)),
        parts(split_parts(s, f, cutting)),
        long_rows(long_rows_of_window(s, f, cutting)) {}

  bool is_of(const Shape& s) const {
    return s.piece_most == shape.piece_most && s.row_cost == shape.row_cost &&
           s.granule == shape.granule && s.window_cost == shape.window_cost;
  }
};

/// What terms are made of.
struct Demand {
  CostKernel kernel = CostKernel::few;
  double slots = 0;
  double plan_bytes = 0;    // besides values
  double slices = 1;        // of a window
  double slices_most = 1;   // of one
  double shared_bytes = 0;  // of a block
  double warps = 1;         // of a block
  double steps = 0;         // of a warp, one after another
  double most_steps = 0;    // of the warp that has most
  double staged_loads = 0;  // entries by the place of their x
  double loads = 0;
  double staged_columns = 0;  // of all windows
  double copied_columns = 0;  // of a window that stages many
};

/// How windows share the machine.
struct Residence {
  double at_once;      // blocks of a multiprocessor
  double rounds;       // of such blocks; of teams, where columns are hot
  double whole;        // rounds begun
  double mean_rounds;  // between both: blocks drift apart
  double thin;         // as many times fewer warps as there could be
  double windows;      // of a multiprocessor
  double busier;       // than the mean the busiest multiprocessor is, less 1
  double first_cache;  // bytes of the L1 that blocks leave for lines
};

/// A shape of one matrix: what is expected of each kernel.
class Expectation {
 public:
  Expectation(const Shape& shape, const Cut& cut, const RowFacts& facts, DType dtype,
              const Machine& machine)
      : s_(shape),
        f_(facts),
        dtype_(dtype),
        machine_(machine),
        bytes_(static_cast<int>(size_of(dtype))),
        repeated_(facts.repeated / 100.0 * (facts.repeated >= 75 ? 1 : 0.3)),
        cut_(cut),
        c_(cut.cutting),
        x_(cut.reached),
        staging_(staging_of(shape, facts, c_, cut.parts, x_, repeated_)) {}

  double weight(CostKernel kernel) const {
    if (s_.hot_least > 0) return kernel == CostKernel::hot ? 1 : 0;
    if (s_.lane_pieces > 1) return kernel == CostKernel::wide ? 1 : 0;
    const double single = single_likely(c_);
    if (kernel == CostKernel::narrow) return 1 - single;
    return kernel == (s_.piece_most <= kFewSteps ? CostKernel::few : CostKernel::deep) ? single : 0;
  }

  CostTerms terms(CostKernel kernel) const;

 private:
  Demand demand(CostKernel kernel) const;
  void demand_loads(Demand& d) const;
  void demand_slices(Demand& d) const;
  void demand_block(Demand& d) const;
  double resident_blocks(const Demand& d) const;
  Residence residence(const Demand& d) const;
  double first_cache(const Demand& d, double at_once) const;
  double sectors(const Demand& d, const Residence& r) const;
  double lines_of(double sectors) const;
  double lines_us(double lines, double wait_us, const Residence& r) const;
  void add_bytes(CostTerms& terms, const Demand& d, const Residence& r) const;
  void add_steps(CostTerms& terms, const Demand& d, const Residence& r) const;
  void add_gathers(CostTerms& terms, const Demand& d, const Residence& r) const;
  void add_staging(CostTerms& terms, const Demand& d, const Residence& r) const;
  void add_sums(CostTerms& terms, const Demand& d, const Residence& r) const;
  /// Microseconds in which each thread of the machine issues a load.
  double load_us() const { return 1e6 / (kLanes * machine_.multiprocessors * machine_.clock); }
  double x_bytes() const { return static_cast<double>(f_.cols) * bytes_; }
  /// Bytes that the L2 keeps from one product to the next.
  double kept_bytes() const {
    return static_cast<double>(machine_.second_cache_bytes) * kKeptShare;
  }

  const Shape& s_;
  const RowFacts& f_;
  DType dtype_;
  const Machine& machine_;
  int bytes_;        // of an element
  double repeated_;  // share of the entries whose x no load of its own brings
  const Cut& cut_;
  const Cutting& c_;
  const Reached& x_;
  Staging staging_;
};

Demand Expectation::demand(CostKernel kernel) const {
  Demand d{.kernel = kernel};
  demand_loads(d);
  demand_slices(d);
  demand_block(d);
  const double deepest = std::min<double>(c_.longest, s_.piece_most);
  d.most_steps = longest_turn(std::ceil(d.slices), d.warps, deepest,
                              std::min(cut_.depths.shallowest, deepest));
  return d;
}

void Expectation::demand_loads(Demand& d) const {
  const SplitParts& parts = cut_.parts;
  const bool parts_stage = parts.stage(s_);
  const double others = c_.nnz * (1 - repeated_);
  const double held = std::max<double>(s_.stage_most, 1);
  d.staged_loads = others * staging_.share * (parts_stage ? 1 : 1 - parts.share);
  d.loads = others - d.staged_loads;
  d.staged_columns = c_.windows * staging_.share * std::min(x_.span, held);
  d.copied_columns = std::min(staging_.share * 4, 1.0) * std::min(x_.longest_span, held);
  if (parts_stage) {
    d.staged_columns += parts.windows * parts.span;
    d.copied_columns = std::max(d.copied_columns, parts.span);
  }
  const bool far = f_.cols > 65'536 && f_.reach > 30'000;  // for indices of two bytes
  const double indices = 2 * d.staged_loads + d.loads * (far ? 4 : 2);
  d.plan_bytes = indices + (c_.cut                         ? 3 * c_.pieces + 2 * c_.rows
                            : d.kernel == CostKernel::wide ? 0
                                                           : 2 * c_.rows);
  if (d.kernel != CostKernel::hot) return;
  d.staged_loads = static_cast<double>(f_.hot_entries);
  d.loads = c_.nnz - d.staged_loads;
  d.copied_columns = static_cast<double>(hot_columns_most(dtype_, machine_));
  d.staged_columns = static_cast<double>(machine_.multiprocessors) * d.copied_columns;
}

void Expectation::demand_slices(Demand& d) const {
  const Depths& depths = cut_.depths;
  const double pieces = c_.pieces_of_window;
  d.slots = 1.02 * c_.nnz;
  d.slices = std::ceil(pieces / kLanes);
  d.slices_most = std::ceil(c_.fullest / kLanes - 1e-9);
  switch (d.kernel) {
    case CostKernel::few:
    case CostKernel::deep:
      d.slices_most = std::min(d.slices_most, kSingleSlices);
      d.warps = d.slices_most;
      d.steps = pieces > kLanes ? pieces / kLanes * depths.narrow / d.slices_most : depths.narrow;
      return;
    case CostKernel::narrow:
      d.slices_most = std::max(d.slices_most, kSingleSlices + 1);
      [[fallthrough]];
    case CostKernel::hot:
      d.warps = 4;
      d.steps = d.slices * depths.narrow / d.warps;
      return;
    case CostKernel::wide:
      const WideSlices wide = wide_slices(s_, c_, depths);
      d.slices = d.slices_most = wide.slices;
      d.slots = std::max(c_.windows * wide.slots, c_.nnz);
      d.steps = wide.steps;  // demand_block() divides them by warps
      return;
  }
}

/// Sums and staged columns in shared memory; a block that stages has as many warps as fill a
/// multiprocessor.
void Expectation::demand_block(Demand& d) const {
  const double sum_bytes = is_half(dtype_) ? 4 : bytes_;
  const bool direct = c_.even && c_.aligned && f_.empty == 0;
  const double cells = c_.cut ? 1.15 * c_.pieces_of_window : direct ? 0 : c_.rows_of_window;
  d.shared_bytes =
      (bytes_ < 8 ? 16 * d.slices_most : 0) + cells * sum_bytes + staging_.most * bytes_;
  if (d.kernel != CostKernel::wide) return;
  d.warps = s_.warps;
  if (staging_.most > 0) {
    const double blocks = std::floor(static_cast<double>(machine_.shared_bytes_per_block) /
                                     (d.shared_bytes + kOfSystem));
    d.warps = std::max(std::floor(kWarps / std::max(blocks, 1.0)), 8.0);
  }
  d.steps /= d.warps;
}

double Expectation::resident_blocks(const Demand& d) const {
  const double most = d.kernel == CostKernel::few ? (bytes_ < 8 ? 34 : 28)
                      : d.kernel == CostKernel::deep || d.kernel == CostKernel::narrow ? 24
                                                                                       : kWarps;
  const double by_memory =
      static_cast<double>(machine_.shared_bytes_per_multiprocessor) / (d.shared_bytes + kOfSystem);
  return std::max(std::min(std::floor(most / d.warps), std::floor(by_memory)), 1.0);
}

double Expectation::first_cache(const Demand& d, double at_once) const {
  const double taken = at_once * (d.shared_bytes + kOfSystem);
  auto shared = static_cast<double>(machine_.shared_bytes_per_multiprocessor);
  for (const int kilobytes : kSharedKilobytes) {
    if (taken <= kilobytes * 1024.0) {
      shared = std::min(shared, kilobytes * 1024.0);
      break;
    }
  }
  return static_cast<double>(machine_.first_cache_bytes) - shared;
}

/// Sectors of x that come from the L2. The L1 holds what all windows at work reach, and what passes
/// through it between two reads of a sector: the plan's entries of the rows between. Of a small x
/// it holds a share whatever windows reach, and each multiprocessor reads that share once.
double Expectation::sectors(const Demand& d, const Residence& r) const {
  const double slice_span = static_cast<double>(f_.locality[0].span[1]);
  const double rows_between = std::min(
      c_.rows_of_window, slice_span * c_.rows / static_cast<double>(f_.cols) + kLanes * d.warps);
  const double passing =
      kPassingShare * r.at_once * rows_between * (d.slots * bytes_ + d.plan_bytes) / c_.rows;
  const double held_at_once = std::min(x_.span * bytes_ * r.at_once, x_bytes()) + passing;
  const double near = std::min(r.first_cache / held_at_once, 1.0);
  const double sampled = x_.sectors_of_window * near + x_.sectors_of_slice * (1 - near);
  const double of_long = std::min(sampled, x_.sectors_of_long);
  const double each = d.loads * (sampled * (1 - x_.long_share) + of_long * x_.long_share);
  const double held = std::min(r.first_cache / x_bytes(), 1.0);
  const double readers = std::min<double>(c_.windows, machine_.multiprocessors);
  const double once = std::min(each, readers * x_bytes() / static_cast<double>(kSectorBytes));
  return std::max(each * (1 - held) + once * held, 1.0);
}

/// Lines of the L1 that hold these sectors of x, which are taken to lie anywhere in what windows
/// reach.
double Expectation::lines_of(double sectors) const {
  static_assert(kLineBytes == 4 * kSectorBytes);
  const double reached = std::max(c_.windows * x_.span * bytes_ / kSectorBytes, 1.0);
  const double dense = std::min(sectors / reached, 1.0);
  return sectors * (1 - fourth_power(1 - dense)) / (4 * dense);
}

/// The time that these lines take where each waits for `wait_us` (Little's law).
double Expectation::lines_us(double lines, double wait_us, const Residence& r) const {
  return lines * wait_us / machine_.multiprocessors / (r.first_cache / kLineBytes);
}

Residence Expectation::residence(const Demand& d) const {
  const bool hot = d.kernel == CostKernel::hot;
  Residence r{};
  r.at_once = resident_blocks(d);
  r.windows = c_.windows / machine_.multiprocessors;
  r.rounds = r.windows / (hot ? double{kHotTeams} : r.at_once);
  r.whole = std::max(std::ceil(r.rounds - 0.02), 1.0);
  r.mean_rounds = (r.whole + std::max(r.rounds, 1.0)) / 2;
  const double active =
      hot ? kWarps : std::clamp(std::min(r.rounds, 1.0) * r.at_once * d.warps, 1.0, kWarps);
  r.thin = kWarps / active;
  r.busier = hot ? 0 : std::ceil(r.windows) / r.windows - 1;
  r.first_cache = first_cache(d, r.at_once);
  return r;
}

/// What is read from memory, and what the L2 has kept from the product before. Few windows, or few
/// rounds of them, end unevenly.
void Expectation::add_bytes(CostTerms& terms, const Demand& d, const Residence& r) const {
  const double vectors = (c_.rows + static_cast<double>(f_.cols)) * bytes_;
  const double bytes = d.slots * bytes_ + d.plan_bytes +
                       c_.windows * (sizeof(Window) + 11 * d.slices_most) + vectors;
  const double kept = std::pow(std::clamp(kept_bytes() / bytes, 0.0, 1.0), 2);
  terms.memory = 1e6 * bytes * (1 - kept) / machine_.read_bandwidth;
  terms.l2 = 1e6 * bytes * kept / machine_.l2_bandwidth();
  terms.memory_last = terms.memory / std::max(r.rounds, 1.0);
  terms.bytes_uneven = (terms.memory + terms.l2) / r.windows;
  terms.streams = lines_us(bytes / kLineBytes, kLineWaitsUs, r);
}

void Expectation::add_steps(CostTerms& terms, const Demand& d, const Residence& r) const {
  terms.further_rounds = r.whole - 1;
  terms.windows = r.windows;
  terms.rows = c_.rows * load_us();
  terms.steps = d.steps * r.mean_rounds / 32;
  terms.longest_turn = std::max(d.most_steps - d.steps, 0.0) * r.mean_rounds / 32;
  terms.slice_starts = std::max(d.slices / d.warps - 1, 0.0) * r.mean_rounds;
}

void Expectation::add_gathers(CostTerms& terms, const Demand& d, const Residence& r) const {
  const double read = sectors(d, r);
  terms.sectors = 1e6 * read * static_cast<double>(kSectorBytes) / machine_.l2_bandwidth();
  terms.sectors_thin = terms.sectors * r.thin;
  terms.sectors_busiest = terms.sectors * r.busier;
  const double from_memory = std::max(1 - kept_bytes() / x_bytes(), 0.0);
  terms.lines = lines_us(lines_of(read), kLineWaitsUs + kLineWaitsLongerUs * from_memory, r);
  terms.loads = d.loads * load_us();
  terms.loads_thin = terms.loads * r.thin;
}

void Expectation::add_staging(CostTerms& terms, const Demand& d, const Residence& r) const {
  terms.staged_loads = d.staged_loads * load_us();
  terms.staged_bytes = 1e6 * d.staged_columns * bytes_ / machine_.l2_bandwidth();
  terms.copies = d.copied_columns / (d.warps * kLanes) * r.mean_rounds / 32;
  terms.stages = staging_.share * r.mean_rounds;
}

/// A thread adds up the cells of a cut row; where rows have many, all warps take turns at them. The
/// sums of the parts of split rows go through memory.
void Expectation::add_sums(CostTerms& terms, const Demand& d, const Residence& r) const {
  if (c_.cut) {
    const double pieces_of_longest = std::min<double>(c_.longest, s_.window_cost) / s_.piece_most;
    const bool turns = c_.pieces_of_window > kCellsInTurn * c_.rows_of_window;
    const double summing = turns ? kWarps : std::ceil(c_.rows_of_window / kLanes);
    terms.cells = r.mean_rounds;
    terms.pieces = c_.pieces * load_us();
    terms.row_rounds = std::max(c_.rows_of_window / (d.warps * kLanes) - 1, 0.0) * r.mean_rounds;
    terms.long_sums = cut_.long_rows / std::min(d.warps, summing) * r.mean_rounds;
    terms.chain_sums = std::min(pieces_of_longest / kPiecesOfThread, 1.0);
  }
  if (c_.split) {
    terms.split = 1;
    terms.split_windows = cut_.parts.windows / (machine_.multiprocessors * r.at_once);
  }
}

CostTerms Expectation::terms(CostKernel kernel) const {
  const Demand d = demand(kernel);
  const Residence r = residence(d);
  CostTerms terms{.start = 1};
  add_bytes(terms, d, r);
  add_steps(terms, d, r);
  add_gathers(terms, d, r);
  add_staging(terms, d, r);
  add_sums(terms, d, r);
  return terms;
}

/// The kernel works while lines wait: its time is the greater of both, or a little more.
/// fit_sparse_cost.py has the same mean (times_of()).
double us_of(const CostTerms& terms, const CostTerms& rates) {
  double sum = 0;
#define LANKY_ADD(name) sum += terms.name * rates.name;
  LANKY_COST_TERMS(LANKY_ADD)
#undef LANKY_ADD
  const double lines = terms.lines * rates.lines;
  return std::sqrt(std::sqrt(fourth_power(sum - lines) + fourth_power(lines)));
}

}  // namespace

std::array<KernelTerms, kCostKernels.size()> expected_terms(const Shape& shape,
                                                            const RowFacts& facts, DType dtype,
                                                            const Machine& machine) {
  const Cut cut(shape, facts, static_cast<int>(size_of(dtype)));
  const Expectation expected(shape, cut, facts, dtype, machine);
  std::array<KernelTerms, kCostKernels.size()> all{};
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto kernel = static_cast<CostKernel>(i);
    const double weight = expected.weight(kernel);
    all[i] = {kernel, weight, weight > 0 ? expected.terms(kernel) : CostTerms{}};
  }
  return all;
}

double median_span(const Shape& shape, const RowFacts& facts) {
  return span_of(facts, cut(shape, facts), 1);
}

std::vector<double> predict_us(const std::vector<Shape>& shapes, const RowFacts& facts, DType dtype,
                               const Machine& machine) {
  std::vector<double> times;
  times.reserve(shapes.size());
  const auto bytes = static_cast<int>(size_of(dtype));
  std::optional<Cut> cut;
  for (const Shape& shape : shapes) {
    if (!cut || !cut->is_of(shape)) cut.emplace(shape, facts, bytes);
    const Expectation expected(shape, *cut, facts, dtype, machine);
    double us = 0;
    for (std::size_t i = 0; i < kCostKernels.size(); ++i) {
      const auto kernel = static_cast<CostKernel>(i);
      const double weight = expected.weight(kernel);
      if (weight > 0) us += weight * us_of(expected.terms(kernel), kCostRates[i]);
    }
    times.push_back(us);
  }
  return times;
}

}  // namespace lanky::sparse
