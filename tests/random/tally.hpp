// How often each check was made, by operation and type, and how near results came to their bounds.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <utility>

namespace lanky::random_cases {

/// Sums of so many products or more are long: their bound is for any order, theirs is one of many
/// partial sums.
constexpr std::int64_t kLongSum = 1000;

struct Count {
  std::int64_t tried = 0;
  std::int64_t failed = 0;
  double worst = 0;               // largest error over its bound
  double worst_long = 0;          // the same of long sums alone
  std::int64_t worst_case = -1;   // the case that it was seen in
  const char* unit = "products";  // or pairs, of products whose bits were compared

  void add(bool failure, double share, double share_long, std::int64_t number) {
    ++tried;
    worst_long = std::max(worst_long, share_long);
    failed += failure ? 1 : 0;
    if (!(share > worst) && worst_case >= 0) return;
    worst = share;
    worst_case = number;
  }
  void add(const Count& other) {
    unit = other.unit;
    tried += other.tried;
    failed += other.failed;
    worst_long = std::max(worst_long, other.worst_long);
    if (!(other.worst > worst) && worst_case >= 0) return;
    worst = other.worst;
    worst_case = other.worst_case;
  }
};

/// By check ("spmm", "spmm bits") and type ("f16:f32").
using Tally = std::map<std::pair<std::string, std::string>, Count>;

}  // namespace lanky::random_cases
