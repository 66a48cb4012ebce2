// What many cases come to: means, their intervals, wins and losses, performance profiles.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "bench/report/figures.hpp"

namespace lanky::report {

using Cases = std::vector<const Measured*>;

struct Interval {
  double low = 0;
  double high = 0;
};

/// Of positive values; empty where there are none.
Quantity geometric_mean(const std::vector<double>& values);
Quantity median(std::vector<double> values);  // infinite values are greater than all others

/// The 95 % interval of the geometric mean by the bootstrap's percentiles: 2000 resamples of the
/// clusters, whose values stay together, from a fixed seed. Empty below two clusters.
std::optional<Interval> bootstrap_interval(const std::vector<std::vector<double>>& clusters);

struct Summary {
  std::size_t cases = 0;         // with a time of lanky
  std::size_t compared = 0;      // with a rival's too
  std::size_t wins = 0;          // speed-up above 1
  std::size_t losses = 0;        // below 1
  std::size_t within_noise = 0;  // of wins and losses, and equals
  Quantity speedup;              // geometric mean
  std::optional<Interval> interval;
  Quantity floor_share;  // geometric mean
  Quantity setup_runs;   // median
  Quantity break_even;   // median
};

/// A matrix or shape in several types is one cluster of the bootstrap.
Summary summarize(const Cases& cases);

/// The `count` compared cases of the least speed-up, the least first.
Cases worst_cases(const Cases& cases, std::size_t count);

/// Cases by class or family, in the order in which they first come.
std::vector<std::pair<std::string, Cases>> by_group(const Cases& cases);

/// Element types in the order of the library, others after them as they first come.
std::vector<std::string> dtypes_of(const Results& results);

/// Share of the cases that a contestant computes within a factor tau of the best of all
/// contestants: E. D. Dolan and J. J. More, Benchmarking optimization software with performance
/// profiles, Math. Program. 91 (2002).
struct Profile {
  std::string contestant;      // "lanky", "cusparse/alg1"
  std::vector<double> ratios;  // time over the best's, ascending; a case without a time has none
  std::size_t cases = 0;       // that any contestant computed

  double share_within(double tau) const;
};

/// lanky's counted line first, then the rivals from the one that is most often the best; of the
/// cases of one type, or of all where `dtype` is "".
std::vector<Profile> performance_profiles(const Results& results, Product product,
                                          const std::string& dtype);

}  // namespace lanky::report
