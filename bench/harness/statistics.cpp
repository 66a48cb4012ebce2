#include "bench/harness/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace lanky::bench {

namespace {

constexpr std::size_t kFewestForInterval = 6;  // 1 - 2 / 2^6 = 96.9 % lies within the extremes

double median_of_sorted(const std::vector<double>& sorted) {
  const std::size_t middle = sorted.size() / 2;
  return sorted.size() % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

}  // namespace

double MedianInterval::noise() const {
  return median > 0 ? (high - low) / 2 / median : std::numeric_limits<double>::infinity();
}

MedianInterval median_interval(std::vector<double> samples) {
  std::sort(samples.begin(), samples.end());
  const double middle = median_of_sorted(samples);
  if (samples.size() < kFewestForInterval) {
    return {middle, 0, std::numeric_limits<double>::infinity()};
  }
  // Ranks (n -+ 1.96 sqrt(n)) / 2 of a binomial with p = 1/2, rounded outwards.
  const auto count = static_cast<double>(samples.size());
  const double reach = 1.96 * std::sqrt(count);
  const auto low = static_cast<std::size_t>(std::max(1.0, std::floor((count - reach) / 2)));
  const auto high = static_cast<std::size_t>(std::min(count, std::ceil(1 + (count + reach) / 2)));
  return {middle, samples[low - 1], samples[high - 1]};
}

double median(std::vector<double> samples) {
  std::sort(samples.begin(), samples.end());
  return median_of_sorted(samples);
}

}  // namespace lanky::bench
