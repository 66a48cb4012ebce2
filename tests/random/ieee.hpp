// NaN, Inf, signed zeros, subnormals and overflow: a table of what each operation makes of them.
#pragma once

#include "random/options.hpp"

namespace lanky::random_cases {

/// The number of promises that were not kept, and of differences between a GPU and the CPU.
std::int64_t run_ieee(const Options& options);

}  // namespace lanky::random_cases
