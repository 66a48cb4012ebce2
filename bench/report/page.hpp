// The report as one HTML file that needs nothing else (docs/report.md).
#pragma once

#include <string>

#include "bench/report/results.hpp"

namespace lanky::report {

std::string html_page(const Results& results);

/// Embedded by CMake: report.css and report.js.
const char* style_sheet() noexcept;
const char* script() noexcept;

}  // namespace lanky::report
