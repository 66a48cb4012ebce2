// What follows from the lines of a case: who is counted, and how fast (docs/report.md).
#pragma once

#include <string>
#include <vector>

#include "bench/report/results.hpp"

namespace lanky::report {

constexpr char kLanky[] = "lanky";

/// lanky's counted line: variant auto, right or not; where there is none the fastest right one,
/// those that lower the precision (tf32, tf32x3) last. Null where lanky has no line.
const Line* counted_line(const Case& product);

/// Time of `own` and of `other`, comparable with each other: of sparse products by replayed graphs
/// where both have them, else in batches. Empty unless both are right and were timed.
struct TimePair {
  double own_us = 0;
  double other_us = 0;
};
std::optional<TimePair> comparable_times(Product product, const Line& own, const Line& other);

/// Of a right line: by replayed graphs for sparse products that have them, else in batches.
Quantity time_of(Product product, const Line& line);

/// lanky's counted line beside the best of its rivals. All are empty where something is not known.
struct Figures {
  const Line* lanky = nullptr;  // null where it is not right or was not timed
  const Line* rival = nullptr;  // null where none is right and timed
  Quantity time_us;             // lanky's, comparable with the rival's
  Quantity rival_us;
  Quantity speedup;      // rival's time / lanky's
  Quantity floor_share;  // of the streaming floor's speed
  Quantity gflops;
  Quantity rival_gflops;
  Quantity gbs;         // GB/s of the declared bytes
  Quantity intensity;   // declared flops / bytes
  Quantity setup_runs;  // lanky's setup, in products of its own
  /// Products after which lanky's longer setup has paid: 0 at once, infinite never.
  Quantity break_even;
  bool within_noise = false;  // the speed-up is no farther from 1 than the noise of both times
};

Figures figures_of(const Case& product);

/// A case that was measured, with its figures.
struct Measured {
  const Case* product;
  Figures figures;
};

/// Cases of a product whose counted line of lanky is right and timed, in the order of the files.
std::vector<Measured> measured_cases(const Results& results, Product product);

/// Those of one type; of all types where it is "".
std::vector<const Measured*> of_type(const std::vector<Measured>& cases, const std::string& dtype);

}  // namespace lanky::report
