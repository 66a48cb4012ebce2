// What the elements of a dense product should be.
#pragma once

#include <lanky/stream.hpp>
#include <span>
#include <vector>

#include "bench/cases/dense_data.hpp"

namespace lanky::bench {

/// One reference for each place, computed where the stream is from the data's definition alone: no
/// operand is read.
std::vector<Reference> references(const Stream& stream, const DenseData& data,
                                  std::span<const Place> places);

}  // namespace lanky::bench
