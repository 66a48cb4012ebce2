// The rates that a kernel reaches, as a row of dense/cuda/cost_table.hpp has them.
#pragma once

#include <array>
#include <string_view>

namespace lanky::dense {

struct CostRates {
  std::array<std::string_view, 4> words;  // as CostKey; "" for all that have no row of their own
  double start;                           // microseconds of an empty launch
  double launch;                          // and of each further kernel
  double bandwidth;                       // shares of Machine::bandwidth,
  double l2;                              // of l2_bandwidth(),
  double peak;                            // and of peak_f64 or peak_f32: more on tensor cores
  double step;                            // microseconds
  double fill;                            // exponent of CostTerms::fill
  double side;                            // share of l2_bandwidth() for CostTerms::side
  double end;                             // microseconds
};

/// For a kernel that has no row: one that nobody has measured is chosen where there is no other.
inline constexpr CostRates kUnknownKernel{{}, 20, 5, 0.1, 0.1, 0.1, 3, 0.5, 0.05, 5};

}  // namespace lanky::dense
