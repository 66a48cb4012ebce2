// Floats as factors of tensor cores, which do not look at their low 13 bits (PTX ISA, mma .tf32).
// The one rounding: to the nearest, halves away from zero; NaN stays NaN, Inf stays Inf, and what
// lies half a unit or more beyond the largest tf32 becomes Inf. That is what a tensor core sees of
// cvt.rna.tf32.f32, which takes an instruction more to clear bits that nobody looks at. (Of both,
// signalling NaN whose set bits all are among those 13 become Inf; no arithmetic makes such ones.)
#pragma once

#include <cstdint>

namespace lanky::device {

inline constexpr std::uint32_t kHalfTf32 = 0x1000U;      // half of the last place
inline constexpr std::uint32_t kTf32Bits = 0xffffe000U;  // those that a tensor core looks at

/// The low 13 bits of the result are anything.
__device__ inline std::uint32_t round_to_tf32(float value) {
  const std::uint32_t bits = __float_as_uint(value);
  return value == value ? bits + kHalfTf32 : bits;
}

/// The same of four floats side by side.
__device__ inline uint4 round_to_tf32(const uint4& floats) {
  return make_uint4(
      round_to_tf32(__uint_as_float(floats.x)), round_to_tf32(__uint_as_float(floats.y)),
      round_to_tf32(__uint_as_float(floats.z)), round_to_tf32(__uint_as_float(floats.w)));
}

/// What a tensor core sees of a float that was not rounded.
__device__ inline float cut_to_tf32(float value) {
  return __uint_as_float(__float_as_uint(value) & kTf32Bits);
}

/// value = high + low + an error of 2^-23 |value|: high is value rounded, a tensor core cuts low.
/// NaN is NaN in low; Inf is Inf in high and NaN in low, so that products with low count only where
/// the sum of those of high parts is finite. High may have lost a NaN whose upper bits are all set:
/// to keep it there takes a comparison an element, which made the loops of gram products a quarter
/// longer, those of panels up to a third.
struct SplitFloat {
  std::uint32_t high;
  std::uint32_t low;

  SplitFloat() = default;
  __device__ explicit SplitFloat(float value) {
    high = (__float_as_uint(value) + kHalfTf32) & kTf32Bits;
    low = __float_as_uint(value - __uint_as_float(high));
  }
};

}  // namespace lanky::device
