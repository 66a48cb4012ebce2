// Dense products off the grid: sizes, transposes, layouts, scalars and types drawn at random, so
// that what happens between the grid's points is measured too.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "bench/cases/case.hpp"

namespace lanky::bench {

/// `count` cases that follow from the seed alone; every family about as often, and a few products
/// without a skinny side. The long operand takes 10 to 500 MB, one in six times 100 kB to 10 MB.
/// Skinny sides are 1 to 128: small ones, any, and neighbours of the sizes that kernels are cut to.
/// Half of the long sides are odd or even as they come, half round numbers.
std::vector<GemmCase> scattered_grid(std::uint64_t seed, std::size_t count);

}  // namespace lanky::bench
