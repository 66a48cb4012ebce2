#include "examples/kmeans/judge.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

namespace lanky::examples {

template <class T>
Verdict judge(const KMeansResult<T>& result, std::int64_t n, std::int64_t d,
              const Coordinate& coordinate) {
  constexpr std::int64_t kSamples = 200;
  const std::int64_t samples = std::min(n, kSamples);
  const double roundings =
      (16 + std::sqrt(static_cast<double>(d))) * std::numeric_limits<T>::epsilon();
  double allowed_sum = 0;
  std::vector<double> point(static_cast<std::size_t>(d));
  for (std::int64_t s = 0; s < samples; ++s) {
    const std::int64_t row = s * (n - 1) / std::max<std::int64_t>(1, samples - 1);
    double length = 0;
    for (std::int64_t j = 0; j < d; ++j) {
      const double x = coordinate(row, j);
      point[static_cast<std::size_t>(j)] = x;
      length += x * x;
    }
    double least = std::numeric_limits<double>::infinity();
    double own = least;
    double longest = 0;
    const auto clusters = static_cast<std::int64_t>(result.centers.size()) / d;
    for (std::int64_t c = 0; c < clusters; ++c) {
      double distance = 0;
      double center_length = 0;
      for (std::int64_t j = 0; j < d; ++j) {
        const double center = result.centers[static_cast<std::size_t>(c * d + j)];
        const double difference = point[static_cast<std::size_t>(j)] - center;
        distance += difference * difference;
        center_length += center * center;
      }
      least = std::min(least, distance);
      longest = std::max(longest, center_length);
      if (c == result.labels[static_cast<std::size_t>(row)]) own = distance;
    }
    const double allowed = roundings * (length + longest);
    allowed_sum += allowed;
    const double told = result.distances[static_cast<std::size_t>(row)];
    if (!(own - least <= allowed) || !(std::abs(told - own) <= allowed)) {
      return {.fault = "point " + std::to_string(row) + ": " + std::to_string(told) +
                       " from its center, " + std::to_string(own) + " in double, " +
                       std::to_string(least) + " from the nearest",
              .inertia_slack = 0};
    }
  }
  Verdict verdict;
  verdict.inertia_slack = allowed_sum * static_cast<double>(n) / static_cast<double>(samples);
  for (std::size_t i = 1; i < result.inertia.size(); ++i) {
    if (!(result.inertia[i] <= result.inertia[i - 1] + verdict.inertia_slack)) {
      verdict.fault = "iteration " + std::to_string(i) + ": the inertia rose from " +
                      std::to_string(result.inertia[i - 1]) + " to " +
                      std::to_string(result.inertia[i]);
      break;
    }
  }
  return verdict;
}

template Verdict judge(const KMeansResult<float>&, std::int64_t, std::int64_t, const Coordinate&);
template Verdict judge(const KMeansResult<double>&, std::int64_t, std::int64_t, const Coordinate&);

}  // namespace lanky::examples
