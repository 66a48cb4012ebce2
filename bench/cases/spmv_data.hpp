// Operands of a sparse product as functions of place, and each element of Y = A X that follows from
// them: the same on the host and on a GPU. A vector is a matrix of one column.
#pragma once

#include <cstdint>
#include <lanky/dtype.hpp>
#include <lanky/view.hpp>

#include "bench/cases/gemm_type.hpp"
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
/// the same elements however many columns X has. Component p of element e of a complex type is
/// component 2 e + p of the sequence. In an SDDMM, X Y^T at the entries, the elements of X
/// stand in the place of the entries, counted as those of X above; Y takes the place of X.
struct SpmvData {
  static constexpr std::uint64_t kValueSeed = 1;
  static constexpr std::uint64_t kVectorSeed = 2;

  Fill fill = Fill::integers;
  DType dtype = DType::f64;

  bool operator==(const SpmvData&) const = default;

  /// Adds the product of an entry and an element of X to the sum of component `part` (0: real, 1:
  /// imaginary) of an element of Y.
  constexpr void add_term(InnerProduct& sum, std::int64_t entry, std::int64_t of_x,
                          int part) const {
    if (!is_complex(dtype)) return sum.add(value(entry), x(of_x));
    // (v + iw)(x + iy) = (vx - wy) + i (vy + wx)
    sum.add(value(2 * entry), x(2 * of_x + part));
    sum.add(part == 0 ? -value(2 * entry + 1) : value(2 * entry + 1), x(2 * of_x + 1 - part));
  }

 private:
  constexpr double value(std::int64_t number) const {
    return element(fill, kValueSeed, number, significand_bits(component_type(dtype)));
  }
  constexpr double x(std::int64_t number) const {
    return element(fill, kVectorSeed, number, significand_bits(component_type(dtype)));
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

/// Y as a contestant wrote it, in real numbers: `parts` of them make an element.
struct SpmvResult {
  const void* data = nullptr;
  std::int64_t rows = 0;
  SpmvColumns columns{};
  int parts = 1;

  constexpr std::int64_t column_size() const { return rows * parts; }
  constexpr std::int64_t size() const { return column_size() * columns.count; }
  /// Where component p of element (i, c) stands that counts p + (i + c * rows) * parts.
  constexpr std::int64_t offset(std::int64_t number) const {
    if (columns.layout == Layout::col || columns.count == 1) return number;
    const std::int64_t in_column = number % column_size();
    return in_column / parts * columns.count * parts + number / column_size() * parts +
           in_column % parts;
  }
};

/// Entries that the GPU's oracle gives a warp; it gives more to a block.
inline constexpr std::int64_t kLongRow = 4096;

}  // namespace lanky::bench
