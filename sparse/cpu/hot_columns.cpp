// The columns that many entries are in, told by a sample of the entries.
#include <algorithm>
#include <vector>

#include "sparse/cpu/steps.hpp"
#include "sparse/policy.hpp"

namespace lanky::sparse::cpu {

namespace {

/// Sampled entries of each column.
std::vector<std::int32_t> sampled_entries(const CsrPattern& a) {
  std::vector<std::int32_t> counts(static_cast<std::size_t>(a.cols));
#pragma omp parallel for if (a.nnz / kColumnSample >= kThreadsLeast)
  for (std::int64_t entry = 0; entry < a.nnz; entry += kColumnSample) {
    std::int32_t& of_column = counts[a.columns[entry] - a.index_base];
#pragma omp atomic
    ++of_column;
  }
  return counts;
}

}  // namespace

HotColumns find_hot_columns(const Stream& stream, const CsrPattern& a, const Shape& shape,
                            Allocator* allocator) {
  HotColumns hot{Buffer<std::int32_t>(stream, 0), Buffer<std::int32_t>(stream, 0)};
  if (shape.hot_least == 0) return hot;
  std::vector<std::int32_t> columns;
  std::vector<std::int32_t> places = sampled_entries(a);
  for (std::int64_t column = 0; column < a.cols; ++column) {
    std::int32_t& place = places[column];
    if (place < shape.hot_least) {
      place = -1;
    } else {
      hot.sampled += place;
      place = static_cast<std::int32_t>(columns.size());
      columns.push_back(static_cast<std::int32_t>(column));
    }
  }
  if (columns.empty()) return hot;
  hot.columns = Buffer<std::int32_t>::from(stream, columns, allocator);
  hot.places = Buffer<std::int32_t>::from(stream, places);
  return hot;
}

HotFacts hot_facts(const CsrPattern& a, std::int64_t most) {
  if (a.nnz == 0) return {};
  std::vector<std::uint32_t> heats(kHeatMost + 1);
  for (const std::int32_t sampled : sampled_entries(a))
    ++heats[std::min(sampled, kHeatMost)];
  return hot_facts_of(heats, most);
}

}  // namespace lanky::sparse::cpu
