// Numbers that look random and are always the same.
#pragma once

#include <cstdint>

namespace lanky::examples::solvers {

/// Number `index` of a sequence, uniform in [-1, 1). Steele, Lea and Flood, 2014 (SplitMix64).
constexpr double random_number(std::uint64_t index) {
  std::uint64_t z = (index + 1) * 0x9E3779B97F4A7C15U;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9U;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBU;
  z ^= z >> 31;
  return static_cast<double>(static_cast<std::int64_t>(z) >> 10) * 0x1p-53;
}

}  // namespace lanky::examples::solvers
