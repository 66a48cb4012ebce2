// Points in blobs, from (seed, row, column) alone: integers throughout, so that every machine makes
// the same bits, and a GPU needs no copy of them from the host.
#pragma once

#include <cstdint>

#include "examples/support/uniform.hpp"

namespace lanky::examples {

struct Blobs {
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  std::int64_t clusters = 16;
  std::int64_t spread = 8;  // middles lie within 4 * spread of 0 in each coordinate
  std::uint64_t seed = 1;
};

/// The blob of a row, drawn anew for each.
constexpr std::int64_t blob_of(const Blobs& blobs, std::int64_t row) {
  const std::uint64_t hash = mix(mix(blobs.seed) + static_cast<std::uint64_t>(row));
  return static_cast<std::int64_t>(hash % static_cast<std::uint64_t>(blobs.clusters));
}

/// Coordinate `col` of a row of `blob`: the middle, and noise in (-4, 4) that is a sum of four
/// uniform numbers, of standard deviation 1.15.
constexpr double blob_value(const Blobs& blobs, std::int64_t blob, std::int64_t row,
                            std::int64_t col) {
  const auto middle_index = static_cast<std::uint64_t>(blob * blobs.cols + col);
  const auto index = static_cast<std::uint64_t>(row * blobs.cols + col);
  const std::uint64_t middle_hash = mix(mix(blobs.seed + 1) + middle_index);
  const std::uint64_t hash = mix(mix(blobs.seed + 2) + index);
  const std::int64_t middle = static_cast<std::int64_t>(middle_hash >> 46) - (1 << 17);
  const auto uniform_sum = static_cast<std::int64_t>((hash & 0xffff) + (hash >> 16 & 0xffff) +
                                                     (hash >> 32 & 0xffff) + (hash >> 48));
  return static_cast<double>(blobs.spread * middle + uniform_sum - 131070) * 0x1p-15;
}

}  // namespace lanky::examples
