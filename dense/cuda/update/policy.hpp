// The kernels of update products, C[m, n] = A[m, k] B[k, n] with a long m and skinny n and k:
// tables of what is compiled, and every launch that can compute a product.
#pragma once

#include <cstdint>
#include <lanky/dtype.hpp>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/host_device.hpp"
#include "core/machine.hpp"
#include "dense/problem.hpp"
#include "dense/word_lines.hpp"

namespace lanky::dense {

/// The types of A and B that a variant is compiled for.
class TypeSet {
 public:
  constexpr TypeSet() = default;
  template <class... Types>
  requires(sizeof...(Types) > 0) constexpr TypeSet(Types... types)
      : bits_(((1U << static_cast<unsigned>(types)) | ...)) {}
  constexpr bool has(DType type) const noexcept {
    return (bits_ >> static_cast<unsigned>(type) & 1U) != 0;
  }
  friend constexpr TypeSet operator|(TypeSet a, TypeSet b) noexcept {
    a.bits_ |= b.bits_;
    return a;
  }

 private:
  unsigned bits_ = 0;
};
inline constexpr TypeSet kHalves{DType::f16, DType::bf16};
inline constexpr TypeSet kReals = kHalves | TypeSet(DType::f32, DType::f64);
inline constexpr TypeSet kComplexes{DType::c64, DType::c128};

// What is compiled of each kernel, dense/cuda/update/<name>.cuh.

/// A thread keeps 16 bytes of rows x `columns` sums and `depth` columns of A in flight; registers
/// for `resident` blocks of 256 threads on a multiprocessor (0: as many as nvcc likes).
struct UpdateDirect {
  int columns;
  int depth;
  int resident;
  TypeSet types;

  LANKY_HOST_DEVICE constexpr int pitch() const noexcept {
    return columns > 4 ? 8 : columns;
  }  // of B's rows
};
inline constexpr UpdateDirect kUpdateDirect[] = {
    {2, 2, 0, kReals | kComplexes}, {4, 4, 0, kReals | kComplexes}, {6, 6, 0, kReals | kComplexes},
    {8, 8, 0, DType::f32},          {8, 8, 3, DType::c64},          {8, 4, 0, DType::c128}};

/// k = n = `side`, rows without gaps.
struct UpdatePacked {
  int side;
  TypeSet types;
};
inline constexpr UpdatePacked kUpdatePacked[] = {
    {2, kReals}, {3, kReals}, {4, kHalves}, {5, kReals}};

/// A row of A is held by `lanes` lanes, `span` elements each, a row of C likewise, `columns` each;
/// `unroll` rows a lane.
struct UpdateLanes {
  int lanes;
  int span;
  int columns;
  int unroll;
  TypeSet types;
};
inline constexpr UpdateLanes kUpdateLanes[] = {
    {1, 2, 2, 4, DType::f32}, {1, 2, 2, 8, kHalves},
    {2, 2, 2, 2, DType::f64}, {1, 4, 4, 2, kHalves | TypeSet(DType::f32)},
    {2, 4, 4, 2, DType::f32}, {1, 8, 8, 2, kHalves}};

/// A warp computes 32 rows of C, 4 * parts words of 16 bytes wide; kWords words along k, or as many
/// columns, at a time; `resident` blocks of 128 threads on a multiprocessor, as far as registers
/// go.
struct UpdateTile {
  static constexpr int kWords = 4;
  bool by_columns;
  int parts;
  int resident;
  TypeSet types = DType::f32;
};
inline constexpr UpdateTile kUpdateTile[] = {
    {false, 1, 7}, {false, 2, 5}, {true, 1, 7}, {true, 2, 6}};

/// How A and C lie in memory.
enum class UpdateLayout : std::uint8_t { columns, rows, rows_to_columns, columns_to_rows };

/// A warp computes `groups` groups of rows a pass and `tiles` x 8 columns at once. A lane holds
/// `span` elements along k a step, so that `steps` steps cover 4 * span * steps. `warps` of a
/// block, at most `passes`. `any`: the types that it is compiled for with lines of any alignment.
struct UpdateMma {
  UpdateLayout layout;
  int span;
  int steps;
  int tiles;
  int groups;
  int warps;
  int passes;
  TypeSet types;
  TypeSet any{};

