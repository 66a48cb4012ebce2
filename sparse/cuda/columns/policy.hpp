// Which kernels multiply a packed matrix with several columns, in which blocks and strips. Host
// code alone, also in builds without CUDA.
#pragma once

#include <cstdint>
#include <lanky/dtype.hpp>

#include "core/machine.hpp"
#include "sparse/launch.hpp"
#include "sparse/packed.hpp"

namespace lanky::sparse::cuda {

/// Columns of a strip, and of each lane's words.
struct StripColumns {
  int all;
  int of_word;
};
StripColumns columns_of(StripKind kind, DType dtype);

/// The blocks of each kind, where one vector is multiplied by `vector`.
StripLaunches choose_strips(const PackedHeader& a, DType dtype, const Launch& vector,
                            const Machine& machine);

/// Shared memory of a block for the sums of rows in parts: of a part for each warp, or of one of
/// `pieces_most` pieces for all.
std::int64_t shared_of_parts(std::int64_t pieces_most, DType dtype);

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
