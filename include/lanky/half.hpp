// IEEE binary16 and bfloat16 as storage types of the host: 2 bytes, converted with round to nearest
// even. Arithmetic is done in float; bits are those of CUDA's __half and __nv_bfloat16.
#pragma once

#include <bit>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <lanky/export.hpp>
#include <limits>

namespace lanky::inline v1 {

namespace detail {

/// A float whose rounding to a type of fewer significand bits equals that of `value` itself
/// (round to odd), so that double -> float -> half rounds once, not twice.
inline float to_float_round_odd(double value) noexcept {
  const float nearest = static_cast<float>(value);
  if (static_cast<double>(nearest) == value || std::isnan(value) || std::isinf(value)) {
    return nearest;
  }
  if (std::isinf(nearest)) return std::copysign(std::numeric_limits<float>::max(), nearest);
  auto bits = std::bit_cast<std::uint32_t>(nearest);
  if (std::fabs(static_cast<double>(nearest)) > std::fabs(value)) --bits;  // truncate first
  return std::bit_cast<float>(bits | 1U);
}

inline std::uint16_t float_to_half_bits(float value) noexcept {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const auto sign = static_cast<std::uint16_t>((bits >> 16) & 0x8000U);
  const std::uint32_t magnitude = bits & 0x7fffffffU;
  if (magnitude > 0x7f800000U) return sign | 0x7e00U | ((magnitude >> 13) & 0x3ffU);  // NaN
  if (magnitude >= 0x477ff000U) return sign | 0x7c00U;  // rounds to 65536 or more
  if (magnitude < 0x38800000U) {                        // subnormal: units of 2^-24
    const float scaled = std::bit_cast<float>(magnitude) * 16777216.0F;
    return static_cast<std::uint16_t>(sign | static_cast<std::uint16_t>(std::nearbyintf(scaled)));
  }
  const std::uint32_t rounded = magnitude + 0xfffU + ((magnitude >> 13) & 1U);
  return static_cast<std::uint16_t>(sign | ((rounded - 0x38000000U) >> 13));
}

inline float half_bits_to_float(std::uint16_t half) noexcept {
  const std::uint32_t sign = (half & 0x8000U) << 16;
  const std::uint32_t magnitude = half & 0x7fffU;
  if (magnitude >= 0x7c00U) {
    return std::bit_cast<float>(sign | 0x7f800000U | ((magnitude & 0x3ffU) << 13));
  }
  if (magnitude < 0x400U) {
    const float value = static_cast<float>(magnitude) * 5.9604644775390625e-8F;  // 2^-24
    return std::bit_cast<float>(std::bit_cast<std::uint32_t>(value) | sign);
  }
  return std::bit_cast<float>(sign | ((magnitude << 13) + 0x38000000U));
}

inline std::uint16_t float_to_bfloat16_bits(float value) noexcept {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  if ((bits & 0x7fffffffU) > 0x7f800000U) return static_cast<std::uint16_t>((bits >> 16) | 0x40U);
  return static_cast<std::uint16_t>((bits + 0x7fffU + ((bits >> 16) & 1U)) >> 16);
}

}  // namespace detail

/// IEEE 754 binary16: 11 significand bits, largest finite value 65504.
struct LANKY_EXPORT half {
  std::uint16_t bits = 0;

  half() = default;
  explicit half(float value) noexcept : bits(detail::float_to_half_bits(value)) {}
  explicit half(double value) noexcept : half(detail::to_float_round_odd(value)) {}
  template <std::integral Integer>
  explicit half(Integer value) noexcept : half(static_cast<double>(value)) {}
  operator float() const noexcept { return detail::half_bits_to_float(bits); }
};

/// bfloat16: float's exponent range with 8 significand bits.
struct LANKY_EXPORT bfloat16 {
  std::uint16_t bits = 0;

  bfloat16() = default;
  explicit bfloat16(float value) noexcept : bits(detail::float_to_bfloat16_bits(value)) {}
  explicit bfloat16(double value) noexcept : bfloat16(detail::to_float_round_odd(value)) {}
  template <std::integral Integer>
  explicit bfloat16(Integer value) noexcept : bfloat16(static_cast<double>(value)) {}
  operator float() const noexcept {
    return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
  }
};

}  // namespace lanky::inline v1