  constexpr int depth() const noexcept { return 4 * span * steps; }
  /// Rows of C that a warp computes in a pass.
  LANKY_HOST_DEVICE constexpr int pass_rows(int in_bytes) const noexcept {
    return groups * (layout == UpdateLayout::rows ? 16 : 8 * (16 / in_bytes));
  }
  /// With lines off 16 bytes: rows from a warp to the next. The last rows of its pass are the next
  /// one's first, which it computes to fill its words; `tight`: the rows of C are one line.
  LANKY_HOST_DEVICE constexpr int owned_rows(int in_bytes, int out_bytes, int n,
                                             bool tight) const noexcept {
    if (columns_of_c()) return pass_rows(in_bytes) - 16 / in_bytes;
    const int reach = tight && n > 0 ? (16 / out_bytes - 2 + n) / n : 0;
    return pass_rows(in_bytes) - reach;
  }
  LANKY_HOST_DEVICE constexpr bool columns_of_a() const noexcept {
    return layout == UpdateLayout::columns || layout == UpdateLayout::columns_to_rows;
  }
  LANKY_HOST_DEVICE constexpr bool columns_of_c() const noexcept {
    return layout == UpdateLayout::columns || layout == UpdateLayout::rows_to_columns;
  }
};
inline constexpr UpdateMma kUpdateMma[] = {
    {UpdateLayout::columns, 2, 1, 1, 1, 4, 1, kHalves | TypeSet(DType::f64),
     kHalves | TypeSet(DType::f64)},
    {UpdateLayout::columns, 2, 2, 1, 1, 4, 1, DType::f64, DType::f64},
    {UpdateLayout::columns, 2, 4, 2, 1, 4, 2, DType::f64, DType::f64},
    {UpdateLayout::columns, 2, 8, 1, 1, 8, 2, DType::f64},
    {UpdateLayout::columns, 4, 1, 1, 1, 4, 1, kHalves, kHalves},
    {UpdateLayout::columns, 4, 2, 1, 1, 4, 1, kHalves},
    {UpdateLayout::columns, 4, 4, 1, 1, 8, 1, kHalves},
    {UpdateLayout::columns, 4, 8, 1, 1, 8, 1, kHalves},
    {UpdateLayout::columns, 2, 1, 2, 1, 4, 1, {}, DType::f32},
    {UpdateLayout::columns, 2, 2, 2, 1, 4, 1, {}, DType::f32},
    {UpdateLayout::rows, 2, 1, 1, 1, 4, 1, DType::f64},
    {UpdateLayout::rows, 2, 2, 2, 1, 4, 1, DType::f64, DType::f64},
    {UpdateLayout::rows, 2, 4, 1, 1, 8, 4, DType::f64},
    {UpdateLayout::rows, 2, 8, 1, 1, 8, 4, DType::f64},
    {UpdateLayout::rows, 2, 1, 4, 2, 4, 1, kHalves},
    {UpdateLayout::rows, 2, 1, 1, 4, 4, 2, kHalves},
    {UpdateLayout::rows, 4, 1, 2, 2, 4, 2, kHalves, kHalves},
    {UpdateLayout::rows, 8, 1, 4, 2, 4, 1, kHalves, kHalves},
    {UpdateLayout::rows, 8, 2, 4, 1, 8, 4, kHalves},
    {UpdateLayout::rows, 8, 4, 4, 1, 8, 4, kHalves},
    {UpdateLayout::rows, 4, 2, 2, 1, 4, 2, kHalves},
    {UpdateLayout::rows, 4, 2, 4, 2, 4, 2, DType::f32},
    {UpdateLayout::rows, 4, 4, 4, 2, 4, 2, DType::f32},
    {UpdateLayout::rows_to_columns, 2, 1, 2, 1, 4, 1, {DType::f64, DType::f32}},
    {UpdateLayout::rows_to_columns, 2, 2, 2, 1, 4, 1, DType::f64, DType::f64},
    {UpdateLayout::rows_to_columns, 2, 4, 1, 1, 8, 4, DType::f64},
    {UpdateLayout::rows_to_columns, 2, 8, 1, 1, 8, 4, DType::f64},
    {UpdateLayout::rows_to_columns, 4, 1, 2, 1, 4, 1, DType::f32, DType::f32},
    {UpdateLayout::rows_to_columns, 4, 2, 2, 1, 4, 2, DType::f32},
    {UpdateLayout::rows_to_columns, 4, 4, 2, 1, 4, 2, DType::f32},
    {UpdateLayout::rows_to_columns, 2, 1, 1, 1, 4, 1, kHalves},
    {UpdateLayout::rows_to_columns, 4, 1, 1, 1, 4, 1, kHalves, kHalves},
    {UpdateLayout::rows_to_columns, 8, 1, 1, 1, 4, 1, kHalves},
    {UpdateLayout::rows_to_columns, 8, 2, 1, 1, 4, 1, kHalves},
    {UpdateLayout::columns_to_rows, 2, 1, 2, 1, 4, 1, {DType::f64, DType::f32}},
    {UpdateLayout::columns_to_rows, 2, 2, 2, 1, 4, 1, {DType::f64, DType::f32}},
    {UpdateLayout::columns_to_rows, 2, 4, 2, 1, 4, 2, {DType::f64, DType::f32}},
    {UpdateLayout::columns_to_rows, 2, 8, 1, 1, 8, 2, DType::f64},
    {UpdateLayout::columns_to_rows, 2, 1, 4, 1, 4, 1, kHalves},
    {UpdateLayout::columns_to_rows, 4, 1, 4, 1, 4, 1, kHalves},
    {UpdateLayout::columns_to_rows, 4, 2, 4, 1, 4, 1, kHalves},
    {UpdateLayout::columns_to_rows, 2, 1, 2, 1, 4, 1, kHalves},
    {UpdateLayout::columns_to_rows, 4, 1, 2, 1, 4, 1, kHalves},
    {UpdateLayout::columns_to_rows, 4, 2, 2, 1, 4, 1, kHalves},
    {UpdateLayout::columns_to_rows, 4, 4, 2, 1, 4, 1, kHalves}};

/// Computing warps of a block of the ring kernel, at most; one more copies.
inline constexpr int kUpdateRingWarps = 4;
/// A lane holds `rows` x `columns` sums, a warp 8 x 4 lanes.
struct UpdateRing {
  bool by_columns;
  int rows;
  int columns;
  TypeSet types;

