// Which kernels multiply a packed matrix with several columns, in which blocks and strips. Host
// code alone, also in builds without CUDA.
#pragma once

#include <cstdint>
#include <lanky/dtype.hpp>

#include "core/machine.hpp"
#include "sparse/launch.hpp"
#include "sparse/packed.hpp"

namespace lanky::sparse::cuda {

/// Columns of a strip.
int columns_of(StripKind kind, int element_bytes);

/// The blocks of each kind, where one vector is multiplied by `vector`.
StripLaunches choose_strips(const PackedHeader& a, DType dtype, const Launch& vector,
                            const Machine& machine);

/// How columns of X stand in memory.
enum class ColumnsAt : std::uint8_t {
  words,     // adjacent, and each row begins at a multiple of 16 bytes
  adjacent,  // rows begin anywhere
  apart
};

/// Strips of one kind, which multiply the next columns.
struct NextStrips {
  StripKind kind;
  std::int64_t columns;
};

/// Of `columns` that are left, at least 1. The widest strips that shared memory has room for, and
/// no wider than the columns need.
NextStrips next_strips(const StripLaunches& launches, ColumnsAt at, std::int64_t columns,
                       int element_bytes);

}  // namespace lanky::sparse::cuda
