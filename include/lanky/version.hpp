// The library's version. CMake reads it from here, so it is written once.
#pragma once

#define LANKY_VERSION_MAJOR 0
#define LANKY_VERSION_MINOR 1
#define LANKY_VERSION_PATCH 0

namespace lanky {

inline constexpr char kVersion[] = "0.1.0";

}  // namespace lanky
