// Numbers as text, whatever the locale.
#pragma once

#include <concepts>
#include <string>

namespace lanky::report {

/// "3.10"
std::string fixed(double value, int decimals);
/// So many digits that count, without an exponent: 107.2, 4.645, 15513.
std::string significant(double value, int digits);
/// The fewest digits that tell the value: 0.5.
std::string shortest(double value);
/// Of a whole number, in groups of three from 10,000 on, thin spaces (U+2009) between them.
std::string grouped(double value);
inline std::string grouped(std::integral auto count) {
  return grouped(static_cast<double>(count));
}
/// "12.3 MB"
std::string byte_text(double bytes);
/// "4.455 µs", "12.3 ms"
std::string time_text(double microseconds);
/// 98.4 % of a share of .984.
std::string percent(double share, int decimals);
/// Of a number of products until lanky is ahead: "at once", "never", "54".
std::string break_even_text(double products);

}  // namespace lanky::report
