#include "bench/report/axis.hpp"

#include <algorithm>
#include <cmath>

#include "bench/report/number_text.hpp"

namespace lanky::report {

namespace {

constexpr double kLeastSpan = 2;      // high over low
constexpr double kMargin = 0.04;      // of the axis, on either side
constexpr double kSmallest = 1e-150;  // and the ratio of both is a number
constexpr double kLargest = 1e150;

std::string superscript(int exponent) {
  static constexpr const char* kDigits[] = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
  std::string text = exponent < 0 ? "⁻" : "";
  for (const char digit : std::to_string(std::abs(exponent)))
    text += kDigits[digit - '0'];
  return text;
}

/// multiple * 10^exponent, rounded once, so that its shortest decimal is the one meant.
double scaled(int multiple, int exponent) {
  const double power = std::pow(10.0, std::abs(exponent));
  return exponent < 0 ? multiple / power : multiple * power;
}

/// Of multiple * 10^exponent: "0.05", "20", or as powers "10⁶", "2·10⁶".
std::string label_of(int multiple, int exponent, bool powers) {
  if (!powers) return shortest(scaled(multiple, exponent));
  const std::string power = "10" + superscript(exponent);
  return multiple == 1 ? power : std::to_string(multiple) + "·" + power;
}

/// The multiples of a power of ten that are labelled on an axis of so many decades.
std::vector<int> labelled(double decades) {
  if (decades > 2.6) return {1};
  if (decades > 1.6) return {1, 3};
  if (decades > 0.8) return {1, 2, 5};
  return {1, 2, 3, 4, 5, 6, 8};
}

/// Between ticks of whole numbers up to `high`: 1, 2 or 5 times a power of ten, for 5 to 10 ticks.
double count_step(double high) {
  constexpr double kMostTicks = 10;
  const double power = std::pow(10.0, std::floor(std::log10(std::max(1.0, high / kMostTicks))));
  for (const double multiple : {1.0, 2.0, 5.0}) {
    if (high <= multiple * power * kMostTicks) return multiple * power;
  }
  return 10 * power;
}

}  // namespace

Axis Axis::logarithmic(double low, double high) {
  low = std::clamp(low, kSmallest, kLargest);
  high = std::clamp(high, kSmallest, kLargest);
  if (high < low * kLeastSpan) {
    const double middle = std::sqrt(low * std::max(high, low));
    low = middle / std::sqrt(kLeastSpan);
    high = middle * std::sqrt(kLeastSpan);
  }
  return {Scale::logarithmic, low, high};
}

Axis Axis::share() {
  return {Scale::share, 0, 1};
}

Axis Axis::count(double high) {
  return {Scale::count, 0, std::clamp(high, 1.0, kLargest)};
}

void Axis::place(double from, double to) {
  from_ = from;
  to_ = to;
}

double Axis::at(double value) const {
  value = std::clamp(value, low_, high_);
  const double part = scale_ == Scale::logarithmic ? std::log(value / low_) / std::log(high_ / low_)
                                                   : (value - low_) / (high_ - low_);
  return from_ + part * (to_ - from_);
}

std::vector<Tick> Axis::ticks() const {
  std::vector<Tick> found;
  if (scale_ == Scale::share) {
    for (int fifth = 0; fifth <= 5; ++fifth)
      found.push_back({fifth / 5.0, percent(fifth / 5.0, 0)});
    return found;
  }
  if (scale_ == Scale::count) {
    const double step = count_step(high_);
    for (double value = 0; value <= high_; value += step)
      found.push_back({value, grouped(value)});
    return found;
  }
  const double decades = std::log10(high_ / low_);
  const std::vector<int> multiples = labelled(decades);
  const int step = std::max(1, static_cast<int>(std::ceil(decades / 9)));
  const bool powers = high_ >= 2e4 || low_ < 1e-4;
  const int first = static_cast<int>(std::floor(std::log10(low_)));
  const int last = static_cast<int>(std::floor(std::log10(high_)));
  for (int exponent = first; exponent <= last; ++exponent) {
    if (exponent % step != 0) continue;
    for (const int multiple : multiples) {
      const double value = scaled(multiple, exponent);
      if (holds(value)) found.push_back({value, label_of(multiple, exponent, powers)});
    }
  }
  return found;
}

void Range::add(double value) {
  if (!std::isfinite(value) || value <= 0) return;
  value = std::clamp(value, kSmallest, kLargest);
  low_ = std::min(low_, value);
  high_ = std::max(high_, value);
}

Axis Range::axis() const {
  if (empty()) return Axis::logarithmic(1, 10);
  const double margin = std::pow(std::max(high_ / low_, kLeastSpan), kMargin);
  return Axis::logarithmic(low_ / margin, high_ * margin);
}

}  // namespace lanky::report
