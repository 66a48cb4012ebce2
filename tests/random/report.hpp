// What was tried and what failed, as a table and as JSON lines of kind "reliability".
#pragma once

#include <cstdint>

#include "random/options.hpp"
#include "random/tally.hpp"

namespace lanky::random_cases {

/// Prints the counts and appends them to the file that the options name. Returns how many failed.
std::int64_t tell(const Tally& tally, const Options& options, double seconds);

}  // namespace lanky::random_cases
