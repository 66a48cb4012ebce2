// The judgement on one element of a result, on the host and on a GPU (compiled without contraction,
// so that both come to the same).
#pragma once

#include <bit>
#include <cstdint>
#include <lanky/dtype.hpp>
#include <lanky/operation.hpp>
#include <limits>
#include <type_traits>

#include "bench/cases/random.hpp"
#include "bench/harness/inner_product.hpp"

namespace lanky::bench {

/// How far rounding may carry a result from the exact one.
struct ErrorModel {
  DType dtype = DType::f64;       // of the result, real
  double sum_roundoff = 0x1p-53;  // of each addition and multiplication
  double factor_error = 0;        // relative error of a product whose factors were rounded first
  double result_roundoff = 0;     // of the one rounding to `dtype`; 0 for f64: counted already

  /// Sums in f64 for f64, in f32 for all else; products exact up to their rounding.
  static ErrorModel ieee(DType dtype);
  /// The same for products of type f32 by tensor cores; `factor_roundoff` counts for tf32 alone.
  static ErrorModel of(Math math, DType dtype, double factor_roundoff);
};

constexpr double smallest_subnormal(DType dtype) {
  switch (dtype) {
    case DType::f16:
      return 0x1p-24;
    case DType::bf16:
      return 0x1p-133;
    case DType::f32:
      return 0x1p-149;
    default:
      return 0x1p-1074;
  }
}

constexpr double absolute(double value) {
  return value < 0 ? -value : value;
}

/// |computed - reference.value| may be so much.
constexpr double allowed_error(const ErrorModel& model, const Reference& reference) {
  if (reference.magnitude == 0) return 0;
  return (static_cast<double>(reference.terms + 2) * model.sum_roundoff + model.factor_error) *
             reference.magnitude +
         model.result_roundoff * (absolute(reference.value) + absolute(reference.rounded)) +
         smallest_subnormal(model.dtype) / 2;
}

constexpr double kWrong = std::numeric_limits<double>::infinity();

/// 0 where the element is the exact one rounded once, else kWrong. round(double): to the result's
/// type and back.
template <class Round>
constexpr double misses_exact(double computed, const Reference& reference, Round round) {
  return computed == round(reference.value) ? 0 : kWrong;
}

/// The error over what is allowed, at most 1; kWrong beyond, and for NaN. An infinity that is the
/// rounding of some value within the bound is right.
template <class Round>
constexpr double share_of_bound(const ErrorModel& model, double computed,
                                const Reference& reference, Round round) {
  const double allowed = allowed_error(model, reference);
  const bool infinite = absolute(computed) > std::numeric_limits<double>::max();
  if (infinite && computed == round(reference.value + (computed < 0 ? -allowed : allowed)))
    return 0;
  const double error = absolute(computed - reference.value);
  if (!(error <= allowed)) return kWrong;
  return allowed > 0 ? error / allowed : 0;
}

/// What element number `index` adds to the digest of a result, in any order of the elements and
/// wherever they stand. Results of equal digests have equal bits, but for one in 2^64.
template <class E>
constexpr std::uint64_t digest_term(std::int64_t index, E value) {
  using Bits = std::conditional_t<sizeof(E) == 8, std::uint64_t,
                                  std::conditional_t<sizeof(E) == 4, std::uint32_t, std::uint16_t>>;
  return mix(std::bit_cast<Bits>(value) ^ mix(static_cast<std::uint64_t>(index)));
}

}  // namespace lanky::bench
