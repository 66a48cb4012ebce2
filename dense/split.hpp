// How a reduction is cut into chunks that are summed side by side.
#pragma once

#include <algorithm>
#include <cstdint>

#include "core/ceil_div.hpp"
#include "dense/problem.hpp"

namespace lanky::dense {

/// The reduction in `count` chunks of `length` (the last may be shorter), summed one after the
/// other by a second pass where count > 1.
struct Split {
  std::int64_t count = 1;
  std::int64_t length = 0;

  friend bool operator==(const Split&, const Split&) = default;
};

/// Enough chunks that `tiles` x count reaches `wanted`, each a multiple of `step` and at least
/// `min_length` long.
constexpr Split choose_split(std::int64_t tiles, std::int64_t k, std::int64_t wanted,
                             std::int64_t step, std::int64_t min_length) noexcept {
  if (k == 0 || tiles == 0) return {1, k};
  const std::int64_t chunks = std::max<std::int64_t>(1, ceil_div(wanted, tiles));
  const std::int64_t length =
      step * ceil_div(std::max(ceil_div(k, chunks), std::min(min_length, k)), step);
  return {ceil_div(k, length), length};
}

/// Bytes of the partial sums [count][n][m] that a split leaves to its second pass.
constexpr std::int64_t partial_bytes(const Problem& problem, Split split,
                                     std::int64_t bytes_per_sum) noexcept {
  return split.count > 1 ? split.count * problem.m * problem.n * bytes_per_sum : 0;
}

}  // namespace lanky::dense
