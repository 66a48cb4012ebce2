// Is a result right? Exactly, for integer data; within a bound on each element, for random data.
#pragma once

#include <cstdint>
#include <lanky/dtype.hpp>
#include <optional>
#include <span>
#include <string>

#include "bench/harness/judgement.hpp"

namespace lanky::bench {

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
  /// Of all bits of the result, where that is computed: see digest_term().
  std::optional<std::uint64_t> digest{};
};

/// once: all of an element is rounded at its end. once_or_twice: Reference::rounded may be rounded
/// before the rest is added, as cuBLAS does.
enum class Roundings : std::uint8_t { once, once_or_twice };

/// Exact: computed[i] must be expected[i].value, rounded to `dtype` (computed holds elements of
/// that type, widened). Bits decide but for the sign of zero. `first` is the number of computed[0]
/// in messages.
Verdict check_exact(DType dtype, std::span<const double> computed,
                    std::span<const Reference> expected, Roundings roundings = Roundings::once,
                    std::int64_t first = 0);

/// Bounded: see Verdict. A NaN, and anything but 0 for an empty sum, is wrong.
Verdict check_bound(const ErrorModel& model, std::span<const double> computed,
                    std::span<const Reference> expected, std::int64_t first = 0);

}  // namespace lanky::bench
