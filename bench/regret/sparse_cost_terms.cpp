// Estimates of what a packed matrix will be, by the rules of sparse/packed.hpp; where these depend
// on more than is known, an expected value. Constants are measured shares, not limits of a card.
#include "bench/regret/sparse_cost_terms.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <vector>

#include "core/ceil_div.hpp"
#include "sparse/cuda/multiply/policy.hpp"
#include "sparse/policy.hpp"

namespace lanky::regret {

namespace {

using sparse::RowFacts;
using sparse::Shape;

constexpr double kLanes = sparse::kLanes;
constexpr double kWarps = 32;  // of a multiprocessor, with 64 registers a thread
constexpr double kSectorBytes = sparse::kSectorBytes;
constexpr double kSingleSlices = 8;  // warps of a block that have one each, at most
constexpr int kFewSteps = 8;
constexpr double kPiecesOfThread = 16;  // of a row, that one thread adds up

double rises(double x) {
  return 1 / (1 + std::exp(-std::clamp(x, -30.0, 30.0)));
}

/// What terms are made of: exact of a packed matrix, or expected.
struct Demand {
  RateKernel kernel = RateKernel::few;
  double windows = 1;
  double slots = 0;
  double plan_bytes = 0;    // besides values
  double slices = 1;        // of a window
  double slices_most = 1;   // of one
  double shared_bytes = 0;  // of a block
  double warps = 1;         // of a block
  double steps = 0;         // of a warp, one after another
  double deepest = 0;       // steps of the longest piece
  double staged_loads = 0;  // entries by the place of their x
  double loads = 0;
  double sectors_of_window = 0;  // for each of these loads, where the first cache holds them
  double sectors_of_slice = 0;   // and where it does not
  double window_x_bytes = 0;     // of x that a window reaches
  double staged_columns = 0;
  double copied_columns = 0;     // of a window that stages many
  double staging = 0;            // share of the windows
  double pieces_of_longest = 1;  // row, in a window
  double summing_warps = 1;      // of a window, whose threads add up the cells of cut rows
  double long_rows = 0;          // of a window, that its warps add up together
  double split_windows = 0;
  bool split = false;
  bool cells = false;  // rows are cut, and their sums added
};

double resident_blocks(const Demand& d, int bytes, const Machine& machine) {
  const double most = d.kernel == RateKernel::few ? (bytes < 8 ? 34 : 28)
                      : d.kernel == RateKernel::deep || d.kernel == RateKernel::narrow ? 24
                                                                                       : kWarps;
  const double by_memory = static_cast<double>(machine.shared_bytes_per_multiprocessor) /
                           (d.shared_bytes + static_cast<double>(kSharedBytesOfSystem));
  return std::max(std::min(std::floor(most / d.warps), std::floor(by_memory)), 1.0);
}

CostTerms terms_of(const Demand& d, const RowFacts& facts, int bytes, const Machine& machine) {
  const double us = 1e6;
  const double at_once = resident_blocks(d, bytes, machine);
  const bool hot = d.kernel == RateKernel::hot;
  const double rounds =
      d.windows / (machine.multiprocessors * (hot ? double{sparse::kHotTeams} : at_once));
  const double whole = std::max(std::ceil(rounds - 0.02), 1.0);
  const double mean_rounds = (whole + std::max(rounds, 1.0)) / 2;
  const double active =
      hot ? kWarps : std::clamp(std::min(rounds, 1.0) * at_once * d.warps, 1.0, kWarps);
  const double thin = kWarps / active;
  // Windows of the multiprocessor that has most, over the mean.
  const double share = d.windows / machine.multiprocessors;
  const double busiest = hot ? 1 : std::ceil(share) / share;
  const auto rows = static_cast<double>(facts.rows);
  const double row_rounds = rows / d.windows / (d.warps * kLanes);
  const double x_bytes = static_cast<double>(facts.cols) * bytes;
  const double all_bytes = d.slots * bytes + d.plan_bytes + d.windows * (80 + 11 * d.slices_most) +
                           rows * bytes + x_bytes;
  const auto cache = static_cast<double>(machine.second_cache_bytes);
  const double kept = std::pow(std::clamp(cache * 5 / 6 / all_bytes, 0.0, 1.0), 2);
  // Sectors of x that come from the L2, as the first cache holds what all windows at work reach.
  const double first =
      std::max(static_cast<double>(machine.first_cache_bytes) - at_once * (d.shared_bytes + 1024),
               16.0 * 1024);
  const double near = std::min(first / std::min(d.window_x_bytes * at_once, x_bytes), 1.0);
  const double sectors =
      std::max(d.loads * (d.sectors_of_window * near + d.sectors_of_slice * (1 - near)), 1.0);
  const double sector_us = us * kSectorBytes / machine.l2_bandwidth();
  const double load_us = us / (kLanes * machine.multiprocessors * machine.clock);
  return {.start = 1,
          .memory = us * all_bytes * (1 - kept) / machine.read_bandwidth,
          .l2 = us * all_bytes * kept / machine.l2_bandwidth(),
          .rounds = std::max(rounds, 1.0),
          .further_rounds = whole - 1,
          .steps = d.steps * mean_rounds / 32,
          .sectors = sectors * sector_us,
          .sectors_thin = sectors * sector_us * thin,
          .loads = d.loads * load_us,
          .loads_thin = d.loads * load_us * thin,
          .staged_loads = d.staged_loads * load_us,
          .rows = rows * load_us,
          .staged_bytes = us * d.staged_columns * bytes / machine.l2_bandwidth(),
          .windows = d.windows / machine.multiprocessors,
          .copies = d.copied_columns / (d.warps * kLanes) * mean_rounds / 32,
          .stages = d.staging * mean_rounds,
          .split = d.split ? 1.0 : 0.0,
          .cells = d.cells ? mean_rounds : 0.0,
          .deepest = std::max(d.deepest - d.steps, 0.0) / 32,
          .long_sums = d.long_rows / std::min(d.warps, d.summing_warps) * mean_rounds,
          .split_windows = d.split_windows / (machine.multiprocessors * at_once),
          .row_rounds = d.cells ? std::max(row_rounds - 1, 0.0) * mean_rounds : 0,
          .whole_row_rounds = d.cells ? 0 : row_rounds * mean_rounds,
          .slice_starts = std::max(d.slices / d.warps - 1, 0.0) * mean_rounds,
          .sectors_busiest = sectors * sector_us * (busiest - 1),
          .loads_busiest = d.loads * load_us * (busiest - 1),
          .chain_sums = d.cells ? std::min(d.pieces_of_longest / kPiecesOfThread, 1.0) : 0.0};
}

/// The value at so many rows of one that is known at three: linear in logarithms, and beyond the
/// last linear in rows, as what rows reach in all is.
template <class F>
double at_rows(double rows, F&& known) {
  const auto most = static_cast<double>(sparse::sample_rows(2));
  const auto fewer = static_cast<double>(sparse::sample_rows(1));
  if (rows > most)
    return known(2) + std::max(known(2) - known(1), 0.0) * (rows - most) / (most - fewer);
  const double place = (std::log2(std::max(rows, 1.0)) - 5) / 2;
  const std::array<double, 3> logs = {std::log(std::max(known(0), 1e-9)),
                                      std::log(std::max(known(1), 1e-9)),
                                      std::log(std::max(known(2), 1e-9))};
  return std::exp(place < 1 ? logs[0] + (logs[1] - logs[0]) * place
                            : logs[1] + (logs[2] - logs[1]) * (place - 1));
}

/// Sectors of x for each entry of so many rows.
double sectors_of(const Locality& locality, double rows) {
  const auto all = [&](std::size_t i) {
    return locality[i].sectors * static_cast<double>(sparse::sample_rows(static_cast<int>(i)));
  };
  return std::min(at_rows(rows, all) / std::max(rows, 1.0), 1.0);
}

/// Windows, and what one has, by facts.
struct Cutting {
  double windows, pieces, rows_of_window, pieces_of_window, entries_of_window;
  double bound;  // of the pieces of a window
  double fullest;
  double mean;   // entries of a row that has any
  double depth;  // of a piece
  double longest;
  bool cut, split, even, alike, aligned;
};

Cutting cut(const Shape& s, const RowFacts& f) {
  Cutting c{};
  const auto nnz = static_cast<double>(f.nnz);
  const auto rows = static_cast<double>(f.rows);
  const double filled = static_cast<double>(std::max<std::int64_t>(f.rows - f.empty, 1));
  const double piece = s.piece_most;
  const double work_of_window = s.window_cost;
  c.longest = static_cast<double>(std::max<std::int64_t>(f.longest, 1));
  c.mean = nnz / filled;
  c.cut = c.longest > piece;
  c.split = c.longest > work_of_window;
  c.even = c.longest <= 2 * std::ceil(c.mean);
  c.alike = c.longest <= 1.25 * c.mean;
  c.aligned = s.granule > 1;
  // Pieces besides full ones, between those of 8 and of 16.
  const double part8 = static_cast<double>(f.pieces8) - nnz / 8;
  const double part16 = static_cast<double>(f.pieces16) - nnz / 16;
  const double parts = piece <= 8    ? part8 * (0.85 + 0.15 * (piece - 4) / 4)
                       : piece <= 16 ? part8 + (part16 - part8) * (piece - 8) / 8
                                     : 1.1 * part16;
  c.pieces = c.cut ? std::max(nnz / piece + parts, filled) : filled;
  const double work = nnz + s.row_cost * rows;
  const double whole =
      std::min((work - (c.split ? c.longest : 0)) / work_of_window, rows / s.granule);
  if (c.split) {
    const double all = work / work_of_window + (nnz / rows > work_of_window / 2 ? rows / 2 : 1);
    c.windows = std::ceil(std::max(all, whole + std::ceil(c.longest / work_of_window)));
  } else {
    c.windows = std::max(std::ceil(whole), 1.0);
  }
  c.rows_of_window = rows / c.windows;
  c.entries_of_window = nnz / c.windows;
  c.pieces_of_window = c.pieces / c.windows;
  c.depth = nnz / c.pieces;
  const double of_row = nnz / rows + s.row_cost;
  const double pieces_of_longest = std::ceil(c.longest / piece);
  const double bound =
      c.aligned
          ? std::min(std::max<double>(s.granule, work_of_window / of_row), rows) * pieces_of_longest
          : work_of_window / std::min<double>(s.row_cost + 1, piece) +
                std::ceil(std::min(c.longest, work_of_window) / piece);
  c.bound = std::max(bound, c.pieces_of_window);
  if (c.aligned) {
    const double granules = std::max(std::ceil(work_of_window / (s.granule * of_row) - 1e-9), 1.0);
    const double uneven = c.cut && !c.alike ? 1.04 : 1;
    c.fullest = std::min(std::min(s.granule * granules, rows) * c.pieces / rows * uneven, c.bound);
  } else {
    c.fullest = std::sqrt(c.pieces_of_window * c.bound);
  }
  return c;
}

/// Rows of more than `length` entries, and their entries: those of a class are spread evenly.
struct Longer {
  double rows = 0;
  double entries = 0;
};
Longer longer_than(double length, const RowLengths& lengths, double longest) {
  Longer found;
  for (std::size_t i = 1; i < lengths.size(); ++i) {
    const double least = std::exp2(i - 1);
    const double most = std::min(2 * least - 1, longest);
    if (most <= length) continue;
    const double from = std::max(least, std::floor(length) + 1);
    const double rows = static_cast<double>(lengths[i]) * (most - from + 1) / (most - least + 1);
    found.rows += rows;
    found.entries += rows * (from + most) / 2;
  }
  return found;
}

/// A thread adds up the cells of a cut row; of few rows, all warps have some.
void demand_sums(Demand& d, const Shape& s, double rows_of_window, double longest) {
  d.pieces_of_longest = std::min<double>(longest, s.window_cost) / s.piece_most;
  d.summing_warps = rows_of_window <= kLanes ? kLanes : std::ceil(rows_of_window / kLanes);
}

/// The estimated number of rows of more than kPiecesOfThread pieces in the window that has most of
/// them. Entries of the densest sample of as many rows bound it, at 1.5 kPiecesOfThread full pieces
/// a row.
double long_rows_of_window(const Shape& s, const Cutting& c, const Longer& long_rows,
                           const Locality* locality) {
  const double mean = std::min(long_rows.rows / c.windows, c.rows_of_window);
  if (locality == nullptr || mean == 0) return mean;
  const double entries = at_rows(c.rows_of_window, [&](std::size_t i) {
    return static_cast<double>((*locality)[i].entries_most);
  });
  const double each = 1.5 * kPiecesOfThread * s.piece_most;
  const double most = std::min(entries, 2 * c.entries_of_window) / each;
  return std::max(mean, std::min({most, long_rows.rows, c.rows_of_window}));
}

/// How likely a window has no more slices than a block has warps for one each.
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

/// Slices of a window where they may be wide, their steps, and their slots.
struct WideSlices {
  double slices, steps, slots;
};
WideSlices wide_slices(const Shape& s, const Cutting& c, double narrow_depth, double deepest,
                       double shallowest) {
  const double width = kLanes * s.lane_pieces;
  const double spread = (deepest - shallowest) / std::max(c.pieces_of_window / width, 1.0);
  const double depth = std::min(c.depth + spread / 2, deepest);
  const double full = std::floor(c.pieces_of_window / width);
  const double left = c.pieces_of_window - full * width;
  const bool last_wide = 100 * left >= s.wide_fill * width;
  const double filled = 1 - spread / std::max(depth + spread / 2, 1e-9);
  const double wide_share = c.alike || c.cut ? 1 : rises((filled - s.wide_fill / 100.0) / 0.08);
  const double wide = (full + (last_wide ? 1 : 0)) * wide_share;
  const double narrow = (1 - wide_share) * std::ceil(c.pieces_of_window / kLanes) +
                        wide_share * (last_wide ? 0 : std::ceil(left / kLanes));
  const double others = c.pieces_of_window - std::min(wide * width, c.pieces_of_window);
  return {std::ceil(wide + narrow), wide * depth + narrow * narrow_depth,
          wide * width * depth + others * c.depth};
}

}  // namespace

RowLengths lengths_of(const sparse::CsrPattern& a) {
  RowLengths lengths{};
  for (std::int64_t row = 0; row < a.rows; ++row) {
    const auto length = static_cast<std::uint64_t>(a.row_offsets[row + 1] - a.row_offsets[row]);
    ++lengths[std::bit_width(length)];
  }
  return lengths;
}

std::array<Expected, 5> expected_terms(const Shape& s, const RowFacts& f, const RowLengths& lengths,
                                       const Locality* locality, DType dtype,
                                       const Machine& machine) {
  const auto bytes = static_cast<int>(size_of(dtype));
  const double sum_bytes = is_half(dtype) ? 4 : bytes;
  const auto nnz = static_cast<double>(f.nnz);
  const auto rows = static_cast<double>(f.rows);
  const auto cols = static_cast<double>(f.cols);
  const Cutting c = cut(s, f);
  const double repeated = f.repeated / 100.0 * (f.repeated >= 75 ? 1 : 0.3);
  const auto within = [&](double columns) { return std::clamp(columns, 1.0, std::max(cols, 1.0)); };
  double span = within(1.15 * static_cast<double>(f.reach) + c.rows_of_window * cols / rows);
  double spread = c.even ? 0.06 : 0.25;
  double longest_span = span;
  if (locality != nullptr) {
    const auto span_at = [&](std::size_t share) {
      return within(
          at_rows(c.rows_of_window, [&](std::size_t i) { return (*locality)[i].span[share]; }));
    };
    span = span_at(1);
    longest_span = span_at(2);
    spread = std::clamp(std::log(span_at(2) / span_at(0)) / 2.56 * 0.55, 0.05, 1.0);
  }
  // Columns that windows stage, as sparse::stages() decides.
  const double stage_most = s.stage_most;
  const double others = c.entries_of_window * (1 - repeated);
  double staging = 0;
  if (s.stage_most > 0) {
    staging = rises(std::log(stage_most / span) / spread) *
              rises((std::log(8 * others + 1) - std::log(span)) / 0.3) *
              rises((others - 0.4 * c.entries_of_window) / (0.05 * c.entries_of_window + 1e-9));
  }
  // The first and the last window of a band reach half as far, and the last one of a stencil has no
  // slice that repeats.
  const bool edge =
      c.even && stage_most > 0.53 * span && (repeated < 0.75 || f.rows % s.granule != 0);
  const bool any_stages = staging * c.windows > 0.5 || edge;
  const double columns_most = !any_stages     ? 0
                              : staging > 0.5 ? std::min(stage_most, 1.15 * span)
                              : edge          ? 0.53 * span
                                              : 0.9 * stage_most;
  const double cells = c.cut                 ? 1.15 * c.pieces_of_window
                       : f.empty > 0         ? c.rows_of_window
                       : c.even && c.aligned ? 0
                                             : c.rows_of_window;
  const double deepest = std::min({c.longest, double(s.piece_most), 2.5 * c.mean + 1});
  const double shallowest = std::clamp(2 * c.depth - deepest, std::min(1.0, deepest), deepest);
  const double depth = std::min(
      c.depth + (deepest - shallowest) / std::max(c.pieces_of_window / kLanes, 1.0) / 2, deepest);
  const bool hot = s.hot_least > 0;
  const bool wide = s.lane_pieces > 1 && !hot;
  const WideSlices slices = wide_slices(s, c, depth, deepest, shallowest);

  Demand d;
  d.windows = c.windows;
  d.staged_loads = nnz * (1 - repeated) * staging;
  d.loads = nnz * (1 - repeated) - d.staged_loads;
  d.staging = staging;
  d.staged_columns = c.windows * staging * std::min(span, std::max(stage_most, 1.0));
  d.copied_columns = std::min(staging * 4, 1.0) * std::min(longest_span, std::max(stage_most, 1.0));
  d.split = c.split;
  d.cells = c.cut;
  d.deepest = std::min(c.longest, static_cast<double>(s.piece_most));
  demand_sums(d, s, c.rows_of_window, c.longest);
  d.long_rows = long_rows_of_window(
      s, c, longer_than(kPiecesOfThread * s.piece_most, lengths, c.longest), locality);
  if (c.split)
    d.split_windows = longer_than(s.window_cost, lengths, c.longest).entries / s.window_cost;
  d.window_x_bytes = span * bytes;
  const double indices = 2 * d.staged_loads + d.loads * (cols > 65'536 && f.reach > 30'000 ? 4 : 2);
  if (locality != nullptr) {
    d.sectors_of_window = sectors_of(*locality, c.rows_of_window);
    d.sectors_of_slice = (*locality)[0].sectors;
  } else {
    const double sectors = span * bytes / kSectorBytes;
    const double loads = d.loads / c.windows;
    d.sectors_of_window =
        loads > 0 ? sectors * (1 - std::exp(-loads / std::max(sectors, 1.0))) / loads : 1;
    d.sectors_of_slice = 1;
  }

  const double likely = single_likely(c);
  const bool few = s.piece_most <= kFewSteps;
  std::array<Expected, 5> all{};
  for (std::size_t i = 0; i < all.size(); ++i) {
    d.kernel = static_cast<RateKernel>(i);
    const bool single = d.kernel == RateKernel::few || d.kernel == RateKernel::deep;
    const bool own_wide = d.kernel == RateKernel::wide;
    all[i].kernel = d.kernel;
    all[i].weight = hot || wide ? (d.kernel == (hot ? RateKernel::hot : RateKernel::wide))
                    : d.kernel == RateKernel::narrow ? 1 - likely
                    : single ? likely * ((d.kernel == RateKernel::few) == few)
                             : 0;
    if (all[i].weight == 0) continue;
    d.slices_most = wide ? slices.slices : std::ceil(c.fullest / kLanes - 1e-9);
    if (single) d.slices_most = std::min(d.slices_most, kSingleSlices);
    if (d.kernel == RateKernel::narrow) d.slices_most = std::max(d.slices_most, kSingleSlices + 1);
    d.slices = wide ? slices.slices : std::ceil(c.pieces_of_window / kLanes);
    d.shared_bytes =
        (bytes < 8 ? 16 * d.slices_most : 0) + cells * sum_bytes + columns_most * bytes;
    d.warps = single ? d.slices_most : own_wide ? s.warps : 4;
    if (own_wide && columns_most > 0) {
      const double blocks = std::max(
          std::floor(static_cast<double>(machine.shared_bytes_per_block) / (d.shared_bytes + 1024)),
          1.0);
      d.warps = std::max(std::floor(kWarps / blocks), 8.0);
    }
    if (d.kernel == RateKernel::hot) {
      d.staged_loads = static_cast<double>(f.hot_entries);
      d.loads = nnz - d.staged_loads;
      d.copied_columns = static_cast<double>(sparse::hot_columns_most(dtype, machine));
      d.staged_columns = static_cast<double>(machine.multiprocessors) * d.copied_columns;
    }
    const double pieces = c.pieces_of_window;
    d.steps = own_wide ? slices.steps / d.warps
              : single ? (pieces > kLanes ? pieces / kLanes * depth / d.slices_most : depth)
                       : std::ceil(pieces / kLanes) * depth / d.warps;
    d.slots = own_wide ? std::max(c.windows * slices.slots, nnz) : 1.02 * nnz;
    d.plan_bytes = indices + (c.cut ? 3 * c.pieces + 2 * rows : own_wide ? 0 : 2 * rows);
    all[i].terms = terms_of(d, f, bytes, machine);
  }
  return all;
}

Expected packed_terms(const sparse::PackedHeader& h, std::span<const sparse::Window> windows,
                      std::span<const sparse::Slice> slices, const RowFacts& f,
                      const RowLengths& lengths, const Locality& locality, DType dtype,
                      const Machine& machine) {
  using sparse::IndexKind;
  using sparse::Slices;
  const auto bytes = static_cast<int>(size_of(dtype));
  const sparse::Launch launch =
      sparse::cuda::choose_launches(h, dtype, SpmvPath::cuda, machine).overwrites;
  const auto entries = [&](IndexKind kind) {
    return static_cast<double>(h.kind_entries[static_cast<int>(kind)]);
  };
  Demand d;
  d.kernel = h.hot > 0                                                         ? RateKernel::hot
             : launch.slices == Slices::single || launch.slices == Slices::few ? RateKernel::few
             : launch.slices == Slices::deep                                   ? RateKernel::deep
             : h.shape.lane_pieces == 1                                        ? RateKernel::narrow
                                                                               : RateKernel::wide;
  d.windows = static_cast<double>(std::max<std::int64_t>(h.windows, 1));
  d.slots = static_cast<double>(h.slots);
  d.plan_bytes = static_cast<double>(h.index_units * sparse::kIndexUnit + h.bases * 4 +
                                     h.pieces_told * 3 + h.row_cells * 2);
  d.slices_most = h.slices_most;
  d.shared_bytes = launch.shared_bytes;
  d.warps = std::max(launch.threads / kLanes, 1.0);
  std::int64_t slices_of_all = 0;
  int deepest = 0;
  for (std::size_t i = 0; i < windows.size(); ++i) {
    slices_of_all += windows[i].slices;
    for (int k = 0; k < windows[i].slices; ++k) {
      const int depth = slices[i * h.slices_most + k].depth;
      d.steps += depth;
      deepest = std::max(deepest, depth);
    }
    d.staged_columns += windows[i].columns;
    d.staging += windows[i].columns > 0 ? 1 : 0;
    d.copied_columns = std::max<double>(d.copied_columns, windows[i].columns);
  }
  d.steps /= d.windows * (h.hot > 0 ? 4 : d.warps);
  d.staging /= d.windows;
  d.staged_loads = entries(IndexKind::staged);
  d.loads =
      entries(IndexKind::offset8) + entries(IndexKind::offset16) + entries(IndexKind::absolute);
  const double rows = static_cast<double>(h.rows) / d.windows;
  d.sectors_of_window = sectors_of(locality, rows);
  d.sectors_of_slice = locality[0].sectors;
  d.window_x_bytes =
      bytes * std::min(at_rows(rows, [&](std::size_t i) { return locality[i].span[1]; }),
                       static_cast<double>(h.cols));
  d.split = h.partials > 0;
  d.split_windows = static_cast<double>(h.partials);
  d.cells = h.row_cells > 0;
  d.slices = static_cast<double>(slices_of_all) / d.windows;
  d.deepest = deepest;
  const double longest = static_cast<double>(f.longest);
  demand_sums(d, h.shape, rows, longest);
  d.long_rows = std::min(
      longer_than(kPiecesOfThread * h.shape.piece_most, lengths, longest).rows / d.windows, rows);
  return {d.kernel, 1, terms_of(d, f, bytes, machine)};
}

}  // namespace lanky::regret
