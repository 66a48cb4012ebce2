#include "dense/cuda/gram/policy.hpp"

#include <algorithm>
#include <functional>
#include <iterator>
#include <span>
#include <string_view>

#include "core/ceil_div.hpp"
#include "core/text.hpp"
#include "dense/word_lines.hpp"

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
GramLaunch choose_fma(const Problem& p, DType type, const Machine& machine) {
  const bool row_major = p.a.col != 1;
  const std::span<const GramFmaShape> shapes = gram_fma_shapes(type);
  const GramFmaShape* chosen = nullptr;
  for (const GramFmaShape& shape : shapes) {
    if (shape.wide == row_major) continue;
    const bool holds = (p.m <= shape.m && p.n <= shape.n) || shape.n == 64;
    if (holds && (chosen == nullptr || shape.m * shape.n < chosen->m * chosen->n)) chosen = &shape;
  }
  if (chosen == nullptr) return {};
  const GramFmaShape& tile = *chosen;
  GramLaunch c{.kernel = GramKernel::fma, .row_major = row_major, .vectors = true};
  c.tile = static_cast<int>(chosen - shapes.data());
  if (!c.row_major) c.run_log2 = 1;
  c.strips = static_cast<int>(ceil_div(p.m, tile.m) * ceil_div(p.n, tile.n));
  const std::int64_t slot_k = 128 / static_cast<std::int64_t>(size_of(type)) * tile.segments;
  c.blocks = blocks_for(p.k, slot_k, machine.multiprocessors / c.strips);
  if (p.m == p.n && c.strips == 4) {
    // A tile on the diagonal has .6 of the work of one below it.
    c.below_blocks = blocks_for(p.k, slot_k, machine.multiprocessors * 5 / 11);
    c.diagonal_blocks = blocks_for(p.k, slot_k, machine.multiprocessors * 3 / 11);
  }
  return c;
}

GramLaunch vector_configuration(const Problem& p, DType type, const Machine& machine) {
  const auto bytes = static_cast<std::int64_t>(size_of(type));
  const int widest = gram_widest(type);
  GramLaunch c{.kernel = GramKernel::vector};
  c.vectors = p.a.col == 1 && p.b.row == 1 && (p.m == 1 || p.a.row * bytes % 16 == 0) &&
              (p.n == 1 || p.b.col * bytes % 16 == 0);
  c.tile = p.m == 1                  ? 0
           : p.n == 1                ? 4
           : p.m <= 2                ? 1
           : p.m == 3                ? 5
           : p.m <= 4 || widest == 4 ? 2
                                     : 3;
  c.strips = static_cast<int>(ceil_div(p.m, gram_vector_rows(type, c.tile)) *
                              ceil_div(p.n, gram_vector_columns(type, c.tile)));
  const int resident = c.tile == 3 ? 1 : 2;  // blocks of a multiprocessor
  c.blocks = blocks_for(p.k, 8 * 32 * 16 / bytes,
                        std::max(1, machine.multiprocessors * resident / c.strips));
  return c;
}

/// gram_row_vector_kernel, where rows are tight, and as wide as there are kernels.
GramLaunch row_vector(const Problem& p, DType type, const Machine& machine) {
  const auto vector = static_cast<std::int64_t>(16 / size_of(type));
  const bool tight = p.a.row == 1 && p.b.col == 1 && p.a.col == p.m && p.b.row == p.n;
  const bool compiled =
      p.m > 1 && (p.m <= gram_row_vector_widest(type) || (p.m == 8 && size_of(type) == 2));
  if (!tight || p.m != p.n || !compiled) return {};
  GramLaunch c{.kernel = GramKernel::row_vector, .row_major = true, .vectors = true};
  c.tile = static_cast<int>(p.m);
  c.blocks =
      blocks_for(p.k, 256 * std::max<std::int64_t>(1, vector / p.m), 2 * machine.multiprocessors);
  // Blocks of the next run, launched early, gather on multiprocessors that have room for more
  // than their share (H200, k = 1e7: .74 of the floor, so .91 to .97).
  c.resident = p.m <= 4 && is_long(p, type, c.blocks) ? 2 : 0;
  return c;
}

