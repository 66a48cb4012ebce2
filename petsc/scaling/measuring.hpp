// What all programs that measure beside PETSc have in common.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <ctime>
#include <string>
#include <vector>

namespace lanky_scaling {

/// The clock of the machine, the same in all processes.
inline double now_us() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double, std::micro>(now).count();
}

inline double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

inline std::string utc() {
  const std::time_t now = std::time(nullptr);
  char text[32] = "";
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", std::gmtime(&now));
  return text;
}

/// What the environment says of the sources, for builds that do not know their commit.
inline std::string commit() {
  const char* given = std::getenv("LANKY_COMMIT");
  return given != nullptr ? given : "unknown";
}

}  // namespace lanky_scaling
