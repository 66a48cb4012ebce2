// Random numbers from a seed and an index, alike on the CPU and on a GPU.
#pragma once

#include <cstdint>

namespace lanky::examples {

/// The finalizer of SplitMix64 (Steele, Lea, Flood, OOPSLA '14).
constexpr std::uint64_t mix(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15ULL;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

/// Number `index` of a random sequence, uniform in [0, 1).
constexpr double uniform(std::uint64_t seed, std::int64_t index) {
  return static_cast<double>(mix(static_cast<std::uint64_t>(index) + mix(seed)) >> 11) * 0x1p-53;
}

}  // namespace lanky::examples
