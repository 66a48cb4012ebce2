// The kernels of gram products, and every launch of them that can compute one.
#pragma once

#include <cstdint>
#include <lanky/dtype.hpp>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "core/host_device.hpp"
#include "core/machine.hpp"
#include "dense/problem.hpp"
#include "dense/slices.hpp"
#include "dense/types.hpp"
#include "dense/word_lines.hpp"

namespace lanky::dense {

// What tells the launches of a kernel, dense/cuda/gram/<name>.cuh, apart. tile: index into the
// kernel's tiles; wide: leading dimensions allow loads of 16 bytes; row_major: the m elements of a
// row of A^T are adjacent, not the k of a column; prefetch: what is read first, while the kernel
// ahead still runs; run_log2: 2^run_log2 neighbouring slots' worth of k go to one block.
struct GramVector {
  int tile = 0;
  bool wide = false;
  bool prefetch = false;
  friend bool operator==(const GramVector&, const GramVector&) = default;
};
struct GramDirect {
  int tile = 0;
  bool wide = false;
  bool prefetch = false;
  bool stacked = false;  // A's rows and B's columns, 8 at most, pass as one operand
  bool spread = false;   // the loads that a warp has in flight are far apart
  friend bool operator==(const GramDirect&, const GramDirect&) = default;
};
/// How the operands lie in memory: columns have k adjacent, rows the elements of one k; mixed: A by
/// columns, B by rows.
enum class GramLayout : std::uint8_t { columns, rows, mixed };
struct GramStaged {
  int tile = 0;
  GramLayout layout = GramLayout::columns;
  Math math = Math::ieee;  // what float is multiplied in
  int run_log2 = 0;
  friend bool operator==(const GramStaged&, const GramStaged&) = default;
};
struct GramFma {
  int tile = 0;
  bool row_major = false;
  int run_log2 = 0;
  int below_blocks = 0;     // 2 x 2 tiles, where A is B: of the tile below the diagonal
  int diagonal_blocks = 0;  // and of each on it
  friend bool operator==(const GramFma&, const GramFma&) = default;
};
struct GramRows {
  int tile = 0;
  bool wide = false;
  bool prefetch = false;
  int packed = 1;         // rows that make a wide row
  bool any = false;       // any strides
  bool a_turned = false;  // then: A's k is adjacent
  bool b_turned = false;
  friend bool operator==(const GramRows&, const GramRows&) = default;
};
struct GramRowVector {
  int tile = 0;  // m = n
  bool wide = false;
  bool prefetch = false;
  friend bool operator==(const GramRowVector&, const GramRowVector&) = default;
};
struct GramRowStrip {
  int tile = 0;
  friend bool operator==(const GramRowStrip&, const GramRowStrip&) = default;
};
struct GramWgmma {
  int tile = 0;  // of 64 rows
  bool row_major = false;
  int packed = 1;  // rows that make a wide row
  int run_log2 = 0;
  friend bool operator==(const GramWgmma&, const GramWgmma&) = default;
};
struct GramTriangle {
  int tile = 0;  // of 8 rows
  bool row_major = false;
  Math math = Math::ieee;  // what float is multiplied in
  int run_log2 = 0;
  friend bool operator==(const GramTriangle&, const GramTriangle&) = default;
};
struct GramDouble {
  bool row_major = false;
  int run_log2 = 0;
  friend bool operator==(const GramDouble&, const GramDouble&) = default;
};
struct GramWords {
  int run_log2 = 0;  // 2^run_log2 products deep is a warp's part of a slot
  friend bool operator==(const GramWords&, const GramWords&) = default;
};
struct GramStream {
  int tile = 0;        // of kStreamTiles
  bool one = false;    // B is A
  int depth = 0;       // k of a slot
  int group_log2 = 0;  // 2^group_log2 warps share slots
  int turn = 0;        // k of a lane before the next lane's
  friend bool operator==(const GramStream&, const GramStream&) = default;
};
struct GramRowRing {
  friend bool operator==(const GramRowRing&, const GramRowRing&) = default;
};
struct GramSlices {
  bool wide = false;
  bool one = false;  // B is A
  friend bool operator==(const GramSlices&, const GramSlices&) = default;
};
using GramKernel = std::variant<GramVector, GramDirect, GramStaged, GramFma, GramRows,
                                GramRowVector, GramRowStrip, GramWgmma, GramTriangle, GramWords,
                                GramDouble, GramStream, GramRowRing, GramSlices>;

struct GramLaunch {
  GramKernel kernel;
  int strips = 1;                 // of rows of A (fma: tiles of C), side by side in the grid
  int blocks = 0;                 // of each strip; each leaves partial sums
  int resident = 0;               // blocks of a multiprocessor at once; 0: as registers allow
  std::int64_t shared_least = 0;  // bytes of a block, so that no more are resident
  int sum_columns_log2 = 3;       // 2^sum_columns_log2 elements of C are added by one block
  bool one_launch = false;        // the last block adds the partial sums
  bool exchanged = false;         // C^T = B^T A^T is computed: A and B change places

