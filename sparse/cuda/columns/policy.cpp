#include "sparse/cuda/columns/policy.hpp"

#include <algorithm>
#include <array>
#include <lanky/visit_dtype.hpp>
#include <span>

#include "core/ceil_div.hpp"
#include "sparse/columns_copy.hpp"
#include "sparse/cuda/columns/strip.hpp"
#include "sparse/cuda/multiply/block.hpp"
#include "sparse/policy.hpp"

namespace lanky::sparse::cuda {

namespace {

// Shared memory of a block that leaves room for a second one on its multiprocessor.
constexpr std::int64_t kSharedOfTwo = 110 << 10;
constexpr int kTurnsMost = 4;  // of a warp, where rows are not cut
constexpr int kRounds = 2;     // of blocks that all multiprocessors have at least

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
      vector.path != Path::cuda || vector.hot || vector.blocks == 0)
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

/// Microseconds more for `columns` columns of X where they stand than as rows: each takes a load of
/// its own for an entry, in a sector that entries beside it have or have not. Halves by the square
/// of their number, as loads of two bytes are as many instructions as others; wider elements by
/// that of the sectors, as caches have those that are few. Fitted to every second of 24 matrices by
/// name (H200), judged on the others: of halves, products of 2, 4 and 8 columns take .94 and .96
/// times as long as if none were made row-major, .93 and .95 with the better one each time; of
/// floats .97 and .98 (docs/lab/spmm.md).
double apart_us(const RowFacts& facts, std::int64_t columns, DType dtype) {
  constexpr double kHalfUs = 0.61e-6;
  constexpr double kWiderUs = 9.5e-6;
  const double sectors = facts.locality[0].sectors;  // for each entry
  const auto count = static_cast<double>(columns);
  const double entry_us = is_half(dtype)
                              ? kHalfUs * count * count * sectors
                              : kWiderUs * count * sectors * sectors *
                                    (1 - static_cast<double>(size_of(dtype)) / kWordBytes);
  return static_cast<double>(facts.nnz) * entry_us;
}

/// StripLaunches::apart_most.
std::int64_t apart_most(const RowFacts& facts, DType dtype, const Machine& machine) {
  std::int64_t columns = 1;
  while (columns < word_columns_most(size_of(dtype)) &&
         apart_us(facts, columns + 1, dtype) <=
             rows_of_x_us(facts.cols, columns + 1, dtype, machine))
    ++columns;
  return columns;
}

/// parts_launch() in strips of so many words.
PartsLaunch parts_launch_in(int strip_words, int words, const PartCounts& parts, DType dtype,
                            const Machine& machine) {
  constexpr std::int64_t kThreadsLeast = 768;  // of a multiprocessor, where they can be had
  constexpr std::int64_t kThreadsMost = 1024;  // that it has registers for
  const std::int64_t cell_bytes = strip_words * word_columns(size_of(dtype)) * sum_bytes_of(dtype);
  const std::int64_t of_block = parts.pieces_most > 0 ? parts.pieces_most + kVectorWarps : 0;
  const std::int64_t strips = ceil_div(words, strip_words);
  // Whether blocks of so many threads fill two thirds of the device, a share that nothing was
  // fitted to, or have a group for each piece.
  const auto are_enough = [&](std::int64_t threads) {
    const std::int64_t all = strips * (parts.blocks * threads + parts.warps * kLanes);
    return 3 * all >= 2 * kThreadsMost * machine.multiprocessors ||
           threads >= parts.pieces_most * strip_words;
  };
  PartsLaunch best;
  std::int64_t most = 0;
  for (int threads = kRowsThreads; threads <= kPartsThreadsMost; threads *= 2) {
    const std::int64_t of_warps = std::int64_t{threads / kLanes} * kWarpPieces;
    const std::int64_t bytes = std::max(of_warps, of_block) * cell_bytes;
    if (bytes > machine.shared_bytes_per_block - kVariables) break;
    const std::int64_t at_once =
        threads * (machine.shared_bytes_per_multiprocessor / (bytes + kStaticBytes));
    if (at_once <= most && are_enough(threads / 2)) continue;
    best = {
        .words = strip_words, .threads = threads, .shared_bytes = static_cast<std::int32_t>(bytes)};
    most = at_once;
    if (most >= kThreadsLeast && are_enough(threads)) break;
  }
  return best;
}

}  // namespace

StripColumns columns_of(StripKind kind, DType dtype) {
  return visit_dtype(dtype, [&](auto element) {
    return with_strip<typename decltype(element)::type>(kind, [](auto strip) -> StripColumns {
      return {decltype(strip)::kColumns, decltype(strip)::kEach};
    });
  });
}

double rows_of_x_us(std::int64_t rows, std::int64_t columns, DType dtype, const Machine& machine) {
  // Fitted on an H200 to products with X by columns, over those by rows; bytes at the rate of
  // memory, of what is read, and of what is written, whole words. Halves are read in pieces of 64
  // bytes.
  constexpr double kLaunchUs = 1.8;
  const double share = is_half(dtype) ? 3.2 : 2.4;
  const auto row = static_cast<double>(columns + round_up(columns, word_columns(size_of(dtype)))) *
                   static_cast<double>(size_of(dtype)) / 2;
  return kLaunchUs + 1e6 * share * static_cast<double>(rows) * row / machine.read_bandwidth;
}

bool rows_first(const StripLaunches& launches, std::int64_t columns) {
  return columns > launches.apart_most &&
         (launches.apart_most < 2 || widest_word(launches, columns) == columns);
}

StripLaunches choose_strips(const PackedHeader& a, const RowFacts& facts, DType dtype,
                            const Launch& vector, const Machine& machine) {
  StripLaunches launches;
  launches.apart_most = apart_most(facts, dtype, machine);
  launches.vector_threads = vector.hot ? kHotTeamWarps * kLanes : vector.threads;
  visit_dtype(dtype, [&](auto element) {
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
  if (layout == Layout::col && !rows_first(launches, columns))
    return in_words_by_columns(launches, columns, dtype);
  return columns > 1 && widest_word(launches, columns) == columns;
}

PartsLaunch parts_launch(int words, const PartCounts& parts, DType dtype, const Machine& machine) {
  const PartsLaunch wide = words > kPartsWords[0]
                               ? parts_launch_in(kPartsWords[1], words, parts, dtype, machine)
                               : PartsLaunch{};
  return wide.threads > 0 ? wide : parts_launch_in(kPartsWords[0], words, parts, dtype, machine);
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
