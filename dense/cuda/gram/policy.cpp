#include "dense/cuda/gram/policy.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <iterator>
#include <optional>
#include <span>
#include <type_traits>
#include <variant>

#include "core/ceil_div.hpp"
#include "core/text.hpp"

namespace lanky::dense {

namespace {
/// At most `most` blocks, and no more than there are steps of `step` elements of k.
int blocks_for(std::int64_t k, std::int64_t step, std::int64_t most) {
  return static_cast<int>(std::max<std::int64_t>(1, std::min(ceil_div(k, step), most)));
}

/// Rows of A and B that make a wide row of at most `wide` elements, so that units of `unit`
/// elements are aligned and none spans a gap; 0 where there are none.
int packed_rows(const Problem& p, std::int64_t unit, std::int64_t wide) {
  const bool tight = p.a.col == p.m && p.b.row == p.n;
  const bool fits =
      p.m % unit == 0 && p.n % unit == 0 && p.a.col % unit == 0 && p.b.row % unit == 0;
  for (std::int64_t rows = wide / p.m; rows > 0; --rows) {
    if (fits || (tight && rows * p.m % unit == 0 && rows * p.n % unit == 0))
      return static_cast<int>(rows);
  }
  return 0;
}

/// Each block reads more than it fetches before its turn (ended() below).
bool is_long(const Problem& p, DType type, std::int64_t blocks) {
  const auto bytes = static_cast<std::int64_t>(size_of(type));
  return (p.m + p.n) * p.k * bytes > blocks * (72 << 10);
}

/// A tile of C per block: the smallest that holds it, or 64 x 64 side by side.
std::optional<GramLaunch> choose_fma(const Problem& p, Types types, const Machine& machine) {
  const DType type = types.in;
  const bool row_major = p.a.col != 1;
  if (types.wide() && (row_major || is_half(type))) return {};
  const std::span<const FmaTile> tiles = fma_tiles(type);
  const FmaTile* chosen = nullptr;
  for (const FmaTile& shape : tiles) {
    if (shape.wide == row_major) continue;
    const bool holds = (p.m <= shape.m && p.n <= shape.n) || shape.n == 64;
    if (holds && (chosen == nullptr || shape.m * shape.n < chosen->m * chosen->n)) chosen = &shape;
  }
  if (chosen == nullptr) return {};
  const FmaTile& tile = *chosen;
  GramFma fma{.tile = static_cast<int>(chosen - tiles.data()), .row_major = row_major};
  fma.run_log2 = row_major ? 0 : 1;
  const auto strips =
      static_cast<int>(ceil_div(p.m, std::int64_t{tile.m}) * ceil_div(p.n, std::int64_t{tile.n}));
  const std::int64_t slot_k = 128 / static_cast<std::int64_t>(size_of(type)) * tile.segments;
  if (p.m == p.n && strips == 4) {
    // A tile on the diagonal has .6 of the work of one below it.
    fma.below_blocks = blocks_for(p.k, slot_k, machine.multiprocessors * 5 / 11);
    fma.diagonal_blocks = blocks_for(p.k, slot_k, machine.multiprocessors * 3 / 11);
  }
  return GramLaunch{.kernel = fma,
                    .strips = strips,
                    .blocks = blocks_for(p.k, slot_k, machine.multiprocessors / strips)};
}

GramLaunch vector_configuration(const Problem& p, Types types, const Machine& machine) {
  const auto bytes = static_cast<std::int64_t>(size_of(types.in));
  const int widest = gram_widest(types);
  const bool few = types.wide() && is_half(types.in);  // kernels: two, for any strides
  GramVector vector;
  vector.wide = !few && p.a.col == 1 && p.b.row == 1 && (p.m == 1 || p.a.row * bytes % 16 == 0) &&
                (p.n == 1 || p.b.col * bytes % 16 == 0);
  vector.tile = p.m == 1                  ? 0
                : few                     ? 2
                : p.n == 1                ? 4
                : p.m <= 2                ? 1
                : p.m == 3                ? 5
                : p.m <= 4 || widest == 4 ? 2
                                          : 3;
  const auto strips = static_cast<int>(ceil_div(p.m, gram_vector_rows(types, vector.tile)) *
                                       ceil_div(p.n, gram_vector_columns(types, vector.tile)));
  const int resident = vector.tile == 3 ? 1 : 2;  // blocks of a multiprocessor
  return {.kernel = vector,
          .strips = strips,
          .blocks = blocks_for(p.k, 8 * 32 * 16 / bytes,
                               std::max(1, machine.multiprocessors * resident / strips))};
}

/// gram_row_vector_kernel, where rows are tight, and as wide as there are kernels.
std::optional<GramLaunch> row_vector(const Problem& p, Types types, const Machine& machine) {
  const DType type = types.in;
  if (types.wide() && is_half(type)) return {};
  const auto vector = static_cast<std::int64_t>(16 / size_of(type));
  const bool tight = p.a.row == 1 && p.b.col == 1 && p.a.col == p.m && p.b.row == p.n;
  const bool compiled =
      p.m > 1 && (p.m <= gram_row_vector_widest(types) || (p.m == 8 && size_of(type) == 2));
  if (!tight || p.m != p.n || !compiled) return {};
  GramLaunch c{.kernel = GramRowVector{.tile = static_cast<int>(p.m), .wide = true}};
  c.blocks =
      blocks_for(p.k, 256 * std::max<std::int64_t>(1, vector / p.m), 2 * machine.multiprocessors);
  // Blocks of the next run, launched early, gather on multiprocessors that have room for more
  // than their share (H200, k = 1e7: .74 of the floor, so .91 to .97).
  c.resident = p.m <= 4 && is_long(p, type, c.blocks) ? 2 : 0;
  return c;
}

/// gram_row_strip_kernel, for one column of B or, of those that tensor cores do not serve, eight.
std::optional<GramLaunch> row_strip(const Problem& p, Types types, const Machine& machine) {
  const DType type = types.in;
  if (types.wide() && is_half(type)) return {};
  const auto vector = static_cast<std::int64_t>(16 / size_of(type));
  const std::int64_t most = types.plain(DType::f32) || is_complex(type) ? 8 : 1;
  const bool in_units = p.m % vector == 0 && p.a.col % vector == 0 && p.m / vector <= 32;
  if (p.a.row != 1 || !in_units || p.n > most) return {};
  GramLaunch c{.kernel = GramRowStrip{.tile = p.n == 1 ? 0 : 1}};
  c.resident = p.n == 1 ? 4 : 0;
  c.blocks = blocks_for(p.k, 8 * (32 / (p.m / vector)),
                        (p.n == 1 ? c.resident : 2) * machine.multiprocessors);
  return c;
}

/// Elements that gram_rows_kernel loads at once.
std::int64_t rows_unit(Types types) {
  return is_half(types.in) && !types.wide() ? 4 : 2;
}

/// gram_rows_kernel, whose wide rows have `rows.packed` rows each.
GramLaunch rows_launch(const Problem& p, Types types, const Machine& machine, GramRows rows) {
  const std::int64_t unit = rows_unit(types);
  rows.tile = rows.packed * p.m <= 8 * unit ? 0 : 1;
  const std::int64_t step = 8 * 4 * unit * rows.packed;
  return {.kernel = rows,
          .blocks = blocks_for(p.k, step, machine.multiprocessors * (rows.tile == 0 ? 2 : 1))};
}

/// Any strides, a row each; not for floats and complex ones, nor beyond 32 columns.
GramRows rows_of_any_strides(const Problem& p, Types types) {
  const std::int64_t unit = rows_unit(types);
  GramRows rows{.any = true, .a_turned = p.a.row != 1, .b_turned = p.b.col != 1};
  const auto aligned = [&](bool turned, std::int64_t stride, std::int64_t width) {
    return stride % unit == 0 && (turned || width % unit == 0);
  };
  rows.wide = aligned(rows.a_turned, rows.a_turned ? p.a.row : p.a.col, p.m) &&
              aligned(rows.b_turned, rows.b_turned ? p.b.col : p.b.row, p.n);
  return rows;
}

/// Rows of floats by tensor copies.
GramLaunch staged_rows(const Problem& p, const Machine& machine) {
  return {.kernel = GramStaged{.layout = GramLayout::rows},
          .blocks = blocks_for(p.k, 128, machine.multiprocessors)};
}

/// gram_direct_kernel: columns of both, 16 at most. Floats, and halves with sums in double, have it
/// for aligned ones alone.
std::optional<GramLaunch> direct(const Problem& p, Types types, GramDirect direct,
                                 const Machine& machine) {
  const DType type = types.in;
  const auto bytes = static_cast<std::int64_t>(size_of(type));
  const bool widened = type == DType::f32 || types.wide();
  if (p.m > 16 || is_complex(type) || (widened && !direct.wide)) return {};
  direct.tile = p.m <= 8 ? 0 : 1;
  GramLaunch c;
  // Fewer streams at once (H200, 16 columns, k = 1e7: f16 .92 of the floor with two blocks, .97
  // with one; f64 .972, .984); 8 columns have too few loads in flight (f16 .91, .88).
  const std::int64_t step = 8 * 128 / bytes;
  c.blocks = blocks_for(p.k, step, machine.multiprocessors * (widened ? 1 : 2));
  if (!widened && direct.tile == 1 && direct.wide && is_long(p, type, c.blocks)) {
    c.resident = 1;
    c.blocks = machine.multiprocessors;
  }
  direct.spread = p.k < 2 * step * c.blocks;  // up to two steps of each warp
  c.kernel = direct;
  return c;
}

/// The same for B = A. Half as many loads of a block: two blocks again (H200, k = 1e7, 16 columns:
/// f16 .835 to .928, f64 .85 to .95 of the floor).
std::optional<GramLaunch> direct_of_one(const Problem& p, Types types, const Machine& machine) {
  const DType type = types.in;
  std::optional<GramLaunch> c = direct(p, types, {.wide = true}, machine);
  if (!c || type == DType::f32 || types.wide() || p.m <= 8) return c;
  const auto bytes = static_cast<std::int64_t>(size_of(type));
  c->resident = 0;
  c->blocks = blocks_for(p.k, 8 * 128 / bytes, machine.multiprocessors * 2);
  return c;
}

/// gram_staged_kernel: columns of both, 64 at most; floats in tf32 or tf32x3.
std::optional<GramLaunch> staged_columns(const Problem& p, DType type, const Machine& machine) {
  const auto bytes = static_cast<std::int64_t>(size_of(type));
  if (p.m > 64 || is_complex(type)) return {};
  const int tile = p.m <= 32 ? 1 : 2;
  const std::int64_t slot_k = 128 / bytes * (tile == 1 ? 2 : 1);
  // H200, f64 n = 64, k = 1e7: .94 of the floor, .89 with runs of one slot
  return GramLaunch{.kernel = GramStaged{.tile = tile, .math = p.math, .run_log2 = 1},
                    .blocks = blocks_for(p.k, slot_k, machine.multiprocessors)};
}

/// Columns of one operand with rows of the other: float on CUDA cores, of more than 8 columns.
std::optional<GramLaunch> choose_mixed(const Problem& p, DType type, const Machine& machine) {
  const Problem turned = p.a.col == 1 ? p : exchanged(p);
  const bool in_units = turned.a.row % 4 == 0 && turned.b.row % 4 == 0;
  if (type != DType::f32 || p.m <= 8 || p.m > 32 || turned.b.col != 1 || !in_units) return {};
  const int tile = p.m <= 16 ? 0 : 1;
  return GramLaunch{.kernel = GramStaged{.tile = tile, .layout = GramLayout::mixed},
                    .blocks = blocks_for(p.k, tile == 0 ? 128 : 64, machine.multiprocessors),
                    .exchanged = p.a.col != 1};
}

/// How the blocks' sums come together, and whether blocks prefetch. Of many sums, a block of
/// gram_sum_kernel must read neighbours (H200, 8, 16, 32, 64 of them: f32 of 128 columns, 33 blocks
/// at k = 1e4 30.7, 22.0, 15.9, 14.7 us; f64 of 64, 132 blocks at 1e5 38.7, 36.1, 35.5, 35.9; tf32
/// of 32 11.7, 11.5, 12.0). A second launch costs the host 2.5 us (H200). The last block has 9
/// loads a thread in flight at once, a round; where it must not have more than three, or two where
/// it is not for few bytes, there may be fewer blocks for it.
GramLaunch ended(GramLaunch c, const Problem& p, DType type) {
  constexpr std::int64_t kThreads = 256;
  constexpr std::int64_t kRound = 9;
  const auto bytes = static_cast<double>(size_of(type)) * static_cast<double>(p.k) *
                     static_cast<double>(p.m + p.n);
  const std::int64_t sums = p.m * p.n;
  // H200: prefetches beyond what the threads load at once are as slow as none.
  const bool few = c.strips == 1 && bytes / c.blocks <= 72 << 10;
  std::visit(
      [few](auto& kernel) {
        if constexpr (requires { kernel.prefetch; }) kernel.prefetch = kernel.wide && few;
        if constexpr (requires { kernel.any; }) kernel.prefetch &= !kernel.any;
      },
      c.kernel);
  if (sums >= 1024) c.sum_columns_log2 = sums < 4096 ? 4 : c.blocks > 36 ? 5 : 6;
  const bool never = std::holds_alternative<GramRowStrip>(c.kernel) ||
                     std::holds_alternative<GramWgmma>(c.kernel) ||
                     std::holds_alternative<GramTriangle>(c.kernel) ||
                     std::holds_alternative<GramDouble>(c.kernel) ||
                     std::holds_alternative<GramStream>(c.kernel) ||
                     std::holds_alternative<GramRowRing>(c.kernel);
  if (c.strips > 1 || never || sums > kThreads) return c;
  int log2 = 3;
  while (1 << log2 < sums)
    ++log2;
  const std::int64_t round = kRound * (kThreads >> log2);  // blocks
  const bool few_bytes = bytes < 4e6;
  const std::int64_t blocks = std::min<std::int64_t>(c.blocks, (few_bytes ? 3 : 2) * round);
  const bool enough = blocks == c.blocks || bytes / static_cast<double>(blocks) <= 48 << 10;
  const bool few_sums = sums <= (type == DType::c128 && bytes > 2e7 ? 8 : 16);
  if (!(few_sums && blocks == c.blocks) && !(few_bytes && enough)) return c;
  c.one_launch = true;
  c.sum_columns_log2 = log2;
  c.blocks = static_cast<int>(blocks);
  return c;
}

/// Groups of 8 columns of the smallest gram_triangle_kernel that is compiled; 0 where there is
/// none.
int triangle_groups(const Problem& p, DType type) {
  const bool row_major = p.a.col != 1;
  int groups = 0;
  if (type == DType::f64) groups = row_major && p.m <= 32 ? 4 : 8;
  if (type == DType::f32 && !row_major) {
    if (p.m <= 16) {
      groups = p.m <= 8 ? 1 : 2;
    } else {
      groups = p.math == Math::tf32 ? 8 : 4;
    }
  }
  return p.m <= 8 * groups ? groups : 0;
}

/// gram_double_kernel, where others have no tensor cores for such sides.
std::optional<GramLaunch> choose_double(const Problem& p, DType type, const Machine& machine) {
  constexpr int kSlot = 16;  // of k
  if (type != DType::f64 || p.m <= 32 || p.m > kGramDoubleSide) return {};
  // Blocks share out 2 m n k operations at a multiprocessor's peak, and each adds 16 m n bytes that
  // the L2 takes and gives back: the sum of both times is least with so many.
  const double flops_a_byte = machine.peak_f64 / machine.l2_bandwidth();
  const double best =
      std::sqrt(static_cast<double>(p.k * machine.multiprocessors) / 8 / flops_a_byte);
  const auto most = std::min<std::int64_t>(machine.multiprocessors, std::llround(best));
  const bool row_major = p.a.col != 1;
  return GramLaunch{.kernel = GramDouble{.row_major = row_major, .run_log2 = row_major ? 0 : 1},
                    .blocks = blocks_for(p.k, kSlot, most)};
}

/// `wgmma` with its tile, and its blocks.
GramLaunch by_wgmma(GramWgmma wgmma, const Problem& p, const Machine& machine) {
  wgmma.tile = p.m <= 64 ? 1 : 2;
  return {.kernel = wgmma,
          .blocks =
              blocks_for(p.k / wgmma.packed, wgmma.tile == 1 ? 128 : 64, machine.multiprocessors)};
}

/// Rows of 16-bit types that make wide rows of 48 to 64 elements, without padding (H200, k = 1e6:
/// 20 columns, 40 in a wide row, .54 of the floor, gram_rows_kernel .74; 24 columns .81 and .74).
std::optional<GramLaunch> choose_packed_wgmma(const Problem& p, const Machine& machine) {
  if (p.m <= 8 || p.n * (64 / p.m) < 48 || p.a.col != p.m || p.b.row != p.n) return {};
  for (std::int64_t rows = 64 / p.m; rows > 1 && rows * p.m >= 48; --rows) {
    if (p.k % rows == 0 && rows * p.m % 8 == 0 && rows * p.n % 8 == 0)
      return by_wgmma({.row_major = true, .packed = static_cast<int>(rows)}, p, machine);
  }
  return {};
}

/// k of a slot of gram_words_kernel.
int gram_words_depth(const Problem& p, Types types, int run_log2) {
  const DType type = types.in;
  constexpr std::int64_t kSide = kGramWordsSide;
  constexpr int kWarps = kGramWordsThreads / 32;
  const int parts = is_complex(type) ? 2 : 1;
  const auto tiles = static_cast<int>(ceil_div(p.m * parts, kSide) * ceil_div(p.n * parts, kSide));
  return kWarps / tiles * ((is_half(type) && !types.wide() ? 16 : 8) << run_log2);
}

/// Whether gram_words_kernel has warps, and a block shared memory, for such operands.
bool fits_words(const Problem& p, Types types, const Machine& machine) {
  return has_lines(p.a) && has_lines(p.b) && types.in != DType::c128 &&
         gram_words_depth(p, types, 0) > 0 &&
         gram_words_bytes(p, types, 0) <= machine.shared_bytes_per_block;
}

GramLaunch choose_words(const Problem& p, Types types, const Machine& machine) {
  const std::int64_t most =
      machine.shared_bytes_per_multiprocessor / 2 - (6 << 10);  // of two blocks
  GramWords words{.run_log2 = 4};
  while (words.run_log2 > 0 && gram_words_bytes(p, types, words.run_log2) > most)
    --words.run_log2;
  const int depth = gram_words_depth(p, types, words.run_log2);
  return {.kernel = words, .blocks = blocks_for(p.k, depth, 2 * machine.multiprocessors)};
}

/// How often the 32 lanes of a load of gram_stream_kernel ask a bank, at most, for different words.
int stream_conflicts(const WordLinesPlan& plan, std::size_t element, int turn) {
  const bool pairs = element == 2 && !plan.by_columns;
  int words[32][32];
  int counts[32] = {};
  for (int lane = 0; lane < 32; ++lane) {
    const int line = lane / 4 * (pairs ? 2 : 1);
    const int word = (line * plan.column + turn * (lane % 4) * plan.row) / 4;
    int* const bank = words[word % 32];
    int& count = counts[word % 32];
    if (std::find(bank, bank + count, word) == bank + count) bank[count++] = word;
  }
  return *std::max_element(std::begin(counts), std::end(counts));
}

/// Where A and B lie in a slot of gram_stream_kernel.
struct StreamPlans {
  WordLinesPlan a;
  WordLinesPlan b;
  int bytes;

