// What products of several columns take by tiles and on a RowsCopy, as a plan predicts it: bytes
// that lanes gather from the L2 and the L1, latencies of the longest block or row, X made
// row-major. Host code alone, also in builds without CUDA.
#pragma once

#include <cstdint>
#include <lanky/dtype.hpp>
#include <lanky/sparse.hpp>

#include "core/machine.hpp"
#include "sparse/facts.hpp"
#include "sparse/tiles.hpp"

namespace lanky::sparse::cuda {

/// TileHeader::share_above that the product of `columns` is predicted to take least time with.
std::uint32_t choose_share_above(const TileHeader& tiles, std::int64_t columns, DType dtype,
                                 const Machine& machine);
/// Blocks of more steps than `share_above`.
std::int64_t blocks_above(const StepCounts& counts, std::uint32_t share_above);

class CopyCosts {
 public:
  CopyCosts(const TileHeader& tiles, const RowFacts& rows, DType dtype, const Machine& machine)
      : tiles_(tiles), rows_(rows), dtype_(dtype), machine_(machine) {}

  /// Microseconds of a product by tiles, with X by rows, or by columns, gathered as it stands.
  double tiles_us(std::int64_t columns) const;
  double direct_us(std::int64_t columns) const;
  /// Of one on a RowsCopy, with X by rows.
  double rows_us(std::int64_t columns) const;
  /// Of making X row-major.
  double rows_of_x_us(std::int64_t columns) const;

  /// Whether the products that are expected take less by tiles.
  bool tiles_pay(const PlanOptions& options) const;
  /// TileHeader::direct_columns.
  std::int64_t direct_columns() const;

 private:
  /// Of tiles of floats, which are bound by instructions where they are not by bytes; else 0.
  double instructions_us(std::int64_t columns) const;
  /// Of the products of doubles, floats among them, which few cards have fast; of halves 0.
  double arithmetic_us(std::int64_t columns) const;
  /// Of tiles that take `us` for bytes and latencies.
  double bound_us(double us, std::int64_t columns) const;
  /// Of tiles, besides gathers.
  double other_us(std::int64_t columns) const;
  /// Microseconds in which the L2 sends so many bytes, and memory.
  double from_l2_us(double bytes) const;
  double from_memory_us(double bytes) const;
  double element_bytes() const { return static_cast<double>(size_of(dtype_)); }

  const TileHeader& tiles_;
  const RowFacts& rows_;
  DType dtype_;
  const Machine& machine_;
};

}  // namespace lanky::sparse::cuda
