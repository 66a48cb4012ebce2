// Which kernel computes an update product, C[m, n] = A[m, k] B[k, n] with a long m and skinny n and
// k, and how: tables of what is compiled, and the choice by shape, strides and device alone.
#pragma once

#include <cstdint>
#include <lanky/dtype.hpp>
#include <string>

#include "dense/problem.hpp"

namespace lanky::dense {

/// See dense/cuda/update_<kernel>.cuh; mma_columns and mma_rows are two sides of update_mma.cuh.
enum class UpdateKernel : std::uint8_t {
  direct,
  lanes,
  packed,
  tile,
  mma_columns,
  mma_rows,
  staged
};

/// The types of A and B that a variant is compiled for.
class TypeSet {
 public:
  template <class... Types>
  constexpr TypeSet(Types... types) : bits_(((1U << static_cast<unsigned>(types)) | ...)) {}
  constexpr bool has(DType type) const noexcept {
    return (bits_ >> static_cast<unsigned>(type) & 1U) != 0;
  }
  friend constexpr TypeSet operator|(TypeSet a, TypeSet b) noexcept {
    a.bits_ |= b.bits_;
    return a;
  }

 private:
  unsigned bits_;
};
inline constexpr TypeSet kHalves{DType::f16, DType::bf16};
inline constexpr TypeSet kReals = kHalves | TypeSet(DType::f32, DType::f64);
inline constexpr TypeSet kComplexes{DType::c64, DType::c128};

/// A thread keeps 16 bytes of rows x `columns` sums and `depth` columns of A in flight.
struct UpdateDirect {
  int columns;
  int depth;
  TypeSet types;
};
inline constexpr UpdateDirect kUpdateDirect[] = {{2, 2, kReals | kComplexes},
                                                 {4, 4, kReals | kComplexes},
                                                 {8, 8, DType::f32},
                                                 {16, 4, TypeSet(DType::f32) | kComplexes}};

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
    {1, 2, 2, 4, {DType::f32, DType::f64}},      {1, 2, 2, 8, kHalves},    {2, 2, 2, 2, DType::f64},
    {1, 4, 4, 2, kHalves | TypeSet(DType::f32)}, {2, 4, 4, 2, DType::f32}, {1, 8, 8, 2, kHalves}};

/// A warp computes 32 rows of C, 4 * parts words of 16 bytes wide; `words` words along k, or as
/// many columns, at a time.
struct UpdateTile {
  bool by_columns;
  int parts;
  int words;
  TypeSet types;
};
inline constexpr UpdateTile kUpdateTile[] = {{false, 1, 4, DType::f32},
                                             {false, 2, 4, DType::f32},
                                             {true, 1, 4, DType::f32},
                                             {true, 2, 4, DType::f32}};

/// A warp computes `groups` groups of rows a pass and `tiles` x 8 columns at once. A lane holds
/// `span` elements along k a step, so that `steps` steps cover 4 * span * steps. `ahead`: the loads
/// of a pass are in flight during the one before it. `warps` of a block, at most `passes`.
struct UpdateMma {
  int span;
  int steps;
  int tiles;
  int groups;
  bool ahead;
  int warps;
  int passes;
  TypeSet types;

  constexpr int depth() const noexcept { return 4 * span * steps; }
};
inline constexpr UpdateMma kUpdateMmaColumns[] = {
    {2, 1, 1, 1, false, 4, 1, kHalves | TypeSet(DType::f64)},
    {2, 2, 1, 1, false, 4, 1, DType::f64},
    {2, 4, 2, 1, false, 4, 2, DType::f64},
    {2, 8, 1, 1, false, 8, 2, DType::f64},
    {4, 1, 1, 1, false, 4, 1, kHalves},
    {4, 2, 1, 1, false, 4, 1, kHalves},
    {4, 4, 1, 1, false, 8, 1, kHalves},
    {4, 8, 1, 1, false, 8, 1, kHalves}};
inline constexpr UpdateMma kUpdateMmaRows[] = {
    {2, 1, 1, 1, false, 4, 1, DType::f64}, {2, 2, 2, 1, true, 4, 1, DType::f64},
    {2, 4, 1, 1, false, 8, 4, DType::f64}, {2, 8, 1, 1, false, 8, 4, DType::f64},
    {2, 1, 4, 2, false, 4, 1, kHalves},    {2, 1, 1, 4, false, 4, 2, kHalves},
    {4, 1, 2, 2, false, 4, 2, kHalves},    {8, 1, 4, 2, false, 4, 1, kHalves},
    {8, 2, 4, 1, false, 8, 4, kHalves},    {8, 4, 4, 1, false, 8, 4, kHalves},
    {4, 2, 2, 1, false, 4, 2, kHalves}};

/// The kernel of any strides: rows of C of a block of four warps, and columns.
inline constexpr int kStagedBlockRows = 256;
inline constexpr int kStagedColumns = 8;

/// One launch: grid of ceil(m / (rows * passes)) * column_blocks blocks of threads x parts threads.
struct UpdateConfig {
  UpdateKernel kernel = UpdateKernel::staged;
  int variant = 0;  // index into the kernel's table
  int threads = 128;
  int parts = 1;   // threads along y
  int passes = 1;  // over the rows of a block, one after the other
  int rows = 0;    // of C that a block computes in a pass
  int column_blocks = 1;
  int shared_bytes = 0;
  int alignment = 1;  // bytes, of the pointers to A and C

  friend bool operator==(const UpdateConfig&, const UpdateConfig&) = default;
};

/// The fastest kernel that serves `problem` with pointers aligned as UpdateConfig says.
UpdateConfig choose_update(const Problem& problem, DType in, DType out, int multiprocessors);

/// Where cuBLASLt's best algorithm was faster on an H200 (m = 1e6, 2026-11-20; lanky's speed as a
/// multiple): n = 64 f64 .93, f16 .92, f32 .74; complex n = 32 .89 and .52, n = 8 2.3 and 1.2; tf32
/// n = 32 .83; half types k = 128 .75, by rows k = 64,
/// n = 4 .37; f64 by rows n = 32 .95; strides that allow no wide accesses
/// n = 16 .58 to .77, n = 7 1.3 to 2.4.
bool vendor_beats_update(const Problem& problem, DType in) noexcept;

/// The kernel for operands that allow no wide accesses.
UpdateConfig staged_update(const Problem& problem, DType in);

std::string describe(const UpdateConfig& config);

}  // namespace lanky::dense