  StreamPlans(const Problem& p, DType type, int depth, bool one)
      : a({p.a.col, p.a.row}, depth, static_cast<int>(p.m), size_of(type), kGramStreamGap),
        b(p.b, depth, static_cast<int>(p.n), size_of(type), kGramStreamGap),
        bytes(a.bytes + (one ? 0 : b.bytes)) {}
};

/// Tiles of C, side by side.
int stream_tiles(const Problem& p, const StreamTile& tile) {
  return static_cast<int>(ceil_div(p.m, std::int64_t{tile.m()}) *
                          ceil_div(p.n, std::int64_t{tile.n()}));
}

/// gram_stream_kernel: the smallest tile that holds C, or two beside each other. Blocks have
/// equally many chunks of k. Of the turns of lanes that slots have room for, the one with which
/// loads wait least for banks.
std::optional<GramLaunch> choose_stream(const Problem& p, DType type, const Machine& machine,
                                        bool same) {
  if (!has_lines(p.a) || !has_lines(p.b) ||
      !(is_half(type) || (type == DType::f32 && p.math == Math::tf32)))
    return {};
  const bool mixed = has_rows_of_a(p) != has_rows_of_b(p);
  const bool turned = mixed ? has_rows_of_a(p) : p.m < p.n;  // A by columns, or the longer
  const Problem q = turned ? exchanged(p) : p;
  const int index = q.n > 32 ? 3 : q.m > 32 ? 2 : q.m > 16 ? 1 : 0;
  const StreamTile& tile = kStreamTiles[index];
  const std::int64_t most = machine.multiprocessors;
  // Columns want slots of many k, for their lines are copied one by one. Where rows are one line,
  // warps that need not wait for each other are faster.
  const int tiles = stream_tiles(q, tile);
  const int group = has_rows_of_a(q) ? tiles : tile.threads / 32;
  const int groups = tile.threads / 32 / group;
  const int least_turn = is_half(type) ? 4 : 2;
  GramStream chosen;
  double least = 0;
  for (const int turn : {least_turn, 2 * least_turn, 4 * least_turn}) {
    const std::int64_t step = std::int64_t{4} * turn * (group / tiles);
    GramStream stream{.tile = index,
                      .one = same,
                      .group_log2 = std::countr_zero(static_cast<unsigned>(group)),
                      .turn = turn};
    const auto fits = [&](std::int64_t steps) {
      stream.depth = static_cast<int>(steps * step);
      return gram_stream_bytes(q, type, stream) <= machine.shared_bytes_per_block;
    };
    if (!fits(1)) continue;
    constexpr std::int64_t kDeepest =
        64;  // of narrow operands, whose slots would be thousands deep
    std::int64_t deepest = 1;
    while (deepest < kDeepest && fits(deepest + 1))
      ++deepest;
    const std::int64_t rounds = ceil_div(q.k, most * groups * deepest * step);
    fits(ceil_div(q.k, most * groups * rounds * step));
    const StreamPlans plans(q, type, stream.depth, same);
    const auto waits = static_cast<double>(q.m * stream_conflicts(plans.a, size_of(type), turn) +
                                           q.n * stream_conflicts(plans.b, size_of(type), turn));
    const double all = waits * static_cast<double>(rounds * stream.depth);
    if (chosen.depth > 0 && all >= least) continue;
    least = all;
    chosen = stream;
  }
  if (chosen.depth == 0) return {};
  return GramLaunch{.kernel = chosen,
                    .blocks = blocks_for(q.k, std::int64_t{groups} * chosen.depth, most),
                    .exchanged = turned};
}

/// Whether gram's kernels know such extents.
bool is_served(const Problem& p) {
  return p.n > 0 && p.k > 128 && p.k < std::int64_t{1} << 31;
}

/// gram_triangle_kernel, for B = A.
GramLaunch triangle(const Problem& p, DType type, int groups, const Machine& machine) {
  const auto bytes = static_cast<std::int64_t>(size_of(type));
  const bool row_major = p.a.col != 1;
  return {.kernel = GramTriangle{.tile = groups,
                                 .row_major = row_major,
                                 .math = type == DType::f32 && p.m > 16 ? p.math : Math::ieee,
                                 .run_log2 = row_major ? 0 : 1},
          .blocks = blocks_for(p.k, (16 << 10) / (8 * groups * bytes), machine.multiprocessors)};
}

/// gram_row_ring_kernel: rows of floats with sums in double, which pass whole.
std::optional<GramLaunch> row_ring(const Problem& p, Types types, const Machine& machine) {
  constexpr std::int64_t kSlot = 128;  // of k
  if (!types.wide() || types.in != DType::f32 || p.m > kGramRowRingSide) return {};
  return GramLaunch{.kernel = GramRowRing{},
                    .blocks = blocks_for(p.k, kSlot, machine.multiprocessors)};
}

/// gram_slices_kernel, for any strides: words of four elements where both operands have them.
std::optional<GramLaunch> in_slices(const Problem& p, Types types, bool same,
                                    const Machine& machine) {
  if (!types.wide() || p.m > kGramSlicesSide) return {};
  const auto in_words = [](std::int64_t one, std::int64_t other) {
    return one == 1 && other % 4 == 0;
  };
  GramSlices slices{.one = same};
  slices.wide = (in_words(p.a.row, p.a.col) || in_words(p.a.col, p.a.row)) &&
                (in_words(p.b.row, p.b.col) || in_words(p.b.col, p.b.row));
  const int rows = kGramSlicesStep / (same ? 1 : 2) >> gram_slices_side_log2(p.m);
  return GramLaunch{.kernel = slices, .blocks = blocks_for(p.k, rows, 2 * machine.multiprocessors)};
}

/// No more blocks than c.resident have room for their shared memory.
GramLaunch limited(GramLaunch c, const Machine& machine) {
  const std::int64_t parts = c.resident + 1;
  c.shared_least =
      c.resident == 0 ? 0
                      : machine.shared_bytes_per_multiprocessor / parts - kSharedBytesOfSystem + 16;
  return c;
}

/// Every kernel that can multiply a problem.
class GramCandidates {
 public:
  GramCandidates(const Problem& problem, Types types, const Machine& machine)
      : p_(problem), types_(types), type_(types.in), machine_(machine) {}

