// The version of lanky. CMake reads it from here.
#pragma once

#include <lanky/version.h>
#include <lanky/export.hpp>

namespace lanky::inline v1 {

inline constexpr char kVersion[] = "1.0.0";

/// LANKY_VERSION of the library that runs, which may be later than that of the headers.
LANKY_EXPORT int version() noexcept;

/// How the library that runs was built: "1.0.0 (commit ..., CUDA 13.0 for sm_90a, GCC 12.2.0)", on
/// one line.
LANKY_EXPORT const char* build_description() noexcept;

}  // namespace lanky::inline v1
