#include "bench/verify.hpp"

#include <cmath>
#include <lanky/dispatch.hpp>
#include <lanky/half.hpp>
#include <limits>
#include <sstream>

namespace lanky::bench {

namespace {

std::string describe(std::size_t index, double computed, double expected, const char* what) {
  std::ostringstream text;
  text.imbue(std::locale::classic());
  text.precision(17);
  text << "element " << index << " is " << computed << ", " << what << " " << expected;
  return text.str();
}

double smallest_subnormal(DType dtype) {
  switch (dtype) {
    case DType::f16:
      return 0x1p-24;
    case DType::bf16:
      return 0x1p-133;
    case DType::f32:
      return static_cast<double>(std::numeric_limits<float>::denorm_min());
    default:
      return std::numeric_limits<double>::denorm_min();
  }
}

double round_once(DType dtype, double value) {
  return dispatch_real(dtype, [value]<class T>(std::type_identity<T>) {
    return static_cast<double>(static_cast<T>(value));
  });
}

/// Whether an infinite result is the rounding of some value that is allowed.
bool overflows_rightly(DType dtype, double computed, double expected, double allowed) {
  if (!std::isinf(computed)) return false;
  return computed == round_once(dtype, expected + std::copysign(allowed, computed));
}

}  // namespace

ErrorModel ErrorModel::ieee(DType dtype) {
  if (dtype == DType::f64) return {dtype, 0x1p-53, 0, 0};
  return {dtype, 0x1p-24, 0, unit_roundoff(dtype)};
}

ErrorModel ErrorModel::of(Math math, DType dtype, double factor_roundoff) {
  ErrorModel model = ieee(dtype);
  if (math == Math::tf32)
    model.factor_error = 2 * factor_roundoff + factor_roundoff * factor_roundoff;
  if (math == Math::tf32x3) {
    // Three sums in the place of one, and what hi * hi + hi * lo + lo * hi leaves out of the
    // product: lo * lo and the rounding of each lo, 2^-22 each.
    model.sum_roundoff *= 3;
    model.factor_error = 3 * 0x1p-22;
  }
  return model;
}

Verdict check_exact(DType dtype, std::span<const double> computed,
                    std::span<const Reference> expected, Roundings roundings) {
  Verdict verdict;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const Reference& reference = expected[i];
    const double right = round_once(dtype, reference.value);
    if (computed[i] == right) continue;
    const double twice = round_once(
        dtype, round_once(dtype, reference.rounded) + (reference.value - reference.rounded));
    if (roundings == Roundings::once_or_twice && computed[i] == twice) continue;
    return {false, std::fabs(computed[i] - right), 0,
            describe(i, computed[i], right, "on integer data exactly")};
  }
  return verdict;
}

Verdict check_bound(const ErrorModel& model, std::span<const double> computed,
                    std::span<const Reference> expected) {
  const double underflow = smallest_subnormal(model.dtype) / 2;
  Verdict verdict;
  double worst = -1;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const Reference& reference = expected[i];
    const double allowed =
        reference.magnitude == 0
            ? 0
            : (static_cast<double>(reference.terms + 2) * model.sum_roundoff + model.factor_error) *
                      reference.magnitude +
                  model.result_roundoff *
                      (std::fabs(reference.value) + std::fabs(reference.rounded)) +
                  underflow;
    if (overflows_rightly(model.dtype, computed[i], reference.value, allowed)) continue;
    const double error = std::fabs(computed[i] - reference.value);
    const bool right = error <= allowed;  // false for NaN
    const double ratio =
        right ? (allowed > 0 ? error / allowed : 0) : std::numeric_limits<double>::infinity();
    if (!right && verdict.right) {
      verdict.right = false;
      verdict.message = describe(i, computed[i], reference.value, "within its bound of");
    } else if (ratio <= worst) {
      continue;
    }
    worst = ratio;
    const double scale = reference.magnitude > 0 ? reference.magnitude : 1;
    verdict.error = error / scale;
    verdict.bound = allowed / scale;
  }
  return verdict;
}

}  // namespace lanky::bench
