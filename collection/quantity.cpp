#include "collection/quantity.hpp"

#include <charconv>
#include <cmath>

namespace lanky::collection {

namespace {

/// 0 for what is no suffix.
double scale_of(std::string_view suffix) {
  if (suffix.empty()) return 1;
  if (suffix.size() > 1) return 0;
  switch (suffix.front()) {
    case 'k':
    case 'K':
      return 1e3;
    case 'm':
    case 'M':
      return 1e6;
    case 'g':
    case 'G':
      return 1e9;
    case 't':
    case 'T':
      return 1e12;
    default:
      return 0;
  }
}

}  // namespace

std::optional<double> parse_quantity(std::string_view text) {
  double number = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc()) return std::nullopt;
  const double scale = scale_of({stop, static_cast<std::size_t>(end - stop)});
  if (scale == 0 || !std::isfinite(number)) return std::nullopt;
  return number * scale;
}

}  // namespace lanky::collection
