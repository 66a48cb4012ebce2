// Sizes and times as people read them.
#pragma once

#include <cstdint>
#include <string>

namespace lanky::cli {

/// "22.8 MB"
std::string bytes_text(std::int64_t bytes);

/// "4:07", "1:12:30"
std::string clock_text(double seconds);

}  // namespace lanky::cli