  void add_of_any_strides(bool same) {
    GramLaunch vector = vector_configuration(p_, types_, machine_);
    std::get<GramVector>(vector.kernel).wide = false;
    if (vector.strips <= kMostStrips) add(vector);
    if (!no_mma() && !types_.wide() && p_.m <= 32) {
      GramRows rows = rows_of_any_strides(p_, types_);
      if (rows.wide) add_aligned(rows_launch(p_, types_, machine_, rows));
      rows.wide = false;
      add(rows_launch(p_, types_, machine_, rows));
    }
    if (fits_words(p_, types_, machine_)) {
      all_.push_back(choose_words(p_, types_, machine_));
      unaligned_.push_back(all_.back());
    }
    if (!types_.wide()) add(choose_stream(p_, type_, machine_, same));
    add_aligned(in_slices(p_, types_, same, machine_));
  }

  void add_column_major(bool same) {
    const auto bytes = static_cast<std::int64_t>(size_of(type_));
    const GramLaunch vector = vector_configuration(p_, types_, machine_);
    if (is_wide(vector.kernel) && vector.strips <= kMostStrips) add_aligned(vector);
    add(direct(p_, types_, {}, machine_));
    if (p_.a.row * bytes % 16 != 0 || p_.b.col * bytes % 16 != 0) return;
    add_aligned(same ? direct_of_one(p_, types_, machine_)
                     : direct(p_, types_, {.wide = true}, machine_));
    if (bytes == 2 && p_.m <= 4 && p_.n > 1 && !types_.wide())
      add_aligned(direct(p_, types_, {.wide = true, .stacked = true}, machine_));
    if (!types_.wide() && (type_ != DType::f32 || p_.math != Math::ieee))
      add_aligned(staged_columns(p_, type_, machine_));
    if (no_mma()) add_aligned(choose_fma(p_, types_, machine_));
    add_aligned(choose_double(p_, type_, machine_));
    add_wgmma(same);
  }

