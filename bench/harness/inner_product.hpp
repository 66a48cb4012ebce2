// Inner products without error to speak of, on the host and on a GPU (compiled without contraction
// to fused multiply-adds, which would spoil the splitting).
#pragma once

#include <cstdint>

namespace lanky::bench {

/// What one element of a result should be: an inner product to about twice fp64's precision.
struct Reference {
  double value = 0;
  double magnitude = 0;    // sum of |a| |x|
  std::int64_t terms = 0;  // of the sum
  double rounded = 0;      // part of the value that a vendor may round to the result's type first
};

/// Sums products as Dot2 does (Ogita, Rump, Oishi, SIAM J. Sci. Comput. 2005).
class InnerProduct {
 public:
  constexpr void add(double a, double x) noexcept {
    const double product = a * x;
    const double a_high = high_half(a);
    const double x_high = high_half(x);
    const double a_low = a - a_high;
    const double x_low = x - x_high;
    correction_ +=
        a_low * x_low - (((product - a_high * x_high) - a_low * x_high) - a_high * x_low);
    add_exactly(product);
    magnitude_ += product < 0 ? -product : product;
    ++terms_;
  }
  /// Adds another sum.
  constexpr void add(const InnerProduct& other) noexcept {
    add_exactly(other.sum_);
    correction_ += other.correction_;
    magnitude_ += other.magnitude_;
    terms_ += other.terms_;
  }
  constexpr Reference result() const noexcept {
    return {sum_ + correction_, magnitude_, terms_, 0};
  }

 private:
  /// The high half of a's significand (Veltkamp): products of halves are exact in double.
  static constexpr double high_half(double a) noexcept {
    const double scaled = 134217729.0 * a;  // 2^27 + 1
    return scaled - (scaled - a);
  }
  constexpr void add_exactly(double term) noexcept {
    const double sum = sum_ + term;
    const double part = sum - sum_;
    correction_ += (sum_ - (sum - part)) + (term - part);
    sum_ = sum;
  }

  double sum_ = 0;
  double correction_ = 0;
  double magnitude_ = 0;
  std::int64_t terms_ = 0;
};

}  // namespace lanky::bench
