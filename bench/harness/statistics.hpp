// The median of noisy times and how well it is known.
#pragma once

#include <vector>

namespace lanky::bench {

/// A median with its 95 % confidence interval from order statistics (no distribution is assumed).
struct MedianInterval {
  double median = 0;
  double low = 0;
  double high = 0;

  /// Half-width of the interval, relative to the median; infinite below 6 samples, which no 95 %
  /// interval can be made of.
  double noise() const;
};

/// Of at least one sample.
MedianInterval median_interval(std::vector<double> samples);

double median(std::vector<double> samples);

}  // namespace lanky::bench