  /// Blocks of five warps on a multiprocessor, as far as registers go.
  constexpr int resident(int sum_bytes) const noexcept {
    return rows * columns * sum_bytes <= 128 ? 4 : 3;
  }
};
inline constexpr UpdateRing kUpdateRing[] = {{true, 8, 4, kHalves | TypeSet(DType::f32)},
                                             {true, 8, 8, DType::f32},
                                             {true, 4, 2, kComplexes},
                                             {true, 4, 4, kComplexes | TypeSet(DType::f64)},
                                             {true, 4, 8, {DType::c64, DType::f64}},
                                             {false, 8, 4, DType::f32},
                                             {false, 8, 8, DType::f32},
                                             {false, 4, 2, kComplexes},
                                             {false, 4, 4, kComplexes | TypeSet(DType::f64)}};

/// How blocks of the ring kernel work: warps_m x warps_n x warps_k warps compute, one more copies A
/// through `stages` slots of `depth` columns each. Blocks take tiles of rows in turn.
struct UpdateRingPlan {
  int warps_m = 0;
  int warps_n = 0;
  int warps_k = 1;  // take slots in turn; more than 1 where every block has one tile
  int depth = 0;
  int stages = 0;
  int slot_bytes = 0;
  int ring_bytes = 0;   // of all slots, and enough for the sums of warps that share out k
  int b_pitch = 0;      // elements from one row of B to the next, in shared memory
  int row_tiles = 0;    // blocks that share out the rows; times the column blocks
  bool mapped = false;  // A by a tensor map, else element by element
  bool wide_c = false;  // C by words of 16 bytes

