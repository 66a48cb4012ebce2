// The element types of the library, by name at run time (DType) and as C++ types.
#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>
#include <lanky/export.hpp>
#include <lanky/half.hpp>
#include <string_view>

namespace lanky::inline v1 {

enum class DType : std::uint8_t { f64, f32, f16, bf16, c64, c128 };

/// "f64", "f32", "f16", "bf16", "c64" (complex<float>), "c128" (complex<double>).
LANKY_EXPORT std::string_view to_string(DType dtype) noexcept;
/// The inverse of to_string(); throws Error(invalid_argument) that lists the known names.
LANKY_EXPORT DType parse_dtype(std::string_view text);
/// Bytes of one element.
LANKY_EXPORT std::size_t size_of(DType dtype) noexcept;
/// Whether elements are complex numbers.
constexpr bool is_complex(DType dtype) noexcept {
  return dtype == DType::c64 || dtype == DType::c128;
}
/// Whether elements are 16-bit numbers.
constexpr bool is_half(DType dtype) noexcept {
  return dtype == DType::f16 || dtype == DType::bf16;
}
/// Unit roundoff: half the distance from 1 to the next number (2^-53 for f64, 2^-11 for f16).
LANKY_EXPORT double unit_roundoff(DType dtype) noexcept;

namespace detail {
template <class T>
struct ElementTraits;
template <>
struct ElementTraits<double> {
  static constexpr DType kDType = DType::f64;
  using Accumulator = double;
};
template <>
struct ElementTraits<float> {
  static constexpr DType kDType = DType::f32;
  using Accumulator = float;
};
template <>
struct ElementTraits<half> {
  static constexpr DType kDType = DType::f16;
  using Accumulator = float;
};
template <>
struct ElementTraits<bfloat16> {
  static constexpr DType kDType = DType::bf16;
  using Accumulator = float;
};
template <>
struct ElementTraits<std::complex<float>> {
  static constexpr DType kDType = DType::c64;
  using Accumulator = std::complex<float>;
};
template <>
struct ElementTraits<std::complex<double>> {
  static constexpr DType kDType = DType::c128;
  using Accumulator = std::complex<double>;
};
}  // namespace detail

/// The DType of an element type.
template <class T>
inline constexpr DType kDType = detail::ElementTraits<T>::kDType;

/// The type in which products of T are summed, and that of alpha and beta: float for the half
/// types, T itself otherwise.
template <class T>
using Accumulator = typename detail::ElementTraits<T>::Accumulator;

/// Whether dense products of `in` with results of `out` are summed in double, although those of
/// `in` are summed in float: float, half or bfloat16 to double.
constexpr bool has_wide_sums(DType in, DType out) noexcept {
  return out == DType::f64 && (in == DType::f32 || is_half(in));
}

}  // namespace lanky::inline v1
