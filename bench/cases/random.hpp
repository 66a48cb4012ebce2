// Data of benchmarks, computed from (seed, index): the same bits on the CPU, on a GPU and in the
// oracle, so that operands of gigabytes are checked without a copy in host memory.
#pragma once

#include <bit>
#include <cstdint>
#include <lanky/dtype.hpp>
#include <limits>

namespace lanky::bench {

/// integers: -1, 0, 1, equally likely. random: zero-mean in (-1, 1), a full significand each,
/// never 0. positive: in (0, 1), likewise. nan: poison for results, so that what is not written is
/// noticed.
enum class Fill : std::uint8_t { integers, random, positive, nan };

/// The finalizer of SplitMix64 (Steele, Lea, Flood, OOPSLA '14).
constexpr std::uint64_t mix(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15ULL;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

/// Bits of a type's significand, the implicit one included.
constexpr int significand_bits(DType dtype) {
  return dtype == DType::f64 ? 53 : dtype == DType::f32 ? 24 : dtype == DType::f16 ? 11 : 8;
}

/// Element `index` of a sequence; exact in every type of at least `bits` significand bits.
constexpr double element(Fill fill, std::uint64_t seed, std::int64_t index, int bits) {
  if (fill == Fill::nan) return std::numeric_limits<double>::quiet_NaN();
  const std::uint64_t hash = mix(static_cast<std::uint64_t>(index) + mix(seed));
  if (fill == Fill::integers) return static_cast<double>(static_cast<int>(hash % 3) - 1);
  const auto below = static_cast<std::int64_t>(hash >> (64 - bits));  // [0, 2^bits)
  const std::int64_t odd = fill == Fill::positive
                               ? below | 1                                   // (0, 2^bits)
                               : 2 * below + 1 - (std::int64_t{1} << bits);  // (-2^bits, 2^bits)
  const auto power = std::bit_cast<double>(static_cast<std::uint64_t>(1023 - bits) << 52);
  return static_cast<double>(odd) * power;  // 2^-bits: exact, and a GPU divides slowly
}

}  // namespace lanky::bench