  friend bool operator==(const GramLaunch&, const GramLaunch&) = default;
};

bool is_row_major(const GramKernel& kernel);
/// Whether a launch loads 16 bytes at once.
bool is_wide(const GramKernel& kernel);
/// Rows that make a wide row.
int packed_rows(const GramKernel& kernel);

/// What a block of gram_fma_kernel computes: m x n of C by `groups` groups of warps that take the
/// segments in turn. A warp is lanes_m x lanes_n lanes of thread_m x thread_n sums; where that is
/// less than 32, lanes share out the k of a segment.
struct FmaTile {
  int m;
  int n;
  int thread_m;
  int thread_n;
  int lanes_m;
  int lanes_n;
  int groups;
  int segments;  // of a slot
  int slots;
  bool wide = false;  // on the tensor cores of double, column-major; others row-major

  LANKY_HOST_DEVICE constexpr int warp_m() const noexcept { return thread_m * lanes_m; }
  LANKY_HOST_DEVICE constexpr int warp_n() const noexcept { return thread_n * lanes_n; }
  LANKY_HOST_DEVICE constexpr int lanes_k() const noexcept { return 32 / (lanes_m * lanes_n); }
  LANKY_HOST_DEVICE constexpr int warps_m() const noexcept { return m / warp_m(); }
  LANKY_HOST_DEVICE constexpr int group_warps() const noexcept {
    return warps_m() * (n / warp_n());
  }
  /// Threads that multiply.
  LANKY_HOST_DEVICE constexpr int workers() const noexcept { return groups * group_warps() * 32; }
  LANKY_HOST_DEVICE constexpr int sums() const noexcept { return thread_m * thread_n; }
};

/// Rows of C in each tile of `most`, the tile's m or n, where there are `rows` in all: of wide
/// tiles side by side, which take less time with fewer, about equally many, in wholes of 8.
LANKY_HOST_DEVICE constexpr int tile_side(const FmaTile& tile, int rows, int most) noexcept {
  const int tiles = (rows + most - 1) / most;
  return !tile.wide || tile.n < 64 || tiles <= 1 ? most : ((rows + tiles - 1) / tiles + 7) / 8 * 8;
}

/// A ring must hold twice what the groups work on: twelve warps, for which totals leave six slots,
/// were slower than eight (H200, f32 n = 64, k = 1e7: 2.09 instead of 1.92 ms). In complex tiles of
/// 32 columns, whose totals leave nine slots, twelve are faster (docs/lab/gram.md).
inline constexpr FmaTile kFmaTilesFloat[] = {
    {32, 32, 8, 8, 4, 4, 8, 2, 8},       {128, 16, 8, 8, 8, 2, 4, 1, 8},
    {64, 64, 8, 8, 4, 8, 4, 1, 8},       {64, 64, 8, 4, 4, 8, 2, 1, 8, true},
    {32, 32, 8, 4, 4, 8, 8, 2, 8, true}, {128, 16, 8, 2, 4, 8, 2, 1, 8, true}};
inline constexpr FmaTile kFmaTilesComplexFloat[] = {
    {16, 16, 4, 4, 4, 4, 12, 4, 9},      {32, 32, 8, 4, 4, 8, 8, 2, 8},
    {128, 16, 8, 4, 4, 4, 2, 1, 8},      {64, 64, 8, 4, 4, 8, 2, 1, 8},
    {32, 32, 4, 2, 4, 8, 3, 2, 9, true}, {128, 16, 4, 2, 4, 8, 1, 1, 8, true},
    {64, 64, 4, 4, 4, 8, 1, 1, 8, true}, {16, 16, 4, 2, 4, 8, 8, 4, 8, true}};
inline constexpr FmaTile kFmaTilesComplexDouble[] = {{8, 8, 4, 4, 2, 2, 12, 8, 6},
                                                     {16, 16, 4, 4, 4, 4, 12, 4, 6},
                                                     {32, 32, 4, 2, 4, 8, 3, 2, 9, true},
                                                     {64, 64, 4, 4, 4, 8, 1, 1, 8, true},
                                                     {16, 16, 4, 2, 4, 8, 8, 4, 8, true}};
constexpr std::span<const FmaTile> fma_tiles(DType type) noexcept {
  if (type == DType::f32) return kFmaTilesFloat;
  if (type == DType::c64) return kFmaTilesComplexFloat;
  return kFmaTilesComplexDouble;
}

/// Columns whose sums a lane of gram_vector_kernel can hold.
constexpr int gram_widest(Types types) noexcept {
  return types.plain(DType::f32) || types.in == DType::c64 ? 8 : 4;
}
/// Rows and columns of C of the tiles of gram_vector_kernel.
constexpr int gram_vector_rows(Types types, int tile) noexcept {
  const int rows[] = {1, 2, 4, gram_widest(types), 8, 3};
  return rows[tile];
}
constexpr int gram_vector_columns(Types types, int tile) noexcept {
  return tile == 4 ? 1 : gram_vector_rows(types, tile);
}
/// Columns up to which gram_row_vector_kernel is instantiated: beyond, others are faster.
constexpr int gram_row_vector_widest(Types types) noexcept {
  return types.plain(DType::f32) ? 8 : 4;
}

/// Sides of C that gram_double_kernel computes, at most.
inline constexpr int kGramDoubleSide = 128;

/// Sides of C that gram_row_ring_kernel computes, at most.
inline constexpr int kGramRowRingSide = 32;

/// Sides of C that gram_slices_kernel computes, at most. A block takes steps of so many elements of
/// its operands, each of 8, 16 or 32 columns.
inline constexpr int kGramSlicesSide = 32;
inline constexpr int kGramSlicesStep = 4096;
/// Products of bytes in place of one of elements, and instructions that load an element and make
/// bytes of it, as counted in code for sm_90.
inline constexpr int kGramSlicesProducts = kSlices * kSlices;
inline constexpr int kGramSlicesInstructions = 40;
LANKY_HOST_DEVICE constexpr int gram_slices_side_log2(std::int64_t m) noexcept {
  return m > 16 ? 5 : m > 8 ? 4 : 3;
}

/// gram_words_kernel: threads of a block, slots of its ring, real elements of a side of a warp's
/// part of C.
inline constexpr int kGramWordsThreads = 256;
inline constexpr int kGramWordsSlots = 4;
inline constexpr int kGramWordsSide = 32;
/// Its dynamic shared memory.
int gram_words_bytes(const Problem& problem, Types types, int run_log2) noexcept;

/// Whether A's (B's) elements of one k are adjacent, as WordLinesPlan tells.
inline bool has_rows_of_a(const Problem& p) noexcept {
  return !has_line_columns(p.a.transposed());
}
inline bool has_rows_of_b(const Problem& p) noexcept {
  return !has_line_columns(p.b);
}

/// gram_stream_kernel: slots of a group of warps, bytes between rows that are copied with them.
inline constexpr int kGramStreamSlots = 3;
inline constexpr int kGramStreamGap = 32;
/// What a warp of it computes, and a block's threads.
struct StreamTile {
  int fragments_m;  // of 16 lines
  int fragments_n;
  int threads;