  void add_row_major(bool same) {
    const auto vector = static_cast<std::int64_t>(16 / size_of(type_));
    add_aligned(row_vector(p_, types_, machine_));
    add_aligned(row_strip(p_, types_, machine_));
    if (p_.b.col != 1) return;
    const bool whole = p_.a.col % vector == 0 && p_.b.row % vector == 0;
    if (no_mma() && whole) add_aligned(choose_fma(p_, types_, machine_));
    if (whole) add_aligned(choose_double(p_, type_, machine_));
    if (types_.plain(DType::f32) && whole && p_.m <= 16) add_aligned(staged_rows(p_, machine_));
    if (whole) add_aligned(row_ring(p_, types_, machine_));
    if (!is_complex(type_)) {
      for (const std::int64_t units : {8, 16}) {
        const int packed = packed_rows(p_, rows_unit(types_), units * rows_unit(types_));
        if (packed > 0)
          add_aligned(rows_launch(p_, types_, machine_, {.wide = true, .packed = packed}));
      }
    }
    add_wgmma(same);
  }

  void add_mixed() {
    if (!types_.wide()) add_aligned(choose_mixed(p_, type_, machine_));
  }

  void add_triangle() {
    const bool row_major = p_.a.row == 1 && p_.b.col == 1;
    const bool column_major = p_.a.col == 1 && p_.b.row == 1;
    const std::int64_t stride = row_major ? p_.a.col : p_.a.row;
    const bool whole = stride * static_cast<std::int64_t>(size_of(type_)) % 16 == 0;
    const int groups = triangle_groups(p_, type_);  // floats are multiplied as doubles
    if ((row_major || column_major) && whole && groups > 0)
      add_aligned(triangle(p_, type_, groups, machine_));
  }