/// gram_row_strip_kernel, for one column of B or, of those that tensor cores do not serve, eight.
GramLaunch row_strip(const Problem& p, DType type, const Machine& machine) {
  const auto vector = static_cast<std::int64_t>(16 / size_of(type));
  const std::int64_t most = type == DType::f32 || is_complex(type) ? 8 : 1;
  const bool in_units = p.m % vector == 0 && p.a.col % vector == 0 && p.m / vector <= 32;
  if (p.a.row != 1 || !in_units || p.n > most) return {};
  GramLaunch c{.kernel = GramKernel::row_strip, .row_major = true, .vectors = true};
  c.tile = p.n == 1 ? 0 : 1;
  c.resident = p.n == 1 ? 4 : 0;
  c.blocks = blocks_for(p.k, 8 * (32 / (p.m / vector)),
                        (p.n == 1 ? c.resident : 2) * machine.multiprocessors);
  return c;
}

/// Elements that gram_rows_kernel loads at once.
std::int64_t rows_unit(DType type) {
  return size_of(type) == 2 ? 4 : 2;
}

/// Wide rows of `packed` rows each.
GramLaunch rows_configuration(const Problem& p, DType type, const Machine& machine, int packed) {
  const std::int64_t unit = rows_unit(type);
  GramLaunch c{.kernel = GramKernel::rows, .row_major = true, .packed = packed};
  c.tile = packed * p.m <= 8 * unit ? 0 : 1;
  const std::int64_t step = 8 * 4 * unit * packed;
  c.blocks = blocks_for(p.k, step, machine.multiprocessors * (c.tile == 0 ? 2 : 1));
  return c;
}

/// The same of any strides, a row each; not for floats and complex ones, nor beyond 32 columns.
GramLaunch rows_of_any_strides(const Problem& p, DType type, const Machine& machine) {
  const std::int64_t unit = rows_unit(type);
  GramLaunch c = rows_configuration(p, type, machine, 1);
  c.any = true;
  c.a_turned = p.a.row != 1;
  c.b_turned = p.b.col != 1;
  const auto aligned = [&](bool turned, std::int64_t stride, std::int64_t width) {
    return stride % unit == 0 && (turned || width % unit == 0);
  };
  c.vectors = aligned(c.a_turned, c.a_turned ? p.a.row : p.a.col, p.m) &&
              aligned(c.b_turned, c.b_turned ? p.b.col : p.b.row, p.n);
  return c;
}

/// The same, whose wide rows consist of aligned units.
GramLaunch packed_rows_configuration(const Problem& p, DType type, const Machine& machine,
                                     int packed) {
  GramLaunch c = rows_configuration(p, type, machine, packed);
  c.vectors = true;
  return c;
}

/// Rows of floats by tensor copies.
GramLaunch staged_rows(const Problem& p, const Machine& machine) {
  return {.kernel = GramKernel::staged,
          .row_major = true,
          .vectors = true,
          .blocks = blocks_for(p.k, 128, machine.multiprocessors)};
}

/// gram_direct_kernel: columns of both, 16 at most. Floats have it for aligned ones alone.
GramLaunch direct(const Problem& p, DType type, bool vectors, bool stacked,
                  const Machine& machine) {
  const auto bytes = static_cast<std::int64_t>(size_of(type));
  const bool f32 = type == DType::f32;
  if (p.m > 16 || is_complex(type) || (f32 && !vectors)) return {};
  GramLaunch c{.kernel = GramKernel::direct, .vectors = vectors, .stacked = stacked};
  c.tile = p.m <= 8 ? 0 : 1;
  // Fewer streams at once (H200, 16 columns, k = 1e7: f16 .92 of the floor with two blocks, .97
  // with one; f64 .972, .984); 8 columns have too few loads in flight (f16 .91, .88).
  const std::int64_t step = 8 * 128 / bytes;
  c.blocks = blocks_for(p.k, step, machine.multiprocessors * (f32 ? 1 : 2));
  if (!f32 && c.tile == 1 && c.vectors && is_long(p, type, c.blocks)) {
    c.resident = 1;
    c.blocks = machine.multiprocessors;
  }
  c.spread = p.k < 2 * step * c.blocks;  // up to two steps of each warp
  return c;
}

