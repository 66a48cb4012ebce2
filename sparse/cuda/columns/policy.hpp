// Which kernels multiply a packed matrix with several columns, in which blocks and strips. Host
// code alone, also in builds without CUDA.
#pragma once

#include <cstdint>
#include <lanky/dtype.hpp>

#include "core/machine.hpp"
#include "sparse/columns_copy.hpp"
#include "sparse/facts.hpp"
#include "sparse/launch.hpp"
#include "sparse/packed.hpp"

namespace lanky::sparse::cuda {

/// Columns of a strip, and of each lane's words.
struct StripColumns {
  int all;
  int of_word;
};
StripColumns columns_of(StripKind kind, DType dtype);

/// The blocks of each kind, where one vector is multiplied by `vector`. Without samples of columns
/// in `facts`, X by columns is gathered where it stands.
StripLaunches choose_strips(const PackedHeader& a, const RowFacts& facts, DType dtype,
                            const Launch& vector, const Machine& machine);

/// Microseconds in which so many columns of X, of `rows` rows, are made row-major.
double rows_of_x_us(std::int64_t rows, std::int64_t columns, DType dtype, const Machine& machine);
/// Whether so many columns of X by columns are made row-major before kernels of one vector multiply
/// them: more than apart_most, if these have a word for them, or if even two would be.
bool rows_first(const StripLaunches& launches, std::int64_t columns);

/// The most of so many columns that kernels of one vector multiply at once; 0: they multiply none.
std::int64_t widest_word(const StripLaunches& launches, std::int64_t columns);
/// Whether they multiply X by columns as it stands, in two launches or fewer besides one for a
/// single last column.
bool in_words_by_columns(const StripLaunches& launches, std::int64_t columns, DType dtype);
/// Whether they multiply so many columns at least as fast as any copy for several would.
bool in_words(const StripLaunches& launches, std::int64_t columns, Layout layout, DType dtype);

/// Rows in parts: what blocks have, of so many pieces at most, and warps.
struct PartCounts {
  std::int64_t blocks = 0;
  std::int64_t pieces_most = 0;
  std::int64_t warps = 0;
};
/// Blocks for them where a row of X has so many words of 16 bytes: their shared memory has the sums
/// of a row for each warp, or of the longest part.
PartsLaunch parts_launch(int words, const PartCounts& parts, DType dtype, const Machine& machine);

/// Strips of one kind, which multiply the next columns.
struct NextStrips {
  StripKind kind;
  std::int64_t columns;
};

/// Of `columns` that are left, at least 1, which are adjacent in words of `word_bytes`, of 16 at
/// most, or apart (0). The widest strips that shared memory has room for, and no wider than the
/// columns need.
NextStrips next_strips(const StripLaunches& launches, int word_bytes, std::int64_t columns,
                       DType dtype);

}  // namespace lanky::sparse::cuda
