// Random numbers of cases: each case has a generator that follows from (seed, index) alone, and
// kinds of values that try a product in ways of their own.
#pragma once

#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <string>

#include "bench/cases/random.hpp"
#include "support/draw_csr.hpp"

namespace lanky::random_cases {

using bench::mix;
using testing::kIsComplex;
using testing::Random;
using testing::random_int;

/// Plans and cases of one index draw from generators of their own.
enum class Draws : std::uint64_t { plan = 1, operands = 2 };

inline Random random_of(std::uint64_t seed, std::int64_t index, Draws draws) {
  return Random(
      mix(seed + mix(static_cast<std::uint64_t>(index) * 4 + static_cast<std::uint64_t>(draws))));
}

/// True once in `times`, on average.
inline bool one_in(Random& random, std::uint64_t times) {
  return random() % times == 0;
}

template <class E>
E one_of(Random& random, std::initializer_list<E> list) {
  return list.begin()[random() % list.size()];
}

/// 2^e for an e uniform in [least, most]: as many small numbers as large ones.
inline std::int64_t log_uniform(Random& random, double least, double most) {
  const double low = std::log2(least);
  const double share = static_cast<double>(random() >> 11) * 0x1p-53;
  return static_cast<std::int64_t>(std::exp2(low + share * (std::log2(most + 1) - low)));
}

/// integers: -2 .. 2, whose sums are exact. uniform: [-1, 1]. positive: [.5, 1], without
/// cancellation. scaled: uniform times powers of two. tight: products and sums whose rounding
/// errors are near the most that they can be, and all of one sign. lost: a number now and then,
/// others so small that each is lost where it is added to that one; for sums with `ones`. special:
/// uniform, with NaN, Inf, -0 and 0 now and then.
enum class Values : std::uint8_t {
  integers,
  uniform,
  positive,
  scaled,
  tight,
  lost,
  ones,
  special
};

inline std::string text_of(Values values) {
  constexpr const char* kNames[] = {"integers", "uniform", "positive", "scaled",
                                    "tight",    "lost",    "ones",     "special"};
  return kNames[static_cast<int>(values)];
}

inline Values draw_values(Random& random) {
  return one_of(random, {Values::integers, Values::uniform, Values::uniform, Values::positive,
                         Values::scaled, Values::tight, Values::lost, Values::special});
}

/// Numbers near 1 whose products are rounded by almost half a unit, downwards: with p bits,
/// (1 + i 2^(1-p)) (1 + j 2^(1-p)) = 1 + (i + j) 2^(1-p) + i j 2^(2-2p), and i j is just below
/// 2^(p-2). Others are so small that adding them to 1 loses almost half a unit each. Of halves
/// products are exact; their small ones are those whose products are as small.
template <class E>
double tight_value(Random& random) {
  constexpr int kBits = kDType<E> == DType::f64 || kDType<E> == DType::c128 ? 53 : 24;
  if constexpr (is_half(kDType<E>)) {
    if (random() % 4 != 0) return one_in(random, 2) ? 0x1p-12 : 0x1.fcp-13;
    return 1;
  } else {
    constexpr int kLow = (kBits - 2) / 2;
    const auto near_one = [](int power, int less) {
      return 1 + (std::ldexp(1.0, power) - less) * std::ldexp(1.0, 1 - kBits);
    };
    switch (random() % 4) {
      case 0:
        return near_one(kLow, 1);
      case 1:
        return near_one(kBits - 2 - kLow, 0);
      case 2:
        return std::ldexp(1.0, -kBits) * (1 - std::ldexp(1.0, -kLow));
      default:
        return std::ldexp(1.0, -kBits - 2);
    }
  }
}

/// Once in `times` a number to which the others are lost.
template <class E>
double lost_value(Random& random, std::int64_t times) {
  const bool large = one_in(random, static_cast<std::uint64_t>(times));
  if constexpr (kDType<E> == DType::f16) return large ? 0x1p12 : 0x1.ffcp-13;
  if constexpr (kDType<E> == DType::bf16) return large ? 1 : 0x1.fep-25;
  constexpr int kBits = kDType<E> == DType::f64 || kDType<E> == DType::c128 ? 53 : 24;
  return large ? 1 : std::ldexp(1 - 0x1p-12, -kBits);
}

/// The other factors of sums of such values.
inline Values factors_of(Values values) {
  return values == Values::lost ? Values::ones : values;
}

template <class E>
double draw_number(Random& random, Values values, std::int64_t special_times) {
  const auto share = [&] { return static_cast<double>(random() >> 11) * 0x1p-53; };
  switch (values) {
    case Values::integers:
      return static_cast<double>(random() % 5) - 2;
    case Values::positive:
      return 0.5 + share() / 2;
    case Values::scaled: {
      constexpr int kMost = kDType<E> == DType::f16 ? 3 : 20;
      const int power = static_cast<int>(random() % (2 * kMost + 1)) - kMost;
      return std::ldexp(2 * share() - 1, power);
    }
    case Values::tight:
      return tight_value<E>(random);
    case Values::lost:
      return lost_value<E>(random, special_times / 4);
    case Values::ones:
      return 1;
    case Values::special:
      if (one_in(random, static_cast<std::uint64_t>(special_times))) {
        return one_of(random, {std::numeric_limits<double>::quiet_NaN(),
                               std::numeric_limits<double>::infinity(),
                               -std::numeric_limits<double>::infinity(), -0.0, 0.0});
      }
      return 2 * share() - 1;
    case Values::uniform:
      break;
  }
  return 2 * share() - 1;
}

/// `special_times`: how many numbers there are for a special one, where values are special.
template <class E>
E draw_element(Random& random, Values values, std::int64_t special_times) {
  return testing::draw_parts<E>([&] { return draw_number<E>(random, values, special_times); });
}

/// alpha or beta: 0, 1 and -1 often; integers where sums are to be exact.
template <class Sum>
Sum draw_scalar(Random& random, Values values, std::initializer_list<double> often) {
  if (random() % 3 != 0) return testing::element<Sum>(one_of(random, often));
  const Values kind =
      values == Values::integers || values == Values::tight ? values : Values::uniform;
  return draw_element<Sum>(random, kind, 1);
}

}  // namespace lanky::random_cases
