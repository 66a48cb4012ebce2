#include "sparse/column_samples.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace lanky::sparse {

namespace {

Locality locality_of_size(std::span<const ColumnSample> samples) {
  Locality found;
  double entries = 0;
  double sectors = 0;
  std::vector<double> spans;
  spans.reserve(samples.size());
  for (const ColumnSample& sample : samples) {
    if (sample.entries == 0) continue;
    entries += sample.entries;
    found.entries_most = std::max<std::int64_t>(found.entries_most, sample.entries);
    sectors += std::log(static_cast<double>(kSampleBits) / std::max(sample.unset, 1)) * kSampleBits;
    spans.push_back(static_cast<double>(std::int64_t{sample.most} - sample.least + 1));
  }
  if (spans.empty()) return found;
  std::sort(spans.begin(), spans.end());
  for (std::size_t i = 0; i < found.span.size(); ++i)
    found.span[i] = spans[spans.size() * (1 + 4 * i) / 10];
  found.sectors = std::min(sectors / entries, 1.0);
  return found;
}

}  // namespace

std::array<Locality, kSampleSizes> locality_of(std::span<const ColumnSample> samples) {
  std::array<Locality, kSampleSizes> found;
  for (std::size_t i = 0; i < found.size(); ++i)
    found[i] = locality_of_size(samples.subspan(i * kSamples, kSamples));
  return found;
}

}  // namespace lanky::sparse
