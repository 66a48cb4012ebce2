#include "bench/report/number_text.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace lanky::report {

namespace {

constexpr std::size_t kLongest = 400;  // digits of the largest double, written out

}  // namespace

std::string fixed(double value, int decimals) {
  char text[kLongest];
  const auto end = std::to_chars(text, text + kLongest, value, std::chars_format::fixed, decimals);
  return {text, end.ptr};
}

std::string significant(double value, int digits) {
  if (value == 0 || !std::isfinite(value)) return fixed(value, 0);
  const int leading = static_cast<int>(std::floor(std::log10(std::abs(value))));
  return fixed(value, std::clamp(digits - 1 - leading, 0, 12));
}

std::string shortest(double value) {
  char text[kLongest];
  return {text, std::to_chars(text, text + kLongest, value).ptr};
}

std::string grouped(double value) {
  std::string text = fixed(std::round(value), 0);
  if (text.size() <= 4) return text;
  for (std::size_t place = text.size(); place > 3;) {
    place -= 3;
    text.insert(place, "\u2009");
  }
  return text;
}

std::string byte_text(double bytes) {
  if (bytes < 1e3) return fixed(bytes, 0) + " B";
  const char* unit = " GB";
  double scale = 1e9;
  if (bytes < 1e6) {
    unit = " kB";
    scale = 1e3;
  } else if (bytes < 1e9) {
    unit = " MB";
    scale = 1e6;
  }
  return significant(bytes / scale, 3) + unit;
}

std::string time_text(double microseconds) {
  if (microseconds < 1e4) return significant(microseconds, 4) + " µs";
  if (microseconds < 1e7) return significant(microseconds / 1e3, 4) + " ms";
  return significant(microseconds / 1e6, 4) + " s";
}

std::string percent(double share, int decimals) {
  return fixed(100 * share, decimals) + " %";
}

std::string break_even_text(double products) {
  if (products <= 0) return "at once";
  if (!std::isfinite(products)) return "never";
  return grouped(std::ceil(products));
}

}  // namespace lanky::report
