// Is a result right? Exactly, for integer data; within a bound on each element, for random data.
#pragma once

#include <cstdint>
#include <lanky/dtype.hpp>
#include <span>
#include <string>

namespace lanky::bench {

/// What one element of a result should be: an inner product to about twice fp64's precision.
struct Reference {
  double value = 0;
  double magnitude = 0;    // sum of |a| |x|
  std::int64_t terms = 0;  // of the sum
  double rounded = 0;  // |part of the sum| that a contestant may round to the result's type first
};

/// Sums products without error to speak of (Dot2: Ogita, Rump, Oishi, SIAM J. Sci. Comput. 2005).
class InnerProduct {
 public:
  void add(double a, double x) noexcept;
  Reference result() const noexcept { return {sum_ + correction_, magnitude_, terms_, 0}; }

 private:
  double sum_ = 0;
  double correction_ = 0;
  double magnitude_ = 0;
  std::int64_t terms_ = 0;
};

/// The judgement on a result. error and bound are those of the element that comes closest to its
/// bound, or lies farthest beyond it: error = |y - ref| / sum|a||x|, and
/// bound = (terms + 2) u_sum + u_result (|ref| + rounded) / sum|a||x|, u the unit roundoffs of the
/// type of summation and of the result (underflow adds half of the smallest subnormal of the
/// result).
struct Verdict {
  bool right = true;
  double error = 0;
  double bound = 0;
  std::string message;  // names the first wrong element
};

/// Exact: computed[i] must be expected[i].value, rounded once to `dtype` (computed holds elements
/// of that type, widened). Bits decide but for the sign of zero.
Verdict check_exact(DType dtype, std::span<const double> computed,
                    std::span<const Reference> expected);

/// Bounded: see Verdict. A NaN, and anything but 0 for an empty sum, is wrong.
Verdict check_bound(DType dtype, std::span<const double> computed,
                    std::span<const Reference> expected);

}  // namespace lanky::bench
