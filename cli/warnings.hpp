// Faults that a file may have although it was read, for people.
#pragma once

#include <cstdio>
#include <string>
#include <vector>

namespace lanky::cli {

/// On standard error.
inline void print_warnings(const std::vector<std::string>& warnings) {
  for (const std::string& warning : warnings)
    std::fprintf(stderr, "lanky: warning: %s\n", warning.c_str());
}

}  // namespace lanky::cli
