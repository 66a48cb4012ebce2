// Decimals w 10^q to the nearest double or float, where one 64-bit product tells which that is:
// after Eisel and Lemire ("Number parsing at a gigabyte per second", 2021), all but a thousandth of
// them.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <limits>
#include <optional>
#include <type_traits>

namespace lanky::inline v1::io {

__extension__ using Uint128 = unsigned __int128;

/// 10^q as a number of 64 bits times a power of two: significand <= 10^q / 2^exponent < significand
/// + 1.
struct PowerOfTen {
  std::uint64_t significand;
  int exponent;
};

inline constexpr int kMostPower = 38;  // 10^38 fits 128 bits

constexpr PowerOfTen power_of_ten(int q) {
  Uint128 power = 1;
  for (int i = 0; i < (q < 0 ? -q : q); ++i)
    power *= 10;
  int bits = 0;
  while (bits < 128 && power >> bits != 0)
    ++bits;
  if (q >= 0) {
    const Uint128 significand = bits > 64 ? power >> (bits - 64) : power << (64 - bits);
    return {static_cast<std::uint64_t>(significand), bits - 64};
  }
  // 2^(bits + 63) / power by long division, which begins with 2^(bits - 1) < power.
  Uint128 rest = Uint128{1} << (bits - 1);
  std::uint64_t significand = 0;
  for (int i = 0; i < 64; ++i) {
    rest *= 2;
    significand = 2 * significand + (rest >= power ? 1 : 0);
    if (rest >= power) rest -= power;
  }
  return {significand, -(bits + 63)};
}

inline constexpr auto kPowersOfTen = [] {
  std::array<PowerOfTen, 2 * kMostPower + 1> powers{};
  for (std::size_t i = 0; i < powers.size(); ++i)
    powers[i] = power_of_ten(static_cast<int>(i) - kMostPower);
  return powers;
}();

/// w 10^q rounded to the nearest F, ties to even; nothing where this does not tell. F: double or
/// float.
template <class F>
[[gnu::always_inline]] inline std::optional<F> nearest(std::uint64_t w, std::int64_t q) noexcept {
  using Limits = std::numeric_limits<F>;
  using Bits = std::conditional_t<sizeof(F) == 8, std::uint64_t, std::uint32_t>;
  if (q == 0 && w >> Limits::digits == 0) return static_cast<F>(w);
  if (w == 0) return F{0};
  if (q < -kMostPower || q > kMostPower) return std::nullopt;
  const PowerOfTen power = kPowersOfTen[static_cast<std::size_t>(q + kMostPower)];
  const int zeros = std::countl_zero(w);
  const Uint128 product = static_cast<Uint128>(w << zeros) * power.significand;
  // The true product of w 2^zeros with 10^q is at most 2^64 above: high + [0, 2), in units of 2^64.
  const auto high = static_cast<std::uint64_t>(product >> 64);
  const int dropped = 63 - Limits::digits + static_cast<int>(high >> 63);
  const std::uint64_t half = std::uint64_t{1} << (dropped - 1);
  const std::uint64_t low = high & (2 * half - 1);
  if (low == half - 1 || low == half) return std::nullopt;
  const std::uint64_t significand = (high >> dropped) + (low > half ? 1 : 0);
  const int exponent = 64 + power.exponent - zeros + dropped + Limits::digits - 1;  // of the value
  if (exponent < Limits::min_exponent - 1 || exponent >= Limits::max_exponent - 1) {
    return std::nullopt;
  }
  // The leading 1 of the significand, or the carry above it, adds to the exponent.
  const auto biased = static_cast<std::uint64_t>(exponent + Limits::max_exponent - 2);
  return std::bit_cast<F>(static_cast<Bits>((biased << (Limits::digits - 1)) + significand));
}

}  // namespace lanky::inline v1::io
