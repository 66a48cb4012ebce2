#include "sparse/column_samples.hpp"

#include <algorithm>
#include <bitset>
#include <limits>

#include "sparse/cpu/steps.hpp"

namespace lanky::sparse::cpu {

std::vector<ColumnSample> column_samples(const CsrPattern& a, int element_bytes) {
  std::vector<ColumnSample> samples(kAllSamples);
  for (int number = 0; number < kAllSamples; ++number) {
    const auto [begin, end] = sampled_entries(a, number);
    if (begin == end) continue;
    ColumnSample& sample = samples[number];
    sample.least = std::numeric_limits<std::int32_t>::max();
    std::bitset<kSampleBits> sectors;
    for (std::int64_t entry = begin; entry < end; ++entry) {
      const std::int32_t column = a.columns[entry] - a.index_base;
      sample.least = std::min(sample.least, column);
      sample.most = std::max(sample.most, column);
      sectors.set(sector_bit(column, element_bytes));
    }
    sample.entries = static_cast<std::int32_t>(end - begin);
    sample.unset = static_cast<std::int32_t>(kSampleBits - sectors.count());
  }
  return samples;
}

}  // namespace lanky::sparse::cpu
