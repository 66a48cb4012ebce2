#include "bench/harness/verify.hpp"

#include <cmath>
#include <lanky/half.hpp>
#include <lanky/visit_dtype.hpp>
#include <limits>

#include "core/text.hpp"

namespace lanky::bench {

namespace {

/// "element 7 is nan, not 0.25", and how far from that it may be.
std::string describe(std::int64_t index, double computed, double expected, double allowed) {
  TextStream text;
  text.precision(17);
  text << "element " << index << " is " << computed << ", not " << expected;
  text.precision(3);
  if (allowed > 0) text << " to within " << allowed;
  return text.str();
}

double round_once(DType dtype, double value) {
  return visit_real_dtype(dtype, [value]<class T>(std::type_identity<T>) {
    return static_cast<double>(static_cast<T>(value));
  });
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
                    std::span<const Reference> expected, Roundings roundings, std::int64_t first) {
  const auto round = [dtype](double value) { return round_once(dtype, value); };
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const Reference& reference = expected[i];
    if (misses_exact(computed[i], reference, round) == 0) continue;
    const double twice = round(round(reference.rounded) + (reference.value - reference.rounded));
    if (roundings == Roundings::once_or_twice && computed[i] == twice) continue;
    const double right = round(reference.value);
    return {false, std::fabs(computed[i] - right), 0,
            describe(first + static_cast<std::int64_t>(i), computed[i], right, 0)};
  }
  return {};
}

Verdict check_bound(const ErrorModel& model, std::span<const double> computed,
                    std::span<const Reference> expected, std::int64_t first) {
  const auto round = [&](double value) { return round_once(model.dtype, value); };
  Verdict verdict;
  double worst = -1;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const Reference& reference = expected[i];
    const double share = share_of_bound(model, computed[i], reference, round);
    if (share <= worst) continue;
    worst = share;
    const double scale = reference.magnitude > 0 ? reference.magnitude : 1;
    const bool infinite = std::isinf(computed[i]) && share == 0;  // rightly so
    verdict.error = infinite ? 0 : std::fabs(computed[i] - reference.value) / scale;
    verdict.bound = infinite ? 0 : allowed_error(model, reference) / scale;
    verdict.right = share != kWrong;
    if (!verdict.right) {
      verdict.message = describe(first + static_cast<std::int64_t>(i), computed[i], reference.value,
                                 allowed_error(model, reference));
    }
  }
  return verdict;
}

}  // namespace lanky::bench
