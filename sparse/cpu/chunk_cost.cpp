#include "sparse/cpu/chunk_cost.hpp"

#include <algorithm>
#include <cmath>

#include "core/team.hpp"
#include "core/text.hpp"
#include "sparse/cpu/chunk_rates.hpp"

namespace lanky::sparse::cpu {

namespace {

// A sample is of so many entries and rows, or of all.
constexpr std::int64_t kSampledEntries = 1 << 15;
constexpr std::int64_t kSampledRows = 1 << 13;
constexpr std::int64_t kLastCacheMost = std::int64_t{32} << 20;
constexpr std::int64_t kScopesOfRows = 32;  // that a matrix has at least where it is sorted

}  // namespace

std::vector<ChunkShape> chunk_candidates(std::int64_t rows, std::int64_t columns) {
  std::vector<ChunkShape> shapes = {{.scope = kChunkRows, .row_cost = kAlone}, {}};
  for (const std::int32_t scope : {256, kScopeMost}) {
    // Rows far apart are neighbours in a long scope, and read other rows of X.
    if (rows > kChunkRows && (scope == 256 || (columns == 1 && rows >= kScopesOfRows * scope)))
      shapes.push_back({.scope = scope});
  }
  return shapes;
}

std::string name_of(const ChunkShape& shape) {
  if (shape.row_cost == kAlone) return "alone";
  if (shape.scope == kChunkRows) return "beside";
  return concat("beside scope ", shape.scope);
}

ChunkCounts sampled_counts(const CsrPattern& a, const ChunkShape& shape) {
  ChunkCounts counts;
  if (a.rows == 0) return counts;
  const std::int64_t scopes = scopes_of(a.rows, shape);
  const double mean = std::max(1.0, static_cast<double>(a.nnz) / static_cast<double>(a.rows));
  const auto rows = std::min(static_cast<double>(kSampledRows), kSampledEntries / mean);
  const std::int64_t samples =
      std::clamp<std::int64_t>(static_cast<std::int64_t>(rows / shape.scope), 1, scopes);
  ScopeOrder order;
  std::int64_t seen = 0;
  for (std::int64_t i = 0; i < samples; ++i) {
    const std::int64_t first = (i * scopes / samples) * shape.scope;
    const std::int64_t last = std::min<std::int64_t>(first + shape.scope, a.rows);
    const auto all = order.of(a, first, last, shape.scope > kChunkRows);
    seen += last - first;
    for (std::size_t at = 0; at < all.size(); at += kChunkRows) {
      PlannedChunk planned = place_chunk(
          a, first, all.subspan(at, std::min<std::size_t>(kChunkRows, all.size() - at)), shape);
      planned.chunk.kind.codes = choose_codes(a, planned);
      count_chunk(planned, counts);
    }
  }
  // Entries are known; rows that were not seen are taken to be like those that were.
  const double by_rows = static_cast<double>(a.rows) / static_cast<double>(seen);
  const double by_entries = counts.entries > 0
                                ? static_cast<double>(a.nnz) / static_cast<double>(counts.entries)
                                : by_rows;
  const auto scale = [](std::int64_t& count, double times) {
    count = static_cast<std::int64_t>(std::llround(static_cast<double>(count) * times));
  };
  for (std::int64_t* count :
       {&counts.rows, &counts.chunks, &counts.empty_rows, &counts.short_rows, &counts.beside_rows,
        &counts.alone_rows, &counts.listed_rows, &counts.uneven_chunks})
    scale(*count, by_rows);
  for (std::int64_t* count : {&counts.slots, &counts.code_bytes, &counts.short_entries,
                              &counts.beside_entries, &counts.beside_steps})
    scale(*count, by_entries);
  for (std::int64_t& count : counts.code_entries)
    scale(count, by_entries);
  counts.entries = a.nnz;
  return counts;
}

std::array<double, kChunkTerms> chunk_terms(const ChunkCounts& counts, const CsrPattern& a,
                                            DType dtype, const Machine& machine) {
  const auto element = static_cast<double>(size_of(dtype));
  const auto number = [](std::int64_t count) { return static_cast<double>(count); };
  const double bytes = number(counts.slots) * element + number(counts.code_bytes) +
                       number(counts.chunks) * sizeof(Chunk) + number(a.rows + a.cols) * element;
  // Beyond the last cache all bytes come from memory. Others' data has a part of it, and a virtual
  // machine reports the whole cache of its host.
  const double cached = number(std::min(machine.last_cache_bytes, kLastCacheMost)) / 2;
  const double far = std::clamp((bytes - cached) / cached, 0.0, 1.0) * bytes;
  const double contiguous = number(counts.code_entries[static_cast<int>(Codes::none)]);
  return {bytes,
          far,
          number(counts.slots) - contiguous,
          contiguous,
          number(counts.chunks) + number(counts.uneven_chunks),
          number(counts.alone_rows),
          number(counts.listed_rows)};
}

double predicted_us(const std::array<double, kChunkTerms>& terms) {
  double ns = 0;
  for (int i = 0; i < kChunkTerms; ++i)
    ns += kChunkRates[i] * terms[i];
  return ns * 1e-3;
}

ChunkChoice choose_chunks(const CsrPattern& a, DType dtype, const Machine& machine,
                          std::int64_t columns) {
  const std::vector<ChunkShape> shapes = chunk_candidates(a.rows, columns);
  ChunkChoice choice{shapes.front(), 0, shapes.size()};
  for (const ChunkShape& shape : shapes) {
    const double us = predicted_us(chunk_terms(sampled_counts(a, shape), a, dtype, machine));
    if (shape == shapes.front() || us < choice.predicted_us) choice = {shape, us, shapes.size()};
  }
  return choice;
}

bool worth_waking(double one_thread_us) {
  return one_thread_us / 2 > team_us();
}

}  // namespace lanky::sparse::cpu
