// The report's figures for other programs, and for a README.
#pragma once

#include <string>

#include "bench/report/results.hpp"

namespace lanky::report {

/// RFC 4180, one row a case and type, measured or not. Times in microseconds; what is not known is
/// empty; break_even is 0 for at once and inf for never.
std::string csv_table(const Results& results);

/// Of each product a table by class and type, and the worst ten.
std::string markdown_tables(const Results& results);

}  // namespace lanky::report
