// Is a result right? Exactly, for integer data; within a bound on each element, for random data.
#pragma once

#include <cstdint>
#include <lanky/dtype.hpp>
#include <lanky/operation.hpp>
#include <span>
#include <string>

#include "bench/inner_product.hpp"

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

/// The judgement on a result. error and bound are those of the element that comes closest to its
/// bound, or lies farthest beyond it: error = |y - ref| / sum|a||x|, and
/// bound = (terms + 2) sum_roundoff + factor_error + result_roundoff (|ref| + rounded) / sum|a||x|
/// of the ErrorModel (underflow adds half of the smallest subnormal of the result). Where ref may
/// round to infinity, infinity is right.
struct Verdict {
  bool right = true;
  double error = 0;
  double bound = 0;
  std::string message;  // names the first wrong element
};

/// once: all of an element is rounded at its end. once_or_twice: Reference::rounded may be rounded
/// before the rest is added, as cuBLAS does.
enum class Roundings : std::uint8_t { once, once_or_twice };

/// Exact: computed[i] must be expected[i].value, rounded to `dtype` (computed holds elements of
/// that type, widened). Bits decide but for the sign of zero.
Verdict check_exact(DType dtype, std::span<const double> computed,
                    std::span<const Reference> expected, Roundings roundings = Roundings::once);

/// Bounded: see Verdict. A NaN, and anything but 0 for an empty sum, is wrong.
Verdict check_bound(const ErrorModel& model, std::span<const double> computed,
                    std::span<const Reference> expected);

}  // namespace lanky::bench