  LANKY_HOST_DEVICE constexpr int m() const noexcept { return 16 * fragments_m; }
  LANKY_HOST_DEVICE constexpr int n() const noexcept { return 16 * fragments_n; }
  /// Floats from a column of a warp's sums to the next, so that a fragment's lanes meet most banks.
  LANKY_HOST_DEVICE constexpr int pitch() const noexcept { return m() + 4; }
  /// Of a warp, with those beyond each column.
  LANKY_HOST_DEVICE constexpr int sums() const noexcept { return n() * pitch(); }
};
inline constexpr StreamTile kStreamTiles[] = {{1, 1, 512}, {2, 2, 512}, {4, 2, 512}, {4, 4, 256}};
/// Its dynamic shared memory.
int gram_stream_bytes(const Problem& problem, DType type, const GramStream& stream) noexcept;

/// The shared memory of a block that a launch asks for, in code for a target; more than any block
/// has where that code has no such kernel. 0 in a build without CUDA.
std::int64_t gram_shared_bytes(const GramLaunch& launch, const Problem& problem, Types types,
                               CodeTarget code);

/// Every kernel that serves a `problem` whose pointers may be off 16 bytes (`off`) or are not; with
/// `same`, those for B = A too.
std::vector<GramLaunch> gram_candidates(const Problem& problem, Types types, const Machine& machine,
                                        bool off, bool same);

/// Blocks that leave partial sums of the same element of C, at most.
int partial_blocks(const GramLaunch& launch) noexcept;

/// Of the partial sums.
std::int64_t workspace_bytes(const GramLaunch& launch, const Problem& problem,
                             std::int64_t sum_bytes) noexcept;

/// The sides of C that a kernel computes in wholes of.
struct GramGranules {
  std::int64_t rows = 1;
  std::int64_t columns = 1;
};
GramGranules granules(const GramLaunch& launch, Types types);

std::string kernel_name(const GramKernel& kernel);
/// What tells it from other candidates, whatever the extents.
std::string algorithm_name(const GramLaunch& launch, Types types);
std::string describe(const GramLaunch& launch, Types types);

}  // namespace lanky::dense