/// The same for B = A. Half as many loads of a block: two blocks again (H200, k = 1e7, 16 columns:
/// f16 .835 to .928, f64 .85 to .95 of the floor).
GramLaunch direct_of_one(const Problem& p, DType type, const Machine& machine) {
  GramLaunch c = direct(p, type, true, false, machine);
  if (c.kernel == GramKernel::none || type == DType::f32 || c.tile == 0) return c;
  const auto bytes = static_cast<std::int64_t>(size_of(type));
  c.resident = 0;
  c.blocks = blocks_for(p.k, 8 * 128 / bytes, machine.multiprocessors * 2);
  return c;
}

/// gram_staged_kernel: columns of both, 64 at most; floats in tf32 or tf32x3.
GramLaunch staged_columns(const Problem& p, DType type, bool vectors, const Machine& machine) {
  const auto bytes = static_cast<std::int64_t>(size_of(type));
  if (!vectors || p.m > 64 || is_complex(type)) return {};
  GramLaunch c{.kernel = GramKernel::staged, .vectors = true, .math = p.math};
  c.tile = p.m <= 32 ? 1 : 2;
  const std::int64_t slot_k = 128 / bytes * (c.tile == 1 ? 2 : 1);
  c.run_log2 = 1;  // H200, f64 n = 64, k = 1e7: .94 of the floor, .89 with runs of one slot
  c.blocks = blocks_for(p.k, slot_k, machine.multiprocessors);
  return c;
}

