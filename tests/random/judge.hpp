// The documented error bound (docs/guide/precision.md), and the judgement of one real component of
// a result by it.
#pragma once

#include <cmath>
#include <complex>
#include <cstdint>
#include <lanky/dtype.hpp>
#include <lanky/operation.hpp>
#include <limits>
#include <string>

#include "support/draw_csr.hpp"
#include "support/exact_sum.hpp"

namespace lanky::random_cases {

using testing::ExactSum;
using testing::kIsComplex;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// The real type of a component.
template <class T>
struct ComponentOf {
  using Type = T;
};
template <class F>
struct ComponentOf<std::complex<F>> {
  using Type = F;
};
template <class T>
using Component = typename ComponentOf<T>::Type;

/// How far rounding may carry a component from the exact one.
struct Bound {
  double sum_roundoff;           // u_sum
  double factor_error = 0;       // u_factor
  double result_roundoff = 0;    // u_result
  double half_subnormal = 0;     // half the smallest number of the result's type
  std::int64_t extra_terms = 2;  // roundings by alpha and beta
  bool exact = false;            // integers: nothing is rounded but the result
  // Complex products of three real ones, as libraries form them: each part has errors of both.
  bool mixes_parts = false;
  // Libraries round alpha times the sum to the type of the result before they add beta times it.
  bool rounds_twice = false;
};

template <class TOut>
constexpr double kHalfSubnormal = kDType<TOut> == DType::f16    ? 0x1p-25
                                  : kDType<TOut> == DType::bf16 ? 0x1p-134
                                                                : 0.0;

/// Of products of T with results of TOut that are summed in Sum. On the CPU `math` changes nothing.
/// `vendor`: a library's, which may cut factors off where tf32 rounds them.
template <class T, class TOut, class Sum>
Bound bound_of(Math math, bool is_cuda, bool vendor = false) {
  Bound bound{.sum_roundoff = unit_roundoff(kDType<Sum>)};
  if (is_cuda && math == Math::tf32)
    bound.factor_error = vendor ? 0x1p-9 + 0x1p-20 : 0x1p-10 + 0x1p-22;
  if (is_cuda && math == Math::tf32x3) {
    bound.sum_roundoff *= 3;
    bound.factor_error = 3 * 0x1p-22;
  }
  if (is_half(kDType<TOut>)) bound.result_roundoff = unit_roundoff(kDType<TOut>);
  bound.half_subnormal = kHalfSubnormal<TOut>;
  bound.rounds_twice = is_cuda && vendor;
  if (kIsComplex<T>) bound.extra_terms = 4;
  if (kIsComplex<T> && is_cuda && vendor) {
    bound.sum_roundoff *= 3;
    bound.mixes_parts = true;
  }
  return bound;
}

/// A component of alpha times a sum plus beta times what was there: high + low to twice the
/// precision of double, the sum of the magnitudes of its terms, and what double makes of NaN and
/// Inf.
struct Reference {
  double high = 0;
  double low = 0;
  double magnitude = 0;
  double plain = 0;
  double scaled = 0;       // alpha times the sum, where something is added to it
  std::int64_t terms = 0;  // real products in the sum
};

/// The two components of a sum of products, with magnitudes.
template <class T>
class Sums {
 public:
  void add(double a, double x) {
    real_.add(a, x);
    real_magnitude_ += std::fabs(a * x);
    ++terms_;
  }
  void add(double a, double a_imag, double x, double x_imag) {
    real_.add(a, x);
    real_.add(-a_imag, x_imag);
    imag_.add(a, x_imag);
    imag_.add(a_imag, x);
    real_magnitude_ += std::fabs(a * x) + std::fabs(a_imag * x_imag);
    imag_magnitude_ += std::fabs(a * x_imag) + std::fabs(a_imag * x);
    terms_ += 2;
  }

