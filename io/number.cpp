#include "io/number.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

namespace lanky::inline v1::io {

namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

/// True where a well-formed decimal number is below 1 in magnitude.
bool below_one(std::string_view number) {
  constexpr std::int64_t kHuge = 1'000'000'000;
  std::int64_t magnitude = 0;  // decimal digits before the point of the significand, less zeros
  bool point = false;
  bool significant = false;
  std::size_t i = number.starts_with('-') ? 1 : 0;
  for (; i < number.size() && (is_digit(number[i]) || number[i] == '.'); ++i) {
    if (number[i] == '.') {
      point = true;
      continue;
    }
    significant = significant || number[i] != '0';
    if (significant && !point) ++magnitude;
    if (!significant && point) --magnitude;
  }
  std::int64_t exponent = 0;
  bool negative = false;
  for (; i < number.size(); ++i) {
    negative = negative || number[i] == '-';
    if (is_digit(number[i])) exponent = std::min(kHuge, exponent * 10 + (number[i] - '0'));
  }
  return magnitude + (negative ? -exponent : exponent) <= 0;
}

/// from_chars, but 0 with the number's sign where the magnitude is too small for a double.
std::from_chars_result parse_double(const char* begin, const char* end, double& value) {
  std::from_chars_result result = std::from_chars(begin, end, value);
  if (result.ec == std::errc::result_out_of_range && below_one({begin, result.ptr})) {
    value = *begin == '-' ? -0.0 : 0.0;
    result.ec = {};
  }
  return result;
}

template <class F>
std::from_chars_result parse_decimal(const char* begin, const char* end, F& value) {
  if constexpr (std::is_same_v<F, double>) {
    return parse_double(begin, end, value);
  } else {
    // Straight to float: through double, 7.038531e-26 and its like would be rounded twice.
    std::from_chars_result result = std::from_chars(begin, end, value);
    if (result.ec == std::errc::result_out_of_range) {
      double wide = 0;
      result = parse_double(begin, end, wide);
      value = static_cast<F>(wide);
    }
    return result;
  }
}

bool is_fortran_exponent(const char* p, const char* end) {
  return p != end && (*p == 'd' || *p == 'D') && p + 1 != end &&
         (is_digit(p[1]) || p[1] == '+' || p[1] == '-');
}

}  // namespace

template <class F>
std::from_chars_result parse_number(const char* begin, const char* end, F& value) {
  const char* first = begin;
  if (first != end && *first == '+') {
    ++first;
    if (first != end && *first == '-') return {begin, std::errc::invalid_argument};
  }
  const std::from_chars_result result = parse_decimal(first, end, value);
  if (result.ec == std::errc::invalid_argument || !is_fortran_exponent(result.ptr, end)) {
    return result;
  }
  const char* stop = std::find_if(result.ptr + 2, end, [](char c) { return !is_digit(c); });
  std::string text(first, stop);
  text[static_cast<std::size_t>(result.ptr - first)] = 'e';
  const std::from_chars_result whole = parse_decimal(text.data(), text.data() + text.size(), value);
  return {first + (whole.ptr - text.data()), whole.ec};
}

template std::from_chars_result parse_number(const char*, const char*, double&);
template std::from_chars_result parse_number(const char*, const char*, float&);

}  // namespace lanky::inline v1::io
