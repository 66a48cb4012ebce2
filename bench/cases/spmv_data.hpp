// Operands of a sparse product as functions of place, and each row of y = A x that follows from
// them: the same on the host and on a GPU.
#pragma once

#include <cstdint>
#include <lanky/dtype.hpp>
#include <lanky/view.hpp>

#include "bench/cases/random.hpp"
#include "bench/harness/inner_product.hpp"

namespace lanky::bench {

/// Entry e of A in CSR and element j of x.
struct SpmvData {
  static constexpr std::uint64_t kValueSeed = 1;
  static constexpr std::uint64_t kVectorSeed = 2;

  Fill fill = Fill::integers;
  DType dtype = DType::f64;

  constexpr void add_term(InnerProduct& sum, std::int64_t entry, std::int32_t column) const {
    const int bits = significand_bits(dtype);
    sum.add(element(fill, kValueSeed, entry, bits), element(fill, kVectorSeed, column, bits));
  }
};

/// The rows of a pattern, its arrays where the product is computed.
struct SpmvRows {
  std::int64_t rows = 0;
  RowOffsets offsets{};                     // [rows + 1]
  const std::int32_t* columns = nullptr;    // [nnz]
  const std::int64_t* long_rows = nullptr;  // numbers of the rows that have more than kLongRow
  std::int64_t long_count = 0;
};

/// Entries that the GPU's oracle gives a warp; it gives more to a block.
inline constexpr std::int64_t kLongRow = 4096;

}  // namespace lanky::bench
