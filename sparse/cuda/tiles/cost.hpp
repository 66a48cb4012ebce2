// What products of several columns take by tiles and on a RowsCopy, as a plan predicts it: bytes
// that lanes gather from the L2, those that are streamed, the warps that share the device,
// latencies of the longest block or row, X made row-major. Host code alone, also in builds without
// CUDA.
#pragma once

#include <algorithm>
#include <cstdint>
#include <lanky/dtype.hpp>
#include <lanky/sparse.hpp>

#include "core/machine.hpp"
#include "sparse/cuda/columns/row_sharing.hpp"
#include "sparse/facts.hpp"
#include "sparse/tiles.hpp"

namespace lanky::sparse::cuda {

/// Which blocks warps share, so that the product of `columns` is predicted to take least time, and
/// what strips of each width take then: share_above, shared_blocks and times.
void choose_sharing(TileHeader& tiles, std::int64_t columns, DType dtype, const Machine& machine);
/// Blocks of more steps than `share_above`.
std::int64_t blocks_above(const StepCounts& counts, std::uint32_t share_above);

/// What a RowsCopy would be made of.
struct RowsOfCopy {
  const RowFacts& facts;
  const RowLengths& lengths;
  Shape shape;
};

class CopyCosts {
 public:
  /// Of tiles after choose_sharing().
  CopyCosts(const TileHeader& tiles, const RowsOfCopy& rows, DType dtype, const Machine& machine)
      : tiles_(tiles), rows_(rows), dtype_(dtype), machine_(machine) {}

  /// Microseconds of a product by tiles, with X by rows, or by columns, gathered as it stands.
  double tiles_us(std::int64_t columns) const;
  double direct_us(std::int64_t columns) const;
  /// Of one on a RowsCopy, with X by rows.
  double rows_us(std::int64_t columns, Layout y) const;
  /// Of making X row-major.
  double rows_of_x_us(std::int64_t columns) const;

  /// Whether the products that are expected take less by tiles.
  bool tiles_pay(const SparseOptions& options) const;
  /// TileHeader::direct_columns.
  std::int64_t direct_columns() const;

 private:
  /// Of the products of doubles, floats among them, which few cards have fast; of halves 0.
  double arithmetic_us(std::int64_t columns) const;
  /// Of what tiles read and write one after the other.
  double streams_of_tiles_us(std::int64_t columns) const;
  /// Microseconds in which the L2 sends so many bytes, and memory; and that of them which has all
  /// operands of a product of `columns`.
  double from_l2_us(double bytes) const;
  double from_memory_us(double bytes) const;
  double streamed_us(double bytes, std::int64_t columns) const;
  /// Of the rows of X that entries name, at most.
  double x_bytes(std::int64_t columns) const {
    return static_cast<double>(std::min(rows_.facts.cols, tiles_.facts.vectors) * columns) *
           element_bytes();
  }
  double y_bytes(std::int64_t columns) const {
    return static_cast<double>(rows_.facts.rows * columns) * element_bytes();
  }
  double element_bytes() const { return static_cast<double>(size_of(dtype_)); }

  const TileHeader& tiles_;
  RowsOfCopy rows_;
  DType dtype_;
  const Machine& machine_;
};

}  // namespace lanky::sparse::cuda
