// Division of counts, rounded up.
#pragma once

#include <cstdint>

namespace lanky {

constexpr std::int64_t ceil_div(std::int64_t a, std::int64_t b) {
  return a / b + (a % b != 0);
}

}  // namespace lanky