  /// Those for pointers that may be off 16 bytes (`off`), or that are not: then no launch without
  /// wide loads whose twin has them. None that a block has no shared memory for, or that the code
  /// lacks.
  std::vector<GramLaunch> take(bool off) {
    const auto too_large = [this](const GramLaunch& c) {
      return gram_shared_bytes(c, p_, types_, machine_.code) > machine_.shared_bytes_per_block;
    };
    std::erase_if(all_, too_large);
    std::erase_if(unaligned_, too_large);
    if (off) return std::move(unaligned_);
    const auto slower = [this](const GramLaunch& c) {
      return !is_wide(c.kernel) &&
             std::any_of(all_.begin(), all_.end(), [&c](const GramLaunch& other) {
               return is_wide(other.kernel) && made_wide(other.kernel) == made_wide(c.kernel);
             });
    };
    std::vector<GramLaunch> taken;
    std::copy_if(all_.begin(), all_.end(), std::back_inserter(taken), std::not_fn(slower));
    return taken;
  }

 private:
  static constexpr std::int64_t kMostStrips = 64;

  bool no_mma() const { return type_ == DType::f32 || is_complex(type_); }

  void add_wgmma(bool same) {
    if (!machine_.has_warp_groups() || !is_half(type_) || types_.wide() || p_.n <= 1) return;
    const bool row_major = p_.a.col != 1;
    if (row_major) add_aligned(choose_packed_wgmma(p_, machine_));
    const std::int64_t a = row_major ? p_.a.col : p_.a.row;
    const std::int64_t b = row_major ? p_.b.row : p_.b.col;
    if (a % 8 != 0 || b % 8 != 0) return;
    const int run_log2 = same && !row_major ? 1 : 0;
    add_aligned(by_wgmma({.row_major = row_major, .run_log2 = run_log2}, p_, machine_));
  }

