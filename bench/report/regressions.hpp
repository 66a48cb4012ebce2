// Two sets of results of the same cases: what got faster, slower or wrong (docs/report.md).
#pragma once

#include <string>
#include <vector>

#include "bench/report/results.hpp"

namespace lanky::report {

struct CompareOptions {
  std::string contestant = "lanky";  // or one variant: "cusparse/alg1"
  double tolerance = 0.02;           // changes of the time that do not count
  bool absolute = false;             // pass over how the floor changed
  bool any_hardware = false;         // other devices, other sets of element types
};

/// Ordered from what is worst.
enum class Change { gone, failed, slower, faster, same, repaired, fresh, no_time };

/// One contestant on one case, before and after.
struct Difference {
  std::string name;  // "cant f64 lanky/auto"
  Change change = Change::same;
  Quantity before_us, after_us;
  double ratio = 1;     // after / before
  Quantity over_floor;  // the same, over what the floor of the case changed by
  double margin = 0;    // relative change that counts: noise of both sides, or the tolerance
  std::string reason;   // where there is no time
};

struct Comparison {
  std::vector<Difference> differences;  // in the order of the first file, then what is new
  std::vector<std::string> notes;

  std::size_t count(Change change) const;
  /// Whether anything got slower or wrong or is gone.
  bool worse() const;
};

/// Error(unsupported) where devices or element types differ, unless `any_hardware`; Error(parse)
/// where no case is in both.
Comparison compare(Results before, Results after, const CompareOptions& options);

/// Lines of what changed, or of `all`, and a summary.
std::string comparison_text(const Comparison& comparison, bool all);

}  // namespace lanky::report
