// The family of a product, and the bound max(bytes / bandwidth, flops / peak): functions of the
// shape and the machine alone.
#pragma once

#include <algorithm>
#include <cstdint>
#include <lanky/dense.hpp>

#include "core/machine.hpp"
#include "dense/problem.hpp"

namespace lanky::dense {

/// Sides up to this length count as skinny.
inline constexpr std::int64_t kSkinny = 128;

/// What the product must move and compute, and how long that takes at best.
struct Bound {
  double bytes = 0;  // A, B and C once each, beta = 0
  double flops = 0;
  double bandwidth = 0;  // nominal, bytes per second
  double peak = 0;       // nominal, flops per second in the accumulation type
  double seconds() const noexcept { return std::max(bytes / bandwidth, flops / peak); }
  bool memory_bound() const noexcept { return bytes / bandwidth >= flops / peak; }
};

Bound predict(const Problem& problem, DType in, DType out, const Machine& machine);

}  // namespace lanky::dense
