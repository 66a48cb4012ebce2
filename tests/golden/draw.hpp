// Random numbers of golden inputs, which follow from nothing but this file: the distributions of a
// standard library may change.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace lanky::golden {

/// SplitMix64 (Steele, Lea and Flood, OOPSLA '14).
class Draw {
 public:
  explicit Draw(std::uint64_t seed) : state_(seed) {}
  std::uint64_t bits() {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15U;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31);
  }
  std::int64_t below(std::int64_t end) {
    return static_cast<std::int64_t>(bits() % static_cast<std::uint64_t>(end));
  }
  template <class Value, std::size_t kCount>
  Value one_of(const Value (&values)[kCount]) {
    return values[below(kCount)];
  }
  bool happens(int percent) { return below(100) < percent; }
  /// Log-uniform from 1 << low to 1 << high; one in two rounded to a multiple of 16.
  std::int64_t length(int low, int high) {
    const std::int64_t power = low + below(high - low);
    const std::int64_t drawn = (std::int64_t{1} << power) + below(std::int64_t{1} << power);
    return below(2) == 0 ? drawn : std::max<std::int64_t>(drawn / 16 * 16, 1);
  }

 private:
  std::uint64_t state_;
};

}  // namespace lanky::golden
