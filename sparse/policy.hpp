// What a plan chooses: the shape of the packed matrix, and the kernels that multiply it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <lanky/device.hpp>
#include <lanky/dtype.hpp>
#include <lanky/sparse.hpp>
#include <string_view>
#include <vector>

#include "core/machine.hpp"
#include "sparse/facts.hpp"
#include "sparse/packed.hpp"
#include "sparse/path.hpp"

namespace lanky::sparse {

inline constexpr std::int64_t kHotOther = 2 << 10;  // besides hot columns, cells and slices

/// Whether enough entries of such a matrix may be in a few columns: hot_facts() tells.
bool may_have_hot_columns(const RowFacts& facts);

/// Hot columns that a matrix may have, whose x a block holds in shared memory.
std::int64_t hot_columns_most(DType dtype, const Machine& machine);

/// Whether so few rows have entries, of `element_bytes`, that windows that stage columns have no
/// cells in a product with beta = 0: zeros go to all rows, then the sums to these. It has y written
/// twice there, and leaves the shared memory to the columns.
constexpr bool few_filled(std::int64_t rows, std::int64_t empty, int element_bytes) {
  return 25 * (rows - empty) <= element_bytes * rows;
}

// Wide slices that a warp multiplies at once where rows are short.
inline constexpr int kShallowGroup = 4;

/// Whether a warp multiplies kShallowGroup slices at once: rows of one or two entries, on average,
/// and so many of them that a warp has several slices.
constexpr bool is_shallow(std::int64_t entries, std::int64_t short_rows, std::int64_t longer_rows) {
  return longer_rows == 0 && entries <= 2 * short_rows && short_rows >= 2'000'000;
}
bool is_shallow(const RowFacts& facts);

// Cells of a row, on average, from which on warps take turns at the rows of a window of many
// slices.
inline constexpr int kCellsInTurn = 4;

/// The shape of the least predicted time, and how many there were.
struct ShapeChoice {
  Shape shape;
  double predicted_us = 0;  // of a product on a GPU
  std::size_t of = 0;
};

/// Of `shapes`, at least one.
ShapeChoice least_predicted(const std::vector<Shape>& shapes, const RowFacts& facts, DType dtype,
                            const Machine& machine);

/// The shape that a matrix is packed in: of all candidates(). `facts` have the samples of columns.
/// kCellsLimit is kept for any matrix of such facts.
ShapeChoice choose_shape(const RowFacts& facts, DType dtype, const Machine& machine);

/// Bytes of an Accumulator.
std::int64_t sum_bytes_of(DType dtype);

/// The most pieces of a row in a window whose sums fit in the shared memory of a block that
/// multiplies a part of a row of a RowsCopy: RowFacts::pieces_most of plans that may have one.
std::int64_t part_pieces_most(DType dtype, const Machine& machine);

/// The shape of a matrix of which a block holds x of the hot columns.
Shape hot_shape(std::int32_t hot_least, DType dtype);

/// Has every `rows` rows begin a window, of which each has `row_cost` of work at least.
void align_windows(Shape& shape, const RowFacts& facts, std::int64_t rows);

/// The greatest window_cost for which no window of a matrix can pass kCellsLimit.
int window_cost_limit(const RowFacts& facts, const Shape& shape);

/// Makes window_cost a multiple of piece_most, at most kWindowCostMost and window_cost_limit().
void limit_windows(Shape& shape, const RowFacts& facts);

/// Whether tensor cores multiply `dtype` with one vector.
bool has_mma(DType dtype);

/// The kernels of a plan and the reason for them, as explain() tells it.
struct PathChoice {
  Path path;
  std::string_view reason;
};

/// Which kernels multiply a matrix of `dtype` with one vector on `device`. Throws
/// Error(unsupported) where tensor cores are asked for that have no such product.
PathChoice choose_path(const SparseOptions& options, DType dtype, DeviceKind device);

// Entries and rows below which the CPU uses one thread: about 0.2 ms of work, while waking threads
// takes 10 us to several milliseconds, as busy as the machine is.
inline constexpr std::int64_t kThreadsLeast = 1 << 18;

}  // namespace lanky::sparse
