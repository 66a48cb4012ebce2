// Random numbers of one row: a splitmix64 stream (Steele, Lea and Flood, OOPSLA 2014) that starts
// from seed and row, so that rows can be drawn in any order and by any number of threads. Integer
// arithmetic and exact floating point only: equal on every machine.
#pragma once

#include <cstdint>

namespace lanky::inline v1::io {

class RowRandom {
 public:
  RowRandom(std::uint64_t seed, std::int64_t row) noexcept
      : state_(mix(mix(seed) ^ static_cast<std::uint64_t>(row))) {}

  std::uint64_t bits() noexcept { return mix(state_ += kStep); }
  /// Uniform in 0..bound-1, for 1 <= bound <= 2^32; its bias is below bound / 2^32.
  std::int64_t below(std::int64_t bound) noexcept {
    return static_cast<std::int64_t>(((bits() >> 32) * static_cast<std::uint64_t>(bound)) >> 32);
  }
  /// Uniform in (0, 1): odd multiples of 2^-53.
  double fraction() noexcept { return static_cast<double>((bits() >> 11) | 1) * 0x1p-53; }
  /// Uniform in (-1, 1): odd multiples of 2^-52.
  double symmetric() noexcept {
    const auto odd = static_cast<std::int64_t>((bits() >> 11) | 1);
    return static_cast<double>(odd - (std::int64_t{1} << 52)) * 0x1p-52;
  }
  /// -1 or 1.
  double sign() noexcept { return (bits() >> 63) == 0 ? -1 : 1; }

 private:
  static constexpr std::uint64_t kStep = 0x9e3779b97f4a7c15U;

  static std::uint64_t mix(std::uint64_t z) noexcept {
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31);
  }

  std::uint64_t state_;
};

}  // namespace lanky::inline v1::io
