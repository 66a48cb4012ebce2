// Operands of a sparse product as functions of place, and each element of Y = A X that follows from
// them: the same on the host and on a GPU. A vector is a matrix of one column.
#pragma once

#include <cstdint>
#include <lanky/dtype.hpp>
#include <lanky/view.hpp>

#include "bench/cases/random.hpp"
#include "bench/harness/inner_product.hpp"

namespace lanky::bench {

/// The columns of X, and of Y = A X, and how both lie in memory: without a gap.
struct SpmvColumns {
  std::int64_t count = 1;
  Layout layout = Layout::col;

  bool operator==(const SpmvColumns&) const = default;
};

/// Entry e of A in CSR, and element e of X, which counts (j, c) as j + c * (its rows): a column has
/// the same elements however many columns X has.
struct SpmvData {
  static constexpr std::uint64_t kValueSeed = 1;
  static constexpr std::uint64_t kVectorSeed = 2;

  Fill fill = Fill::integers;
  DType dtype = DType::f64;

  bool operator==(const SpmvData&) const = default;

  constexpr void add_term(InnerProduct& sum, std::int64_t entry, std::int64_t of_x) const {
    const int bits = significand_bits(dtype);
    sum.add(element(fill, kValueSeed, entry, bits), element(fill, kVectorSeed, of_x, bits));
  }
};

/// The rows of a pattern, its arrays where the product is computed.
struct SpmvRows {
  std::int64_t rows = 0;
  RowOffsets offsets{};                     // [rows + 1]
  const std::int32_t* columns = nullptr;    // [nnz]
  const std::int64_t* long_rows = nullptr;  // numbers of the rows that have more than kLongRow
  std::int64_t long_count = 0;
  std::int64_t cols = 0;  // of the pattern: rows of X
};

/// Y as a contestant wrote it.
struct SpmvResult {
  const void* data = nullptr;
  std::int64_t rows = 0;
  SpmvColumns columns{};

  constexpr std::int64_t size() const { return rows * columns.count; }
  /// Where element (i, c) stands that counts i + c * rows.
  constexpr std::int64_t offset(std::int64_t element) const {
    if (columns.layout == Layout::col || columns.count == 1) return element;
    return element % rows * columns.count + element / rows;
  }
};

/// Entries that the GPU's oracle gives a warp; it gives more to a block.
inline constexpr std::int64_t kLongRow = 4096;

}  // namespace lanky::bench