  /// What launches that differ by the width of their loads alone have in common.
  static GramKernel made_wide(GramKernel kernel) {
    std::visit(
        [](auto& each) {
          if constexpr (requires { each.wide; }) each.wide = true;
          if constexpr (requires { each.prefetch; }) each.prefetch = false;
          if constexpr (requires { each.spread; }) each.spread = false;
        },
        kernel);
    return kernel;
  }

  /// A launch for pointers at multiples of 16 bytes; and, where its kernel serves others too, one
  /// for these.
  void add_aligned(const std::optional<GramLaunch>& launch) {
    if (!launch) return;
    const GramLaunch aligned = ended(*launch, p_, type_);
    all_.push_back(limited(aligned, machine_));
    GramLaunch unaligned = aligned;
    if (auto* const each = std::get_if<GramRowVector>(&unaligned.kernel)) {
      each->wide = each->prefetch = false;
    } else if (auto* const slices = std::get_if<GramSlices>(&unaligned.kernel)) {
      slices->wide = false;
    } else if (auto* const rows = std::get_if<GramRows>(&unaligned.kernel);
               rows != nullptr && !rows->any && type_ != DType::f32 && !types_.wide()) {
      rows->wide = rows->prefetch = false;
    } else {
      return;
    }
    unaligned_.push_back(limited(unaligned, machine_));
  }

