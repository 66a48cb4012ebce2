#include "cli/quantity_text.hpp"

#include <array>
#include <cmath>
#include <cstdio>

namespace lanky::cli {

std::string bytes_text(std::int64_t bytes) {
  static constexpr std::array<const char*, 5> kUnits = {"bytes", "kB", "MB", "GB", "TB"};
  auto value = static_cast<double>(bytes);
  std::size_t unit = 0;
  for (; value >= 1000 && unit + 1 < kUnits.size(); ++unit)
    value /= 1000;
  char text[40];
  std::snprintf(text, sizeof text, unit == 0 ? "%.0f %s" : "%.1f %s", value, kUnits[unit]);
  return text;
}

std::string clock_text(double seconds) {
  const auto whole = static_cast<long>(std::llround(seconds));
  char text[48];
  if (whole < 3600) {
    std::snprintf(text, sizeof text, "%ld:%02ld", whole / 60, whole % 60);
  } else {
    std::snprintf(text, sizeof text, "%ld:%02ld:%02ld", whole / 3600, whole / 60 % 60, whole % 60);
  }
  return text;
}

}  // namespace lanky::cli
