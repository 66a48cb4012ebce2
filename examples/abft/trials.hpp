// Faults at random, one at a time, and what becomes of each; and products without a fault.
#pragma once

#include <cstdint>
#include <lanky/stream.hpp>
#include <limits>
#include <string>
#include <vector>

#include "examples/abft/rules.hpp"

namespace lanky::examples::abft {

struct TrialOptions {
  std::int64_t m = 256;
  std::int64_t n = 256;
  std::int64_t k = 256;
  std::int64_t trials = 10'000;
  std::int64_t fault_free = 1000;  // products, each of new data, of all kinds in turns
  Data data = Data::uniform;       // of the product that faults are put in
  std::uint64_t seed = 1;
};

/// The unit that faults are measured in: u sqrt(k) |A(i, :)| |B(:, j)|, the size of the rounding of
/// a sum of k products (Higham, Mary, SISC '19). One of up to so many of them does no harm.
constexpr double kHarmlessUnits = 8;

/// What became of the faults of a class: those whose size is at most `below` times the measure.
struct FaultClass {
  double below = std::numeric_limits<double>::infinity();
  std::int64_t trials = 0;
  std::int64_t detected = 0;   // any verdict but clean
  std::int64_t corrected = 0;  // the right element, to its rounding
};

struct TrialResult {
  std::int64_t trials = 0;
  std::int64_t detected = 0;
  std::int64_t corrected = 0;
  std::int64_t harmless = 0;     // of all: up to kHarmlessUnits
  std::int64_t hidden = 0;       // undetected, though larger
  std::int64_t marginal = 0;     // not corrected, up to twice the bound, where rounding may hide it
  std::int64_t missed = 0;       // not corrected, though larger
  std::int64_t one_sided = 0;    // seen by the columns alone or the rows alone, C left alone
  std::int64_t misplaced = 0;    // an element corrected that was right
  std::int64_t ratio_right = 0;  // located where also both ratios point to the element exactly
  bool restored = false;         // whether C has its first bits after all trials
  std::vector<FaultClass> by_bound;     // |fault| over the larger of its column's and row's bound
  std::vector<FaultClass> by_unit;      // |fault| over the unit of its element
  std::vector<FaultClass> by_element;   // |fault| over |C(i, j)|
  double median_bound = 0;              // of columns
  double median_bound_per_element = 0;  // over the median |C(i, j)| of the faults' places
  std::int64_t fault_free = 0;
  std::int64_t false_alarms = 0;
  double largest_share = 0;  // of its bound that a residual took without a fault
};

/// On the stream's device, without waiting between trials. Throws Error as ProtectedGemm does.
template <class T>
TrialResult run_trials(const Stream& stream, const TrialOptions& options);

}  // namespace lanky::examples::abft