  /// A launch for any pointers.
  void add(const std::optional<GramLaunch>& launch) {
    if (!launch) return;
    all_.push_back(limited(ended(*launch, p_, type_), machine_));
    unaligned_.push_back(all_.back());
  }

  const Problem& p_;
  Types types_;
  DType type_;  // of A and B
  const Machine& machine_;
  std::vector<GramLaunch> all_;
  std::vector<GramLaunch> unaligned_;
};

}  // namespace

int gram_words_bytes(const Problem& p, Types types, int run_log2) noexcept {
  const DType type = types.in;
  constexpr int kSums = kGramWordsThreads / 32 * kGramWordsSide * kGramWordsSide * 8;
  const int depth = gram_words_depth(p, types, run_log2);
  const Strides a{p.a.col, p.a.row};
  const int slot = WordLinesPlan(a, depth, static_cast<int>(p.m), size_of(type)).bytes +
                   WordLinesPlan(p.b, depth, static_cast<int>(p.n), size_of(type)).bytes;
  return std::max(kGramWordsSlots * slot, kSums);
}

int gram_stream_bytes(const Problem& p, DType type, const GramStream& stream) noexcept {
  constexpr int kBeyond = 512;  // of a row
  const StreamTile& tile = kStreamTiles[stream.tile];
  const StreamPlans plans(p, type, stream.depth, stream.one);
  // Lanes read up to 15 lines that do not exist.
  const int ring = kGramStreamSlots * ((tile.threads / 32) >> stream.group_log2) * plans.bytes +
                   kBeyond + 15 * std::max(plans.a.column, plans.b.column);
  return std::max(ring, tile.threads / 32 * tile.sums() * 4);
}

std::vector<GramLaunch> gram_candidates(const Problem& p, Types types, const Machine& machine,
                                        bool off, bool same) {
  GramCandidates all(p, types, machine);
  if (!is_served(p)) return {};
  all.add_of_any_strides(same);
  if (p.a.col == 1 && p.b.row == 1) all.add_column_major(same);
  if (p.a.row == 1) all.add_row_major(same);
  if ((p.a.col == 1) != (p.b.row == 1)) all.add_mixed();
  if (same) all.add_triangle();
  return all.take(off);
}

int partial_blocks(const GramLaunch& launch) noexcept {
  const auto* const fma = std::get_if<GramFma>(&launch.kernel);
  return std::max(launch.blocks, fma == nullptr ? 0 : fma->below_blocks);
}

std::int64_t workspace_bytes(const GramLaunch& launch, const Problem& problem,
                             std::int64_t sum_bytes) noexcept {
  return partial_blocks(launch) * problem.m * problem.n * sum_bytes;
}

GramGranules granules(const GramLaunch& launch, Types types) {
  return std::visit(
      [types](const auto& kernel) -> GramGranules {
        using Kernel = std::decay_t<decltype(kernel)>;
        if constexpr (std::is_same_v<Kernel, GramVector>) {
          return {gram_vector_rows(types, kernel.tile), gram_vector_columns(types, kernel.tile)};
        } else if constexpr (std::is_same_v<Kernel, GramFma>) {
          const FmaTile& shape = fma_tiles(types.in)[kernel.tile];
          return {shape.m, shape.n};
        } else if constexpr (std::is_same_v<Kernel, GramDirect>) {
          return {8 * (kernel.tile + 1), 8 * (kernel.tile + 1)};
        } else if constexpr (std::is_same_v<Kernel, GramStaged>) {
          const int side = kernel.tile == 0 ? 16 : 32 * kernel.tile;
          return {side, side};
        } else if constexpr (std::is_same_v<Kernel, GramRows>) {
          return {(kernel.tile == 0 ? 8 : 16) * rows_unit(types), 8};
        } else if constexpr (std::is_same_v<Kernel, GramWgmma>) {
          return {64 * kernel.tile, 8};
        } else if constexpr (std::is_same_v<Kernel, GramRowVector>) {
          return {kernel.tile, kernel.tile};
        } else if constexpr (std::is_same_v<Kernel, GramTriangle>) {
          return {8 * kernel.tile, 8 * kernel.tile};
        } else if constexpr (std::is_same_v<Kernel, GramWords>) {
          return {kGramWordsSide, kGramWordsSide};
        } else if constexpr (std::is_same_v<Kernel, GramDouble>) {
          return {16, 16};
        } else if constexpr (std::is_same_v<Kernel, GramStream>) {
          return {kStreamTiles[kernel.tile].m(), kStreamTiles[kernel.tile].n()};
        } else if constexpr (std::is_same_v<Kernel, GramRowRing>) {
          return {kGramRowRingSide, kGramRowRingSide};
        } else if constexpr (std::is_same_v<Kernel, GramSlices>) {
          return {16, 8};
        } else {
          return {};
        }
      },
      launch.kernel);
}

bool is_row_major(const GramKernel& kernel) {
  return std::visit(
      [](const auto& each) {
        using Kernel = std::decay_t<decltype(each)>;
        if constexpr (requires { each.row_major; }) return each.row_major;
        if constexpr (requires { each.layout; }) return each.layout == GramLayout::rows;
        return std::is_same_v<Kernel, GramRows> || std::is_same_v<Kernel, GramRowVector> ||
               std::is_same_v<Kernel, GramRowStrip> || std::is_same_v<Kernel, GramRowRing>;
      },
      kernel);
}

bool is_wide(const GramKernel& kernel) {
  return std::visit(
      [](const auto& each) {
        if constexpr (requires { each.wide; }) return each.wide;
        using Kernel = std::decay_t<decltype(each)>;
        return !std::is_same_v<Kernel, GramWords> && !std::is_same_v<Kernel, GramStream>;
      },
      kernel);
}

int packed_rows(const GramKernel& kernel) {
  return std::visit(
      [](const auto& each) {
        if constexpr (requires { each.packed; }) return each.packed;
        return 1;
      },
      kernel);
}

std::string kernel_name(const GramKernel& kernel) {
  constexpr const char* kNames[] = {"vector",     "direct",    "staged",   "fma",      "rows",
                                    "row_vector", "row_strip", "wgmma",    "triangle", "words",
                                    "double",     "stream",    "row_ring", "slices"};
  static_assert(std::size(kNames) == std::variant_size_v<GramKernel>);
  return concat("gram_", kNames[kernel.index()], "_kernel");
}

std::string algorithm_name(const GramLaunch& c, Types types) {
  const auto words = [&](const auto& kernel) {
    std::string text = kernel_name(c.kernel);
    const auto add = [&text](bool holds, const char* what) {
      if (holds) text += concat(", ", what);
    };
    if constexpr (requires { kernel.math; }) {
      add(kernel.math == Math::tf32, "tf32");
      add(kernel.math == Math::tf32x3, "tf32x3");
    }
    const auto [rows, columns] = granules(c, types);
    if constexpr (std::is_same_v<std::decay_t<decltype(kernel)>, GramRowStrip>) {
      text += kernel.tile == 0 ? ", 1 column" : ", 8 columns";
    } else {
      text += concat(", ", rows, " x ", columns);
    }
    add(is_row_major(c.kernel), "row-major");
    if constexpr (requires { kernel.layout; })
      add(kernel.layout == GramLayout::mixed, "mixed layouts");
    if (packed_rows(c.kernel) > 1)
      text += concat(", ", packed_rows(c.kernel), " rows in a wide row");
    add(!is_wide(c.kernel), "off 16 bytes");
    if constexpr (requires { kernel.any; }) {
      add(kernel.any, "any strides");
      add(kernel.a_turned, "A turned");
      add(kernel.b_turned, "B turned");
    }
    if constexpr (requires { kernel.stacked; }) add(kernel.stacked, "A and B as one");
    return text;
  };
  return std::visit(words, c.kernel);
}

std::string describe(const GramLaunch& c, Types types) {
  std::string text = concat(algorithm_name(c, types), ", k in ", c.blocks, " chunks of every ",
                            c.blocks, "th step");
  const auto* const fma = std::get_if<GramFma>(&c.kernel);
  if (c.strips > 1) text += concat(", ", c.strips, fma != nullptr ? " tiles of C" : " strips of m");
  if (fma != nullptr && fma->below_blocks > 0) {
    text += concat(", where A is B ", fma->below_blocks, " below and ", fma->diagonal_blocks,
                   " on the diagonal");
  }
  std::visit(
      [&text](const auto& kernel) {
        if constexpr (requires { kernel.spread; }) text += kernel.spread ? ", loads spread" : "";
        if constexpr (requires { kernel.prefetch; }) text += kernel.prefetch ? ", prefetched" : "";
      },
      c.kernel);
  return text + (c.one_launch ? ", summed by the last block" : ", summed by gram_sum_kernel");
}

}  // namespace lanky::dense
