#include "bench/verify.hpp"

#include <cmath>
#include <lanky/dispatch.hpp>
#include <lanky/half.hpp>
#include <limits>
#include <sstream>

namespace lanky::bench {

namespace {

/// The high half of a's significand (Veltkamp): products of halves are exact in double.
double high_half(double a) noexcept {
  const double scaled = 134217729.0 * a;  // 2^27 + 1
  return scaled - (scaled - a);
}

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

}  // namespace

void InnerProduct::add(double a, double x) noexcept {
  const double product = a * x;
  const double a_high = high_half(a);
  const double x_high = high_half(x);
  const double a_low = a - a_high;
  const double x_low = x - x_high;
  const double product_error =
      a_low * x_low - (((product - a_high * x_high) - a_low * x_high) - a_high * x_low);
  const double sum = sum_ + product;
  const double part = sum - sum_;
  const double sum_error = (sum_ - (sum - part)) + (product - part);
  sum_ = sum;
  correction_ += product_error + sum_error;
  magnitude_ += std::fabs(product);
  ++terms_;
}

Verdict check_exact(DType dtype, std::span<const double> computed,
                    std::span<const Reference> expected) {
  Verdict verdict;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const double right = round_once(dtype, expected[i].value);
    if (computed[i] == right) continue;
    return {false, std::fabs(computed[i] - right), 0,
            describe(i, computed[i], right, "on integer data exactly")};
  }
  return verdict;
}

Verdict check_bound(DType dtype, std::span<const double> computed,
                    std::span<const Reference> expected) {
  const double sum_roundoff = dtype == DType::f64 ? 0x1p-53 : 0x1p-24;
  const double result_roundoff = dtype == DType::f64 ? 0 : unit_roundoff(dtype);
  const double underflow = smallest_subnormal(dtype) / 2;
  Verdict verdict;
  double worst = -1;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const Reference& reference = expected[i];
    const double error = std::fabs(computed[i] - reference.value);
    const double allowed =
        reference.magnitude == 0
            ? 0
            : static_cast<double>(reference.terms + 2) * sum_roundoff * reference.magnitude +
                  result_roundoff * (std::fabs(reference.value) + reference.rounded) + underflow;
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
