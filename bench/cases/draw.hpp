// Random sizes for cases: what follows from a seed is the same on every machine.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>

#include "bench/cases/random.hpp"

namespace lanky::bench {

/// One case's own sequence of random numbers.
class Draw {
 public:
  explicit Draw(std::uint64_t seed) : state_(seed) {}

  /// Of [0, 1).
  double share() { return static_cast<double>(next() >> 11) * 0x1p-53; }
  /// Of [least, most].
  std::int64_t between(std::int64_t least, std::int64_t most) {
    return least + static_cast<std::int64_t>(next() % static_cast<std::uint64_t>(most - least + 1));
  }
  /// Of [least, most), as often in each decade.
  double scaled(double least, double most) { return least * std::pow(most / least, share()); }
  template <class Values>
  auto one_of(const Values& values) {
    return values[static_cast<std::size_t>(next() % std::size(values))];
  }
  bool happens(double probability) { return share() < probability; }

 private:
  std::uint64_t next() { return state_ = mix(state_); }

  std::uint64_t state_;
};

}  // namespace lanky::bench
