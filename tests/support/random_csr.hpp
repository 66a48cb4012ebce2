// Small random matrices of any shape, whose values have any bits but those of NaN.
#pragma once

#include <bit>
#include <cmath>
#include <complex>
#include <cstdint>
#include <cstring>
#include <lanky/io.hpp>
#include <random>
#include <string>
#include <vector>

namespace lanky::testing {

template <class T>
bool same_bits(const std::vector<T>& a, const std::vector<T>& b) {
  return a.size() == b.size() &&
         (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0);
}

/// Values of any bits but NaN, whose payload no text keeps.
template <class T>
struct AnyValue;
template <>
struct AnyValue<double> {
  static double draw(std::mt19937_64& random) {
    const auto value = std::bit_cast<double>(random());
    return std::isnan(value) ? 0.1 : value;
  }
};
template <>
struct AnyValue<float> {
  static float draw(std::mt19937_64& random) {
    const auto value = std::bit_cast<float>(static_cast<std::uint32_t>(random()));
    return std::isnan(value) ? 0.1F : value;
  }
};
template <class T>
T draw_narrow(std::mt19937_64& random) {
  T value;
  value.bits = static_cast<std::uint16_t>(random());
  return std::isnan(static_cast<float>(value)) ? T(0.1F) : value;
}
template <>
struct AnyValue<half> {
  static half draw(std::mt19937_64& random) { return draw_narrow<half>(random); }
};
template <>
struct AnyValue<bfloat16> {
  static bfloat16 draw(std::mt19937_64& random) { return draw_narrow<bfloat16>(random); }
};
template <class F>
struct AnyValue<std::complex<F>> {
  static std::complex<F> draw(std::mt19937_64& random) {
    const F real = AnyValue<F>::draw(random);
    return {real, AnyValue<F>::draw(random)};
  }
};

template <class T>
CsrMatrix<T> random_matrix(std::mt19937_64& random) {
  const auto rows = random() % 40;
  const auto cols = 1 + random() % 60;
  CsrMatrix<T> a = io::generate<T>("mixed:" + std::to_string(rows) + ":20:" + std::to_string(cols) +
                                   ",seed=" + std::to_string(random()));
  for (T& value : a.values)
    value = AnyValue<T>::draw(random);
  return a;
}

}  // namespace lanky::testing
