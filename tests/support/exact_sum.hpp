// Sums of products without an error to speak of: what products are judged by.
#pragma once

#include <cmath>

namespace lanky::testing {

/// A sum of products in double, compensated (Ogita, Rump and Oishi 2005, Dot2).
class ExactSum {
 public:
  void add(double a, double b) {
    const double product = a * b;
    const double next = sum_ + product;
    const double back = next - sum_;
    correction_ += std::fma(a, b, -product) + ((sum_ - (next - back)) + (product - back));
    sum_ = next;
    plain_ += product;
  }
  double value() const { return std::isfinite(plain_) ? sum_ + correction_ : plain_; }
  /// What is to be added to high() for the sum in twice the precision, where that is finite.
  double high() const { return sum_; }
  double low() const { return correction_; }
  /// The sum as double adds it up: NaN and Inf where IEEE says, whatever the order.
  double plain() const { return plain_; }

 private:
  double sum_ = 0.0;
  double plain_ = 0.0;
  double correction_ = 0.0;
};

/// Equal numbers, or both NaN.
inline bool same_number(double a, double b) {
  return a == b || (std::isnan(a) && std::isnan(b));
}

}  // namespace lanky::testing
