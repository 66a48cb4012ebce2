// The canonical form of a product. Layouts and transposes vanish in strides, and C^T = B^T A^T
// makes n the skinnier side: C[m, n] = A[m, k] B[k, n] with m >= n is all that a kernel sees.
#pragma once

#include <cstddef>
#include <cstdint>
#include <lanky/dense.hpp>
#include <string_view>

namespace lanky::dense {

/// Element (i, j) of an operand stands at i * row + j * col, counted in elements.
struct Strides {
  std::int64_t row = 1;
  std::int64_t col = 1;

  constexpr Strides transposed() const noexcept { return {col, row}; }
  friend bool operator==(const Strides&, const Strides&) = default;
};

/// Whether all lines of adjacent elements of `bytes` bytes begin 16 bytes apart, or there is but
/// one element in a line.
constexpr bool has_aligned_lines(Strides s, std::size_t bytes) noexcept {
  const std::int64_t ld = s.row == 1 ? s.col : s.row;
  return ld == 1 || static_cast<std::size_t>(ld) * bytes % 16 == 0;
}

struct Problem {
  std::int64_t m = 0;
  std::int64_t n = 0;
  std::int64_t k = 0;
  Strides a{};           // A[m, k]
  Strides b{};           // B[k, n]
  Strides c{};           // C[m, n]
  bool swapped = false;  // the caller's B^T is A here, and the caller's A^T is B
  bool conj_a = false;   // op() conjugates A; has no meaning for real types
  bool conj_b = false;
  Math math = Math::ieee;
};

/// An operand as the caller stores it.
struct StoredExtents {
  std::int64_t rows = 0;
  std::int64_t cols = 0;
};

/// [rows, cols] of the operand whose op() is [op_rows, op_cols].
StoredExtents stored_extents(std::int64_t op_rows, std::int64_t op_cols, Op op) noexcept;

/// Elements from one column to the next (layout col) or one row to the next (row), without padding.
std::int64_t tight_ld(StoredExtents extents, Layout layout) noexcept;

/// The shape with tight leading dimensions where they are 0.
GemmShape with_leading_dimensions(GemmShape shape) noexcept;

/// "column-major" or "row-major".
std::string_view layout_name(Layout layout) noexcept;

/// The shape with its leading dimensions filled in. Throws Error: invalid_argument (negative sizes,
/// leading dimensions shorter than a column or row, more bytes than addresses count), unsupported
/// (tf32 and tf32x3 of other types than float, and with results of double).
GemmShape checked(GemmShape shape, DType in, DType out, Math math);

/// The canonical form of a shape whose leading dimensions are given (not 0).
Problem canonical(const GemmShape& shape, Math math = Math::ieee) noexcept;

/// C^T = B^T A^T: the operands change places.
Problem exchanged(const Problem& problem) noexcept;

/// A problem in the terms of column-major BLAS.
struct BlasCall {
  bool exchanged = false;  // C^T = B^T A^T: b is passed first, m and n are exchanged
  std::int64_t m = 0;
  std::int64_t n = 0;
  std::int64_t k = 0;
  bool trans_a = false;
  bool trans_b = false;
  std::int64_t lda = 0;
  std::int64_t ldb = 0;
  std::int64_t ldc = 0;
  bool conj_a = false;  // of complex types
  bool conj_b = false;

  /// BLAS conjugates only what it transposes. False for a conjugated operand of one element, whose
  /// strides do not tell that it was transposed.
  bool conjugates_transposed_only() const noexcept {
    return (!conj_a || trans_a) && (!conj_b || trans_b);
  }
};

BlasCall blas_call(const Problem& problem) noexcept;

}  // namespace lanky::dense
