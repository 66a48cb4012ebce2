// Fortran's formats for numbers of fixed width, such as (13I6), (1P,4D20.12) and (5F16.0): how many
// stand on a line, where each begins, and what its characters mean.
#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>

namespace lanky::inline v1::io {

struct FortranFormat {
  std::int64_t per_line = 1;
  std::int64_t width = 0;     // characters of one number
  bool integral = false;      // edit descriptor I
  std::int64_t decimals = 0;  // digits behind the point where a number shows none
  std::int64_t scale = 0;     // a number without exponent counts 10^-scale
};

/// One group of equal numbers, blanks and case aside: "(8I10)", "(1P4E20.12)", "(3(E24.16))".
/// Nothing for any other text.
std::optional<FortranFormat> parse_fortran_format(std::string_view text);

/// A number of `format` in `field`, which has no blanks around it; errors as parse_number(), and
/// invalid_argument where the field holds more or less. F: double or float, rounded to once.
template <class F>
std::errc parse_fortran_number(std::string_view field, const FortranFormat& format, F& value);

}  // namespace lanky::inline v1::io
