// The report as one HTML file that needs nothing else (docs/report.md).
#pragma once

#include <string>

#include "bench/report/results.hpp"

namespace lanky::report {

std::string html_page(const Results& results);

/// Embedded by CMake: report.css and report.js.
extern const char kStyle[];
extern const char kScript[];

}  // namespace lanky::report
