// Numbers between -1 and 1 that follow from a seed.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

namespace lanky::testing {

inline std::vector<double> random_numbers(std::int64_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> uniform(-1, 1);
  std::vector<double> numbers(static_cast<std::size_t>(count));
  for (double& number : numbers)
    number = uniform(random);
  return numbers;
}

}  // namespace lanky::testing
