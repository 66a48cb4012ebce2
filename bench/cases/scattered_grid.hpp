// Dense products off the grid: sizes, transposes, layouts, scalars and types drawn at random, so
// that what happens between the grid's points is measured too.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "bench/cases/case.hpp"

namespace lanky::bench {

/// What is drawn for a kind of device. The long operand takes `usual` to `most` bytes, one in six
/// times `least` to `usual`.
struct ScatteredScale {
  std::span<const GemmType> types;
  double least;
  double usual;
  double most;
};
/// All types, 100 kB, 10 MB, 500 MB.
ScatteredScale scale_of_gpus();
/// f64 and f32, 10 kB, 300 kB, 100 MB: from what one core does in a microsecond to beyond the
/// caches.
ScatteredScale scale_of_cpus();

/// `count` cases that follow from the seed and the scale alone; every family about as often, and a
/// few products without a skinny side. Skinny sides are 1 to 128: small ones, any, and neighbours
/// of the sizes that kernels are cut to. Half of the long sides are odd or even as they come, half
/// round numbers.
std::vector<GemmCase> scattered_grid(std::uint64_t seed, std::size_t count,
                                     const ScatteredScale& scale = scale_of_gpus());

}  // namespace lanky::bench
