// What came to no time: of lanky, of a whole matrix, or of a rival.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "bench/report/results.hpp"

namespace lanky::report {

/// A case without a time of lanky, or a matrix that `lanky batch` has no good status for.
struct Unmeasured {
  std::string name;
  std::string dtype;   // those of a matrix, separated by spaces
  std::string status;  // "wrong", "crash"
  std::string reason;
  Quantity seconds;
  Quantity memory_bytes;
};
std::vector<Unmeasured> unmeasured_cases(const Results& results);

/// Cases in which a rival has one status that is not ok.
struct RivalFailure {
  std::string rival;  // "cusparse/sell"
  std::string status;
  std::string example;  // message of the first
  std::size_t cases = 0;
};
/// Those of most cases first.
std::vector<RivalFailure> rival_failures(const Results& results);

}  // namespace lanky::report
