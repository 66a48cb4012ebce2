// Types and arithmetic of a dense product, known at run time.
#pragma once

#include <lanky/dtype.hpp>
#include <lanky/operation.hpp>
#include <string_view>

namespace lanky::bench {

struct GemmType {
  DType in = DType::f64;   // of A and B
  DType out = DType::f64;  // of C: `in`, f32 where that is a half type, or f64
  Math math = Math::ieee;  // another one for f32 alone

  /// C in the type of A and B.
  static constexpr GemmType same(DType dtype) { return {dtype, dtype, Math::ieee}; }
  /// Whether sums are doubles although those of `in` are floats, which no library but lanky has.
  constexpr bool wide() const { return has_wide_sums(in, out); }
  /// As libraries without such products compute them: of operands that were made doubles before.
  constexpr GemmType of_library() const { return wide() ? same(DType::f64) : *this; }
  friend bool operator==(const GemmType&, const GemmType&) = default;
};

/// "f64", "tf32", "tf32x3", "f16", ...: the "dtype" of records, which does not tell `out`.
std::string_view to_string(const GemmType& type) noexcept;
/// The inverse, with C in the type of A and B; Error(invalid_argument) for other text.
GemmType parse_gemm_type(std::string_view text);

/// Real numbers in one element.
constexpr int components(DType dtype) {
  return is_complex(dtype) ? 2 : 1;
}
/// Type of those numbers.
constexpr DType component_type(DType dtype) {
  return dtype == DType::c64 ? DType::f32 : dtype == DType::c128 ? DType::f64 : dtype;
}

}  // namespace lanky::bench