/// Columns of one operand with rows of the other: float on CUDA cores, of more than 8 columns.
GramLaunch choose_mixed(const Problem& p, DType type, const Machine& machine) {
  const Problem turned = p.a.col == 1 ? p : exchanged(p);
  const bool in_units = turned.a.row % 4 == 0 && turned.b.row % 4 == 0;
  if (type != DType::f32 || p.m <= 8 || p.m > 32 || turned.b.col != 1 || !in_units) return {};
  GramLaunch c{.kernel = GramKernel::staged, .vectors = true, .mixed = true};
  c.tile = p.m <= 16 ? 0 : 1;
  c.blocks = blocks_for(p.k, c.tile == 0 ? 128 : 64, machine.multiprocessors);
  return c;
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
  const bool direct = c.kernel == GramKernel::vector || c.kernel == GramKernel::direct ||
                      c.kernel == GramKernel::row_vector || c.kernel == GramKernel::rows;
  c.prefetch = direct && c.vectors && !c.any && c.strips == 1 && bytes / c.blocks <= 72 << 10;
  if (sums >= 1024) c.sum_columns_log2 = sums < 4096 ? 4 : c.blocks > 36 ? 5 : 6;
  const bool never = c.kernel == GramKernel::row_strip || c.kernel == GramKernel::wgmma ||
                     c.kernel == GramKernel::triangle;
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

/// `c` with the tiles and blocks of gram_wgmma_kernel.
GramLaunch by_wgmma(GramLaunch c, const Problem& p, const Machine& machine) {
  c.kernel = GramKernel::wgmma;
  c.tile = p.m <= 64 ? 1 : 2;
  c.blocks = blocks_for(p.k / c.packed, c.tile == 1 ? 128 : 64, machine.multiprocessors);
  return c;
}

/// Rows of 16-bit types that make wide rows of 48 to 64 elements, without padding (H200, k = 1e6:
/// 20 columns, 40 in a wide row, .54 of the floor, gram_rows_kernel .74; 24 columns .81 and .74).
GramLaunch choose_packed_wgmma(const Problem& p, const Machine& machine) {
  if (p.m <= 8 || p.n * (64 / p.m) < 48 || p.a.col != p.m || p.b.row != p.n) return {};
  for (std::int64_t rows = 64 / p.m; rows > 1 && rows * p.m >= 48; --rows) {
    if (p.k % rows != 0 || rows * p.m % 8 != 0 || rows * p.n % 8 != 0) continue;
    GramLaunch c{.row_major = true, .vectors = true};
    c.packed = static_cast<int>(rows);
    return by_wgmma(c, p, machine);
  }
  return {};
}

/// k of a slot of gram_words_kernel.
int gram_words_depth(const Problem& p, DType type, int run_log2) {
  constexpr std::int64_t kSide = kGramWordsSide;
  constexpr int kWarps = kGramWordsThreads / 32;
  const int parts = is_complex(type) ? 2 : 1;
  const auto tiles = static_cast<int>(ceil_div(p.m * parts, kSide) * ceil_div(p.n * parts, kSide));
  return kWarps / tiles * ((size_of(type) == 2 ? 16 : 8) << run_log2);
}

/// Whether gram_words_kernel has warps, and a block shared memory, for such operands.
bool fits_words(const Problem& p, DType type, const Machine& machine) {
  const bool lines = (p.a.row == 1 || p.a.col == 1) && (p.b.row == 1 || p.b.col == 1);
  return lines && type != DType::c128 && gram_words_depth(p, type, 0) > 0 &&
         gram_words_bytes(p, type, 0) <= machine.shared_bytes_per_block;
}

GramLaunch choose_words(const Problem& p, DType type, const Machine& machine) {
  const std::int64_t most =
      machine.shared_bytes_per_multiprocessor / 2 - (6 << 10);  // of two blocks
  GramLaunch c{.kernel = GramKernel::words, .run_log2 = 4};
  while (c.run_log2 > 0 && gram_words_bytes(p, type, c.run_log2) > most)
    --c.run_log2;
  c.blocks = blocks_for(p.k, gram_words_depth(p, type, c.run_log2), 2 * machine.multiprocessors);
  return c;
}

/// Whether gram's kernels know such extents, and the machine has what they are built on.
bool is_served(const Problem& p, const Machine& machine) {
  return machine.has_bulk_copies() && p.n > 0 && p.k > 128 && p.k < std::int64_t{1} << 31;
}

/// gram_triangle_kernel, for B = A.
GramLaunch triangle(const Problem& p, DType type, int groups, const Machine& machine) {
  const auto bytes = static_cast<std::int64_t>(size_of(type));
  const bool row_major = p.a.col != 1;
  GramLaunch c{.kernel = GramKernel::triangle, .row_major = row_major, .vectors = true};
  c.run_log2 = row_major ? 0 : 1;
  c.tile = groups;
  if (type == DType::f32 && p.m > 16) c.math = p.math;
  c.blocks = blocks_for(p.k, (16 << 10) / (8 * groups * bytes), machine.multiprocessors);
  return c;
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
  GramCandidates(const Problem& problem, DType type, const Machine& machine)
      : p_(problem), type_(type), machine_(machine) {}

  void add_of_any_strides() {
    GramLaunch vector = vector_configuration(p_, type_, machine_);
    vector.vectors = false;
    if (vector.strips <= kMostStrips) add(vector);
    if (!no_mma() && p_.m <= 32) {
      GramLaunch rows = rows_of_any_strides(p_, type_, machine_);
      if (rows.vectors) add_aligned(rows);
      rows.vectors = false;
      add(rows);
    }
    if (fits_words(p_, type_, machine_)) {
      all_.push_back(choose_words(p_, type_, machine_));
      unaligned_.push_back(all_.back());
    }
  }

  void add_column_major(bool same) {
    const auto bytes = static_cast<std::int64_t>(size_of(type_));
    const GramLaunch vector = vector_configuration(p_, type_, machine_);
    if (vector.vectors && vector.strips <= kMostStrips) add_aligned(vector);
    add(direct(p_, type_, false, false, machine_));
    if (p_.a.row * bytes % 16 != 0 || p_.b.col * bytes % 16 != 0) return;
    add_aligned(same ? direct_of_one(p_, type_, machine_)
                     : direct(p_, type_, true, false, machine_));
    if (bytes == 2 && p_.m <= 4 && p_.n > 1) add_aligned(direct(p_, type_, true, true, machine_));
    if (type_ != DType::f32 || p_.math != Math::ieee)
      add_aligned(staged_columns(p_, type_, true, machine_));
    if (no_mma()) add_aligned(choose_fma(p_, type_, machine_));
    add_wgmma(same);
  }

  void add_row_major(bool same) {
    const auto vector = static_cast<std::int64_t>(16 / size_of(type_));
    add_aligned(row_vector(p_, type_, machine_));
    add_aligned(row_strip(p_, type_, machine_));
    if (p_.b.col != 1) return;
    const bool whole = p_.a.col % vector == 0 && p_.b.row % vector == 0;
    if (no_mma() && whole) add_aligned(choose_fma(p_, type_, machine_));
    if (type_ == DType::f32 && whole && p_.m <= 16) add_aligned(staged_rows(p_, machine_));
    if (!is_complex(type_)) {
      for (const std::int64_t units : {8, 16}) {
        const int packed = packed_rows(p_, rows_unit(type_), units * rows_unit(type_));
        if (packed > 0) add_aligned(packed_rows_configuration(p_, type_, machine_, packed));
      }
    }
    add_wgmma(same);
  }

  void add_mixed() {
    GramLaunch mixed = choose_mixed(p_, type_, machine_);
    mixed.exchanged = p_.a.col != 1;
    add_aligned(mixed);
  }

  void add_triangle() {
    const bool row_major = p_.a.row == 1 && p_.b.col == 1;
    const bool column_major = p_.a.col == 1 && p_.b.row == 1;
    const std::int64_t stride = row_major ? p_.a.col : p_.a.row;
    const bool whole = stride * static_cast<std::int64_t>(size_of(type_)) % 16 == 0;
    const int groups = triangle_groups(p_, type_);
    if (machine_.has_warp_groups() && (row_major || column_major) && whole && groups > 0)
      add_aligned(triangle(p_, type_, groups, machine_));
  }

  /// Those for pointers that may be off 16 bytes (`off`), or that are not: then no launch without
  /// wide loads whose twin has them.
  std::vector<GramLaunch> take(bool off) {
    if (off) return std::move(unaligned_);
    const auto slower = [this](const GramLaunch& c) {
      return !c.vectors && std::any_of(all_.begin(), all_.end(), [&c](const GramLaunch& other) {
        return other.vectors && other.kernel == c.kernel && other.tile == c.tile &&
               other.any == c.any && other.packed == c.packed;
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
    if (!machine_.has_warp_groups() || !is_half(type_) || p_.n <= 1) return;
    const bool row_major = p_.a.col != 1;
    if (row_major) add_aligned(choose_packed_wgmma(p_, machine_));
    const std::int64_t a = row_major ? p_.a.col : p_.a.row;
    const std::int64_t b = row_major ? p_.b.row : p_.b.col;
    if (a % 8 != 0 || b % 8 != 0) return;
    const int run_log2 = same && !row_major ? 1 : 0;
    add_aligned(
        by_wgmma({.row_major = row_major, .vectors = true, .run_log2 = run_log2}, p_, machine_));
  }

  /// A launch for pointers at multiples of 16 bytes; and, where its kernel serves others too, one
  /// for these.
  void add_aligned(GramLaunch launch) {
    if (launch.kernel == GramKernel::none) return;
    launch = ended(launch, p_, type_);
    all_.push_back(limited(launch, machine_));
    // On tensor cores, floats have no kernel for other pointers.
    const bool by_mma = launch.kernel == GramKernel::direct || launch.kernel == GramKernel::rows;
    if (needs_alignment(launch.kernel) || launch.stacked || launch.any ||
        (type_ == DType::f32 && by_mma) || launch.kernel == GramKernel::vector ||
        launch.kernel == GramKernel::direct)
      return;
    launch.vectors = false;
    launch.prefetch = false;
    unaligned_.push_back(limited(launch, machine_));
  }

  /// A launch for any pointers.
  void add(GramLaunch launch) {
    if (launch.kernel == GramKernel::none) return;
    launch = limited(ended(launch, p_, type_), machine_);
    all_.push_back(launch);
    unaligned_.push_back(launch);
  }

  const Problem& p_;
  DType type_;
  const Machine& machine_;
  std::vector<GramLaunch> all_;
  std::vector<GramLaunch> unaligned_;
};

}  // namespace

int gram_words_bytes(const Problem& p, DType type, int run_log2) noexcept {
  constexpr int kSums = kGramWordsThreads / 32 * kGramWordsSide * kGramWordsSide * 8;
  const int depth = gram_words_depth(p, type, run_log2);
  const Strides a{p.a.col, p.a.row};
  const int slot = WordLinesPlan(a, depth, static_cast<int>(p.m), size_of(type)).bytes +
                   WordLinesPlan(p.b, depth, static_cast<int>(p.n), size_of(type)).bytes;
  return std::max(kGramWordsSlots * slot, kSums);
}

std::vector<GramLaunch> gram_candidates(const Problem& p, DType type, const Machine& machine,
                                        bool off, bool same) {
  GramCandidates all(p, type, machine);
  if (!is_served(p, machine)) return {};
  all.add_of_any_strides();
  if (p.a.col == 1 && p.b.row == 1) all.add_column_major(same);
  if (p.a.row == 1) all.add_row_major(same);
  if ((p.a.col == 1) != (p.b.row == 1)) all.add_mixed();
  if (same) all.add_triangle();
  return all.take(off);
}

std::int64_t workspace_bytes(const GramLaunch& launch, const Problem& problem,
                             std::int64_t sum_bytes) noexcept {
  return std::max(launch.blocks, launch.below_blocks) * problem.m * problem.n * sum_bytes;
}

GramGranules granules(const GramLaunch& launch, DType type) {
  const std::int64_t tile = launch.tile;
  switch (launch.kernel) {
    case GramKernel::vector:
      return {gram_vector_rows(type, launch.tile), gram_vector_columns(type, launch.tile)};
    case GramKernel::fma:
      return {gram_fma_shapes(type)[launch.tile].m, gram_fma_shapes(type)[launch.tile].n};
    case GramKernel::direct:
      return {8 * (tile + 1), 8 * (tile + 1)};
    case GramKernel::staged: {
      const std::int64_t side = tile == 0 ? 16 : 32 * tile;
      return {side, side};
    }
    case GramKernel::rows:
      return {(tile == 0 ? 8 : 16) * rows_unit(type), 8};
    case GramKernel::wgmma:
      return {64 * tile, 8};
    case GramKernel::words:
      return {kGramWordsSide, kGramWordsSide};
    case GramKernel::triangle:
      return {8 * tile, 8 * tile};
    case GramKernel::row_vector:
    case GramKernel::row_strip:
    case GramKernel::none:
      break;
  }
  return {};
}

std::string kernel_name(GramKernel kernel) {
  switch (kernel) {
    case GramKernel::none:
      return "none";
    case GramKernel::vector:
      return "gram_vector_kernel";
    case GramKernel::direct:
      return "gram_direct_kernel";
    case GramKernel::staged:
      return "gram_staged_kernel";
    case GramKernel::fma:
      return "gram_fma_kernel";
    case GramKernel::rows:
      return "gram_rows_kernel";
    case GramKernel::row_vector:
      return "gram_row_vector_kernel";
    case GramKernel::row_strip:
      return "gram_row_strip_kernel";
    case GramKernel::wgmma:
      return "gram_wgmma_kernel";
    case GramKernel::triangle:
      return "gram_triangle_kernel";
    case GramKernel::words:
      return "gram_words_kernel";
  }
  return "unknown";
}

std::string algorithm_name(const GramLaunch& c) {
  return concat(kernel_name(c.kernel), c.math == Math::tf32 ? ", tf32" : "",
                c.math == Math::tf32x3 ? ", tf32x3" : "", ", tile ", c.tile,
                c.row_major ? ", row-major" : "", c.mixed ? ", mixed layouts" : "",
                c.packed > 1 ? concat(", ", c.packed, " rows in a wide row") : "",
                c.vectors ? "" : ", off 16 bytes", c.any ? ", any strides" : "",
                c.a_turned ? ", A turned" : "", c.b_turned ? ", B turned" : "",
                c.stacked ? ", A and B as one" : "");
}

std::string describe(const GramLaunch& c) {
  return concat(algorithm_name(c), ", k in ", c.blocks, " chunks of every ", c.blocks, "th step",
                c.strips > 1 ? concat(", ", c.strips,
                                      c.kernel == GramKernel::fma ? " tiles of C" : " strips of m")
                             : "",
                c.below_blocks > 0 ? concat(", where A is B ", c.below_blocks, " below and ",
                                            c.diagonal_blocks, " on the diagonal")
                                   : "",
                c.spread ? ", loads spread" : "", c.prefetch ? ", prefetched" : "",
                c.one_launch ? ", summed by the last block" : ", summed by gram_sum_kernel");
}

}  // namespace lanky::dense
