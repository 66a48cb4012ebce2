// What is put under failures: every way into the library, as an action on a stream that gives
// numbers which are the same each time.
#pragma once

#include <functional>
#include <lanky/lanky.hpp>
#include <string>
#include <vector>

namespace lanky::faults {

using Numbers = std::vector<double>;
using Action = std::function<Numbers()>;

struct Subject {
  std::string name;
  /// Makes what the action needs beforehand; all device memory of the action's is the allocator's,
  /// if there is one.
  std::function<Action(const Stream&, Allocator*)> prepare;
  /// Candidates for which memory is not enough are left out, so that a failure may be none, and
  /// bits may be another candidate's.
  bool measures = false;
  bool takes_allocator = true;
  bool only_on_gpu = false;
};

std::vector<Subject> subjects();

/// A product that must work, and give these numbers, whatever failed before.
Action witness(const Stream& stream);

}  // namespace lanky::faults