  friend bool operator==(const UpdateRingPlan&, const UpdateRingPlan&) = default;
};

/// The stream kernel: threads of a block, and bytes between rows of A that are copied with them.
inline constexpr int kUpdateStreamThreads = 256;
inline constexpr int kUpdateStreamGap = 32;
/// It is compiled for so many n-tiles of 8 columns, which a warp computes at once; doubles, and
/// floats in double, for 4 alone. Of a warp 16 or 32 rows have the registers of their sums, by two
/// blocks of a multiprocessor.
inline constexpr int kUpdateStreamTiles[] = {4, 8, 16};
inline constexpr int kUpdateStreamTilesOfDoubles = 4;
LANKY_HOST_DEVICE constexpr int update_stream_fragments(int tiles) noexcept {
  return tiles <= 8 ? 2 : 1;
}
/// How a block shares out a pass over its rows: `row_warps` warps, or a multiple of them that
/// shares out n-tiles, take `turns` groups of rows each, from one of `slots` places of A.
struct UpdateStreamPlan {
  int row_warps = 8;
  int turns = 1;
  int slots = 1;
  friend bool operator==(const UpdateStreamPlan&, const UpdateStreamPlan&) = default;
};
/// Bytes of B in fragments, `each` a lane: warps read up to 3 n-tiles behind the last one.
LANKY_HOST_DEVICE constexpr int update_stream_b_bytes(int n, int k, int depth, int each) noexcept {
  return ((n + 7) / 8 * ((k + depth - 1) / depth) + 3) * 32 * each;
}
/// Bytes of a slot: lanes read behind the last row and, of k in wholes of `depth`, columns of A
/// that do not exist.
LANKY_HOST_DEVICE constexpr int update_stream_slot_bytes(const WordLinesPlan& a, int k,
                                                         int depth) noexcept {
  const int beyond = a.by_columns ? ((k + depth - 1) / depth * depth - k) * a.column : 0;
  return (a.bytes + 512 + beyond + 15) / 16 * 16;
}

/// The kernel of any strides: rows of C of a block of four warps, and columns.
inline constexpr int kStagedBlockRows = 256;
inline constexpr int kStagedColumns = 8;

// Launches of kernels without a table of their own.
struct UpdateStaged {
  friend bool operator==(UpdateStaged, UpdateStaged) = default;
};
struct UpdateStream {
  int tiles;  // of kUpdateStreamTiles
  UpdateStreamPlan plan{};
  friend bool operator==(const UpdateStream&, const UpdateStream&) = default;
};
struct UpdateMmaAny {
  const UpdateMma* shape;
  friend bool operator==(UpdateMmaAny, UpdateMmaAny) = default;
};
struct UpdateRingMma {
  bool by_columns;
  friend bool operator==(UpdateRingMma, UpdateRingMma) = default;
};
/// A kernel with what tells its launches apart: a row of its table, where it has one.
using UpdateKernel = std::variant<UpdateStaged, const UpdateDirect*, const UpdateLanes*,
                                  const UpdatePacked*, const UpdateTile*, const UpdateMma*,
                                  UpdateMmaAny, const UpdateRing*, UpdateRingMma, UpdateStream>;

/// One launch: grid of ceil(m / (rows * passes)) * column_blocks blocks of so many threads; with a
/// ring row_tiles * column_blocks.
struct UpdateLaunch {
  UpdateKernel kernel{};
  int threads = 128;
  int passes = 1;  // over the rows of a block, one after the other
  int rows = 0;    // of C that a block computes in a pass
  int column_blocks = 1;
  int shared_bytes = 0;
  std::optional<UpdateRingPlan> ring{};  // of the two kernels that have one

  friend bool operator==(const UpdateLaunch&, const UpdateLaunch&) = default;
};

/// Every kernel that serves `problem`, in every variant: with pointers to A and C that may be off
/// 16 bytes (`off`), or that are not.
std::vector<UpdateLaunch> update_candidates(const Problem& problem, DType in, DType out,
                                            const Machine& machine, bool off);

/// The columns of C and the k that a kernel computes in wholes of, and the k that it loads at once.
struct UpdateGranules {
  std::int64_t columns = 1;
  std::int64_t depth = 1;
  std::int64_t step = 1;
};
UpdateGranules granules(const UpdateLaunch& launch, const Problem& problem, DType in);

std::string kernel_name(const UpdateKernel& kernel);
/// What tells it from other candidates, whatever the extents.
std::string algorithm_name(const UpdateLaunch& launch);
std::string describe(const UpdateLaunch& launch);

}  // namespace lanky::dense
