// Whether a result is right, without anything that computed it.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "examples/kmeans/kmeans.hpp"

namespace lanky::examples {

/// Coordinate (row, column) of the points, on the host.
using Coordinate = std::function<double(std::int64_t, std::int64_t)>;

struct Verdict {
  std::string fault;         // ""; or what is wrong
  double inertia_slack = 0;  // what rounding may change of an inertia
};

/// Holds the labels and distances of up to 200 points all over the n x d data against sums of
/// (x - c)^2 in double, and looks whether the inertia ever rises, as it does where centers are not
/// the means of their points. Both within what rounding of |x|^2 - 2 x.c + |c|^2 allows.
template <class T>
Verdict judge(const KMeansResult<T>& result, std::int64_t n, std::int64_t d,
              const Coordinate& coordinate);

}  // namespace lanky::examples
