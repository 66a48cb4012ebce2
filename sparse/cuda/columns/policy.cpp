#include "sparse/cuda/columns/policy.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <lanky/dispatch.hpp>
#include <span>

#include "sparse/cuda/columns/strip.hpp"
#include "sparse/cuda/multiply/block.hpp"

namespace lanky::sparse::cuda {

namespace {

// Shared memory of a block that leaves room for a second one on its multiprocessor.
constexpr std::int64_t kSharedOfTwo = 110 << 10;
constexpr std::int64_t kVariables = 1 << 10;  // bytes of shared memory besides, at most
constexpr int kTurnsMost = 4;                 // of a warp, where rows are not cut
constexpr int kRounds = 2;                    // of blocks that all multiprocessors have at least

template <class T>
StripLaunch strip_launch(StripKind kind, const PackedHeader& a, int vector_warps,
                         const Machine& machine) {
  return with_strip<T>(kind, [&](auto strip) -> StripLaunch {
    using Strip = decltype(strip);
    constexpr int kSum = sizeof(Accumulator<T>);
    const bool cut = a.row_cells > 0 || a.partials > 0;
    const std::int64_t warp_sums = a.partials > 0 ? vector_warps : 0;
    const std::int64_t cells = cut ? (a.cells_most + warp_sums) * Strip::kColumns * kSum : 0;
    const std::int64_t marks = round_up(a.cells_most, 32) / 8;
    const int units = std::max(a.slices_most * a.shape.lane_pieces * Strip::kGroup, 1);
    const std::int64_t room = machine.shared_bytes_per_block;
    const auto blocks = static_cast<int>(room / (cells + kStaticBytes));
    constexpr int kWarpsAtOnce = kStripBlocks<Strip> * kStripWarpsMost;
    const int sharing =
        std::clamp(kWarpsAtOnce / std::max(blocks, 1), kApartWarps, kStripWarpsMost);
    const int warps = std::min(units, cut ? sharing : kApartWarps);
    const std::int64_t bytes = std::max(cells, marks);
    const std::int64_t turns = std::clamp<std::int64_t>(
        a.windows * units / (kRounds * machine.multiprocessors * kWarpsAtOnce), 1, kTurnsMost);
    const auto parts =
        cut ? 1 : static_cast<std::int32_t>((units + warps * turns - 1) / (warps * turns));
    const bool least = Strip::kColumns == 1;
    if (bytes > (least ? room - kVariables : std::min(room, kSharedOfTwo))) return {};
    return {.threads = warps * kLanes,
            .shared_bytes = static_cast<std::int32_t>(bytes),
            .parts = parts};
  });
}

/// Threads of a block whose sums of a row are so many bytes, where one vector has `vector`; 0: it
/// cannot have as many as the bits of split rows ask for.
int word_threads(int sum_bytes, const PackedHeader& a, const Launch& vector) {
  if (!vector.wide || sum_bytes <= kWordBytes || vector.threads <= kWideWordThreads)
    return vector.threads;
  return a.split_rows == 0 ? kWideWordThreads : 0;
}

/// Where one vector is multiplied by `vector`. Complex elements have no such kernels.
template <class T>
WordLaunch word_launch(int columns, const PackedHeader& a, const Launch& vector,
                       const Machine& machine) {
  const int threads = word_threads(columns * static_cast<int>(sizeof(Accumulator<T>)), a, vector);
  if (is_complex(kDType<T>) || columns > word_columns_most(sizeof(T)) || threads == 0 ||
      vector.path != SpmvPath::cuda || vector.hot || vector.blocks == 0)
    return {};
  const std::int64_t bytes = slice_bytes<T>(a) + std::int64_t{columns} * cell_bytes<T>(a);
  if (bytes > machine.shared_bytes_per_block - kVariables) return {};
  const Slices slices = vector.slices == Slices::deep ? Slices::deep
                        : one_a_warp(vector.slices)   ? Slices::single
                                                      : Slices::any;
  return {.slices = slices,
          .wide = vector.wide,
          .threads = threads,
          .shared_bytes = static_cast<std::int32_t>(bytes)};
}

constexpr std::array kWords = {StripKind::words1, StripKind::words2, StripKind::words4,
                               StripKind::words8, StripKind::words16};
constexpr std::array kSingle = {StripKind::single1, StripKind::single2, StripKind::single4,
                                StripKind::single8, StripKind::single16};
constexpr std::array kApart = {StripKind::single1, StripKind::apart2, StripKind::apart4,
                               StripKind::apart8};

/// The least of these kinds, in ascending order, that has all columns, or the widest that there is.
StripKind kind_for(std::span<const StripKind> kinds, const StripLaunches& launches,
                   std::int64_t columns, DType dtype) {
  StripKind kind = kinds[0];
  for (const StripKind wider : kinds) {
    if (launches.of(wider).threads == 0) break;
    kind = wider;
    if (columns_of(wider, dtype).all >= columns) break;
  }
  return kind;
}

/// Microseconds that a group and a warp take of a row besides its entries, and of each round of
/// loads of these, two latencies of memory: of lanes that are shared, and of one row after the
/// other. Fitted to every second of 29 matrices by name (H200), judged on the others: products
/// take 1.03 times as long as with the best of nine limits, in the mean of either
/// (docs/lab/spmm.md).
constexpr double kGroupUs = 1;
constexpr double kWarpUs = 6;
constexpr double kRoundUs = 0.75;
constexpr double kChainUs = 1.5;

/// A product of `words` words of 16 bytes where groups have rows of up to `limit` entries, whose
/// lanes the device holds so many of at once: none ends before the longest of these, and all share
/// the lanes.
double predicted_us(const RowLengths& lengths, std::int64_t limit, int words, double lanes) {
  const double group_lanes = std::min(words, 16);
  const int part_lanes = words > kPartsWords[0] ? kPartsWords[1] : kPartsWords[0];
  const double strips = static_cast<double>(words) / part_lanes;
  double longest = 0;
  double shared = 0;
  for (int i = 0; i < kRowLengths; ++i) {
    if (lengths.rows[i] == 0) continue;
    const std::int64_t most = std::int64_t{1} << i;
    const double rows = lengths.rows[i];
    const double rounds = static_cast<double>(lengths.entries[i]) / kRowsAtOnce;
    if (most <= limit) {
      longest = kGroupUs + static_cast<double>(most) / kRowsAtOnce * kChainUs;
      shared += group_lanes * (rows * kGroupUs + rounds * kRoundUs);
    } else {
      shared += strips * (kLanes * rows * kWarpUs + part_lanes * rounds * kRoundUs);
    }
  }
  return std::max(longest, shared / lanes);
}

}  // namespace

int group_limit(const RowLengths& lengths, const Shape& shape, int words, const Machine& machine) {
  constexpr int kWarpsAtOnce = 40;  // of a multiprocessor
  const double lanes = double{kLanes} * kWarpsAtOnce * machine.multiprocessors;
  const GroupLimits limits = group_limits(shape);
  int best = kGroupLimits - 1;
  double best_us = predicted_us(lengths, limits.of[best], words, lanes);
  for (int i = 0; i < kGroupLimits - 1; ++i) {
    const double us = predicted_us(lengths, limits.of[i], words, lanes);
    if (us >= best_us) continue;
    best = i;
    best_us = us;
  }
  return best;
}

StripColumns columns_of(StripKind kind, DType dtype) {
  return dispatch(dtype, [&](auto element) {
    return with_strip<typename decltype(element)::type>(kind, [](auto strip) -> StripColumns {
      return {decltype(strip)::kColumns, decltype(strip)::kEach};
    });
  });
}

StripLaunches choose_strips(const PackedHeader& a, DType dtype, const Launch& vector,
                            const Machine& machine) {
  StripLaunches launches;
  // Most columns are stored whole: those of a slice are more than 2^16 apart.
  launches.scattered = a.index_units * kIndexUnit > 3 * a.slots;
  launches.vector_threads = vector.hot ? kHotTeamWarps * kLanes : vector.threads;
  dispatch(dtype, [&](auto element) {
    using T = typename decltype(element)::type;
    for (int i = 0; i < kStripKinds; ++i)
      launches.of_kind[i] =
          strip_launch<T>(static_cast<StripKind>(i), a, launches.vector_threads / kLanes, machine);
    for (int i = 0; i < kWordCounts; ++i)
      launches.of_words[i] = word_launch<T>(kWordColumns[i], a, vector, machine);
  });
  return launches;
}

std::int64_t widest_word(const StripLaunches& launches, std::int64_t columns) {
  std::int64_t widest = 0;
  for (int i = 0; i < kWordCounts; ++i) {
    if (launches.of_words[i].threads > 0 && kWordColumns[i] <= columns) widest = kWordColumns[i];
  }
  return widest;
}

bool in_words_by_columns(const StripLaunches& launches, std::int64_t columns, DType dtype) {
  return launches.of_words[0].threads > 0 && columns <= word_columns_most(size_of(dtype)) &&
         columns <= 2 * widest_word(launches, columns) + 1;
}

bool in_words(const StripLaunches& launches, std::int64_t columns, Layout layout, DType dtype) {
  if (layout == Layout::col && !launches.scattered)
    return in_words_by_columns(launches, columns, dtype);
  return columns > 1 && widest_word(launches, columns) == columns;
}

PartsLaunch parts_launch(int words, std::int64_t pieces_most, DType dtype, const Machine& machine) {
  constexpr std::int64_t kVectorWarps = 32;    // whose sums sum_as_team() keeps, at most
  constexpr std::int64_t kThreadsLeast = 768;  // of a multiprocessor, where they can be had
  const std::int64_t sum_bytes = is_half(dtype) ? sizeof(float) : size_of(dtype);
  const std::int64_t cell_bytes = words * word_columns(size_of(dtype)) * sum_bytes;
  const std::int64_t of_block = pieces_most > 0 ? pieces_most + kVectorWarps : 0;
  PartsLaunch best;
  std::int64_t most = 0;
  for (int threads = kRowsThreads; threads <= kPartsThreadsMost; threads *= 2) {
    const std::int64_t of_warps = std::int64_t{threads / kLanes} * kWarpPieces;
    const std::int64_t bytes = std::max(of_warps, of_block) * cell_bytes;
    if (bytes > machine.shared_bytes_per_block - kVariables) break;
    const std::int64_t at_once =
        threads * (machine.shared_bytes_per_multiprocessor / (bytes + kStaticBytes));
    if (at_once <= most) continue;
    best = {.threads = threads, .shared_bytes = static_cast<std::int32_t>(bytes)};
    most = at_once;
    if (most >= kThreadsLeast) break;
  }
  return best;
}

NextStrips next_strips(const StripLaunches& launches, int word_bytes, std::int64_t columns,
                       DType dtype) {
  if (word_bytes == 0) return {kind_for(kApart, launches, columns, dtype), columns};
  const int word = word_columns(size_of(dtype));
  const std::int64_t whole = columns / word * word;
  // A few columns that are no whole words are one product by elements, not two.
  const bool few = whole < columns && columns <= columns_of(StripKind::single16, dtype).all;
  if (word_bytes == kWordBytes && launches.of(StripKind::words1).threads > 0 && whole > 0 && !few)
    return {kind_for(kWords, launches, whole, dtype), whole};
  return {kind_for(kSingle, launches, columns, dtype), columns};
}

}  // namespace lanky::sparse::cuda
