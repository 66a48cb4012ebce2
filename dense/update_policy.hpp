// Which kernel computes an update product, C[m, n] = A[m, k] B[k, n] with a long m and skinny n and
// k, and how: tables of what is compiled, and the choice by shape, strides and device alone.
#pragma once

#include <cstdint>
#include <lanky/dtype.hpp>
#include <optional>
#include <string>

#include "dense/problem.hpp"

namespace lanky::dense {

/// See dense/cuda/update_<kernel>.cuh; mma_columns and mma_rows are two sides of update_mma.cuh.
enum class UpdateKernel : std::uint8_t { direct, lanes, packed, tile, mma_columns, mma_rows };

/// Sizes of elements in bytes that a variant is compiled for: an OR of 2, 4, 8, 16.
using ElementSizes = unsigned;

/// A thread keeps 16 bytes of rows x `columns` sums and `depth` columns of A in flight.
struct UpdateDirect {
  int columns;
  int depth;
  ElementSizes sizes;
};
inline constexpr UpdateDirect kUpdateDirect[] = {
    {2, 2, 2 | 4 | 8}, {4, 4, 2 | 4 | 8}, {8, 8, 4}, {16, 4, 4}};

/// k = n = `side`, rows without gaps.
struct UpdatePacked {
  int side;
  ElementSizes sizes;
};
inline constexpr UpdatePacked kUpdatePacked[] = {
    {2, 2 | 4 | 8}, {3, 2 | 4 | 8}, {4, 2}, {5, 2 | 4 | 8}};

/// A row of A is held by `lanes` lanes, `span` elements each, a row of C likewise, `columns` each;
/// `unroll` rows a lane.
struct UpdateLanes {
  int lanes;
  int span;
  int columns;
  int unroll;
  ElementSizes sizes;
};
inline constexpr UpdateLanes kUpdateLanes[] = {{1, 2, 2, 4, 4 | 8}, {1, 2, 2, 8, 2},
                                               {2, 2, 2, 2, 8},     {1, 4, 4, 2, 2 | 4},
                                               {2, 4, 4, 2, 4},     {1, 8, 8, 1, 2}};

/// A warp computes 8 * rows rows of C, 4 * parts words of 16 bytes wide; `words` words of each row
/// of A at a time.
struct UpdateTile {
  int rows;
  int parts;
  int words;
  ElementSizes sizes;
};
inline constexpr UpdateTile kUpdateTile[] = {{4, 1, 4, 4}, {4, 2, 4, 4}};

/// A warp computes `groups` groups of rows a pass and `tiles` x 8 columns at once. A lane holds
/// `span` elements along k a step, so that `steps` steps cover 4 * span * steps. `ahead`: the loads
/// of a pass are in flight during the one before it.
struct UpdateMma {
  int span;
  int steps;
  int tiles;
  int groups;
  bool ahead;
  ElementSizes sizes;

  constexpr int depth() const noexcept { return 4 * span * steps; }
};
inline constexpr UpdateMma kUpdateMmaColumns[] = {
    {2, 1, 1, 1, false, 2 | 8}, {2, 2, 1, 1, false, 8}, {2, 4, 1, 1, false, 8},
    {2, 8, 1, 1, false, 8},     {4, 1, 1, 1, false, 2}, {4, 2, 1, 1, false, 2},
    {4, 4, 1, 1, false, 2},     {4, 8, 1, 1, false, 2}};
inline constexpr UpdateMma kUpdateMmaRows[] = {
    {2, 1, 1, 1, false, 8}, {2, 2, 2, 1, true, 8},  {2, 4, 1, 1, false, 8}, {2, 8, 1, 1, false, 8},
    {2, 1, 1, 4, false, 2}, {4, 1, 2, 2, false, 2}, {8, 1, 4, 2, false, 2}, {8, 2, 4, 1, false, 2},
    {8, 4, 4, 1, false, 2}, {4, 2, 2, 1, false, 2}};

/// One launch: grid of ceil(m / (rows * passes)) blocks of threads x parts threads.
struct UpdateConfig {
  UpdateKernel kernel = UpdateKernel::direct;
  int variant = 0;  // index into the kernel's table
  int threads = 128;
  int parts = 1;   // threads along y
  int passes = 1;  // over the rows of a block, one after the other
  int rows = 0;    // of C that a block computes in a pass
  int shared_bytes = 0;
  int alignment = 16;  // bytes, of the pointers to A and C

  friend bool operator==(const UpdateConfig&, const UpdateConfig&) = default;
};

/// The fastest kernel that serves `problem`; none where strides or sizes do not allow wide
/// accesses.
std::optional<UpdateConfig> choose_update(const Problem& problem, DType in, DType out,
                                          int multiprocessors);

std::string describe(const UpdateConfig& config);

}  // namespace lanky::dense
