// Sums with NaN, Inf, signed zeros, subnormals or overflow in them, for every type: what is
// multiplied, and what IEEE arithmetic in the order of storage makes of it.
#pragma once

#include <complex>
#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "random/judge.hpp"

namespace lanky::random_cases {

using Number = std::complex<double>;

/// alpha (sum of a x) + beta old.
struct Terms {
  std::vector<std::pair<Number, Number>> products;
  Number alpha = 1;
  Number beta = 0;
  Number old = std::numeric_limits<double>::quiet_NaN();
  std::pair<Number, Number> rest = {0, 0};  // further products, where an operation has more
  bool elsewhere = false;                   // NaN and Inf everywhere but in this sum
};

/// Numbers of the type of the operands and of the sums.
struct Format {
  double max;         // the largest finite number
  double subnormal;   // the smallest positive one
  double normal;      // the smallest normal one
  double roundoff;    // of the operands
  double scale_most;  // of alpha and beta
  bool sums_wider;    // sums have a wider range than operands
};

template <class T, class Sum>
Format format_of() {
  Format format{};
  switch (kDType<T>) {
    case DType::f64:
    case DType::c128:
      format = {std::numeric_limits<double>::max(), 0x1p-1074, 0x1p-1022, 0x1p-53, 0, false};
      break;
    case DType::f32:
    case DType::c64:
      format = {static_cast<double>(std::numeric_limits<float>::max()),
                0x1p-149,
                0x1p-126,
                0x1p-24,
                0,
                false};
      break;
    case DType::f16:
      format = {65504, 0x1p-24, 0x1p-14, 0x1p-11, 0, true};
      break;
    case DType::bf16:
      format = {0x1.fep127, 0x1p-133, 0x1p-126, 0x1p-8, 0, false};
      break;
  }
  const bool in_double = kDType<Sum> == DType::f64 || kDType<Sum> == DType::c128;
  format.scale_most = in_double ? std::numeric_limits<double>::max()
                                : static_cast<double>(std::numeric_limits<float>::max());
  if (in_double && kDType<T> != DType::f64 && kDType<T> != DType::c128) format.sums_wider = true;
  return format;
}

/// Dense products do not read A and B where alpha is 0, as BLAS; sparse ones multiply.
enum class Domain : std::uint8_t { sparse, dense };

struct Situation {
  std::string text;
  bool promised;  // that the result is that of IEEE arithmetic, in every operation and type
  std::function<Terms(const Format&)> terms;
};

/// Those of real numbers; where `complex`, those that complex ones add.
std::vector<Situation> situations(bool complex);

/// "NaN", "+Inf", "-0", "exact" (the exact result, rounded once), or a number.
std::string outcome(double computed, long double exact, double exact_rounded);

/// Both parts of a result.
template <class TOut>
std::string outcome_of(TOut value, std::complex<long double> exact) {
  using Real = Component<TOut>;
  const auto rounded = [](long double x) {
    return static_cast<double>(testing::element<Real>(static_cast<double>(x)));
  };
  const Number parts = testing::parts(value);
  std::string text = outcome(parts.real(), exact.real(), rounded(exact.real()));
  if constexpr (kIsComplex<TOut>)
    text += ", " + outcome(parts.imag(), exact.imag(), rounded(exact.imag()));
  return text;
}

/// The exact result, of terms that long double holds.
template <class T>
std::complex<long double> exact_result(const Terms& terms, Domain domain) {
  using Wide = std::complex<long double>;
  const auto times = [](Wide a, Wide b) {
    if constexpr (!kIsComplex<T>) return Wide(a.real() * b.real(), 0);
    return Wide(a.real() * b.real() - a.imag() * b.imag(),
                a.real() * b.imag() + a.imag() * b.real());
  };
  Wide sum = 0;
  for (const auto& [a, x] : terms.products)
    sum += times(Wide(a), Wide(x));
  if (domain == Domain::dense && terms.alpha == 0.0) sum = 0;
  sum = times(Wide(terms.alpha), sum);
  if (terms.beta != 0.0) sum += times(Wide(terms.beta), Wide(terms.old));
  return sum;
}

/// IEEE arithmetic of the type of the sums, every operation rounded, from the first term on.
template <class T, class TOut, class Sum>
TOut by_ieee(const Terms& terms, Domain domain) {
  using Real = Component<Sum>;
  struct Pair {
    Real real;
    Real imag;
  };
  const auto pair = [](Number x) {
    return Pair{static_cast<Real>(x.real()), static_cast<Real>(x.imag())};
  };
  const auto times = [](Pair a, Pair b) {
    if constexpr (!kIsComplex<T>) return Pair{a.real * b.real, 0};
    return Pair{a.real * b.real - a.imag * b.imag, a.real * b.imag + a.imag * b.real};
  };
  const auto plus = [](Pair a, Pair b) { return Pair{a.real + b.real, a.imag + b.imag}; };
  Pair sum{0, 0};
  bool first = true;
  for (const auto& [a, x] : terms.products) {
    const Pair product = times(pair(a), pair(x));
    sum = first ? product : plus(sum, product);
    first = false;
  }
  Pair result = times(pair(terms.alpha), sum);
  if (domain == Domain::dense && terms.alpha == 0.0) result = {0, 0};
  if (terms.beta != 0.0) result = plus(result, times(pair(terms.beta), pair(terms.old)));
  return testing::element<TOut>(
      Number(static_cast<double>(result.real), static_cast<double>(result.imag)));
}

}  // namespace lanky::random_cases
