// A float as an integer times a power of two that its column shares, in slices of a byte: how
// products of floats are summed exactly on units for integers.
#pragma once

#include <bit>
#include <cstdint>

#include "core/host_device.hpp"

namespace lanky::dense {

/// Bytes of the integer that a float becomes: the greatest in two's complement, others unsigned.
inline constexpr int kSlices = 6;
/// Floats of a column whose exponents are at most so far apart share a power of two: a significand
/// of 24 bits and a sign leave as many of 48.
inline constexpr int kSliceSpan = 8 * kSlices - 25;
/// Exponents above the greatest that was seen when the power of two was chosen.
inline constexpr int kSliceHeadroom = 2;

/// A float with an exponent is an integer below 2^24 times 2^(exponent - kSliceBias).
inline constexpr int kSliceBias = 150;

/// The exponent of a float with these bits: 1 to 254, and 255 of Inf and NaN.
LANKY_HOST_DEVICE constexpr int slice_exponent(std::uint32_t bits) noexcept {
  const int exponent = static_cast<int>(bits >> 23 & 255U);
  return exponent > 1 ? exponent : 1;
}

/// The base of floats whose greatest exponent is `exponent`. Inf and NaN fit no base.
LANKY_HOST_DEVICE constexpr int slice_base(int exponent) noexcept {
  const int greatest = exponent + kSliceHeadroom;
  return (greatest < 254 ? greatest : 254) - kSliceSpan;
}

/// The floats that fit a base: 0, and those whose exponent is from the base on, kSliceSpan above it
/// at most.
class SliceRange {
 public:
  LANKY_HOST_DEVICE constexpr explicit SliceRange(int base) noexcept
      : least_(base > 1 ? power(base) : 0), end_(power(base + kSliceSpan + 1)) {}
  LANKY_HOST_DEVICE constexpr bool has(float x) const noexcept {
    const float size = __builtin_fabsf(x);
    return ((size >= least_) | (size == 0)) & (size < end_);
  }

 private:
  /// The least float with that exponent; of 255, Inf.
  LANKY_HOST_DEVICE static constexpr float power(int exponent) noexcept {
    return std::bit_cast<float>(static_cast<std::uint32_t>(exponent) << 23);
  }

  float least_;
  float end_;
};

/// The integer x 2^(kSliceBias - base) of a float x with these bits that fits.
LANKY_HOST_DEVICE constexpr std::int64_t sliced(std::uint32_t bits, int base) noexcept {
  const std::uint32_t hidden = (bits & 0x7f800000U) != 0 ? 1U << 23 : 0;
  const std::uint64_t significand = (bits & 0x7fffffU) | hidden;
  // Of zeros the shift may be any: it is cut to one that exists.
  const std::uint64_t shifted = significand << ((slice_exponent(bits) - base) & 31);
  const auto sign = static_cast<std::uint64_t>(static_cast<std::int32_t>(bits) >> 31);
  return static_cast<std::int64_t>((shifted ^ sign) - sign);
}

}  // namespace lanky::dense