  /// alpha S + beta old, by the plain formula; `old` is not looked at where beta is 0.
  Reference real(std::complex<double> alpha, std::complex<double> beta,
                 std::complex<double> old) const {
    if constexpr (!kIsComplex<T>) {
      return combine({{alpha.real(), &real_, real_magnitude_}, {0, nullptr, 0}}, beta.real(),
                     old.real(), 0, 0);
    }
    return combine(
        {{alpha.real(), &real_, real_magnitude_}, {-alpha.imag(), &imag_, imag_magnitude_}},
        beta.real(), old.real(), -beta.imag(), old.imag(), beta == 0.0);
  }
  Reference imag(std::complex<double> alpha, std::complex<double> beta,
                 std::complex<double> old) const {
    return combine(
        {{alpha.real(), &imag_, imag_magnitude_}, {alpha.imag(), &real_, real_magnitude_}},
        beta.real(), old.imag(), beta.imag(), old.real(), beta == 0.0);
  }

 private:
  struct Part {
    double scale;
    const ExactSum* sum;
    double magnitude;
  };
  struct Parts {
    Part first;
    Part second;
  };
  Reference combine(const Parts& parts, double beta, double old, double beta2, double old2,
                    bool beta_is_zero = false) const {
    ExactSum total;
    Reference reference{.terms = terms_};
    for (const Part* part : {&parts.first, &parts.second}) {
      if (part->sum == nullptr) continue;
      total.add(part->scale, part->sum->high());
      total.add(part->scale, part->sum->low());
      reference.magnitude += std::fabs(part->scale) * part->magnitude;
      reference.plain += part->scale * part->sum->plain();
    }
    const bool adds = kIsComplex<T> ? !beta_is_zero : beta != 0;
    if (adds) {
      reference.scaled = total.value();
      total.add(beta, old);
      reference.magnitude += std::fabs(beta * old);
      double added = beta * old;
      if constexpr (kIsComplex<T>) {
        total.add(beta2, old2);
        reference.magnitude += std::fabs(beta2 * old2);
        added += beta2 * old2;
      }
      reference.plain += added;
    }
    reference.high = total.high();
    reference.low = total.low();
    return reference;
  }

  ExactSum real_;
  ExactSum imag_;
  double real_magnitude_ = 0;
  double imag_magnitude_ = 0;
  std::int64_t terms_ = 0;
};

/// |computed - exact| may be so much: to all orders, by gamma_m = m u / (1 - m u).
inline double allowed_error(const Bound& bound, const Reference& reference) {
  if (reference.magnitude == 0) return 0;
  const double mu = static_cast<double>(reference.terms + bound.extra_terms) * bound.sum_roundoff;
  const double sum = (mu / (1 - mu) + bound.factor_error) * reference.magnitude;
  const double exact = std::fabs(reference.high + reference.low);
  const double before = bound.rounds_twice ? std::fabs(reference.scaled) + sum : 0;
  return sum + bound.result_roundoff * (exact + before + sum) + bound.half_subnormal;
}

/// The error over what is allowed: right up to 1, Inf where there is nothing to compare. An
/// infinity is right where something within the bound is rounded to it.
template <class TOut>
double share_of_bound(const Bound& bound, const Reference& reference, double computed) {
  using Real = Component<TOut>;
  const auto rounded = [](double value) {
    return static_cast<double>(testing::element<Real>(value));
  };
  if (!std::isfinite(reference.plain))
    return testing::same_number(computed, reference.plain) ? 0 : kInfinity;
  const double exact = reference.high + reference.low;
  if (bound.exact) return computed == rounded(exact) ? 0 : kInfinity;
  const double allowed = allowed_error(bound, reference);
  if (std::isinf(computed))
    return computed == rounded(exact + std::copysign(allowed, computed)) ? 0 : kInfinity;
  const double error = std::fabs((computed - reference.high) - reference.low);
  if (allowed == 0) return error == 0 ? 0 : kInfinity;
  return std::isnan(error) ? kInfinity : error / allowed;
}

}  // namespace lanky::random_cases
