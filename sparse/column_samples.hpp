// Samples of rows after another: how far their columns reach, and how many sectors of x they read.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "sparse/csr.hpp"

namespace lanky::sparse {

inline constexpr int kSampleSizes = 3;
/// Rows of a sample of size 0 .. kSampleSizes - 1; a function, for device code sees no array of the
/// host.
constexpr std::int64_t sample_rows(int size) {
  return std::int64_t{32} << (2 * size);
}
inline constexpr int kSamples = 64;                      // of each size, at most
inline constexpr std::int64_t kSampleEntries = 1 << 15;  // that a sample looks at, at most
inline constexpr std::int64_t kSectorBytes = 32;
// Sectors are counted by the bits that they set in a table of so many (linear counting: Whang,
// Vander-Zanden and Taylor, TODS 15(2), 1990), in any order.
inline constexpr int kSampleBits = 1 << 15;

struct ColumnSample {
  std::int32_t least = 0;  // column
  std::int32_t most = 0;
  std::int32_t entries = 0;  // 0: there is no such sample, or its rows are empty
  std::int32_t unset = 0;    // bits of the table
  friend bool operator==(const ColumnSample&, const ColumnSample&) = default;
};
inline constexpr int kAllSamples = kSamples * kSampleSizes;

/// Entries that sample `number`, 0 .. kAllSamples - 1, looks at: of sample_rows(number / kSamples)
/// rows, or of as many as there are.
struct SampledEntries {
  std::int64_t begin;
  std::int64_t end;
};
constexpr SampledEntries sampled_entries(const CsrPattern& a, int number) {
  const std::int64_t rows = sample_rows(number / kSamples);
  const std::int64_t whole = a.rows / rows;
  const std::int64_t samples = whole < 1 ? 1 : whole < kSamples ? whole : kSamples;
  const int own = number % kSamples;
  if (own >= samples || a.rows == 0) return {0, 0};
  const std::int64_t first = samples == 1 ? 0 : (a.rows - rows) / (samples - 1) * own;
  const std::int64_t last = first + rows < a.rows ? first + rows : a.rows;
  const std::int64_t begin = a.row_offsets[first];
  const std::int64_t end = a.row_offsets[last];
  return {begin, end - begin < kSampleEntries ? end : begin + kSampleEntries};
}

/// The bit that an entry of this column, zero-based, sets, where a sector has elements of so many
/// bytes.
constexpr int sector_bit(std::int64_t column, int element_bytes) {
  const auto sector = static_cast<std::uint32_t>(column * element_bytes / kSectorBytes);
  return static_cast<int>((sector * 2'654'435'761U) >> 17);  // Knuth's multiplicative hash
}
static_assert(kSampleBits == 1 << (32 - 17));

/// What the samples of one size tell.
struct Locality {
  std::array<double, 3> span{};   // columns from the first to the last: a tenth, half, nine tenths
  double sectors = 0;             // of x that they read, for each of their entries
  std::int64_t entries_most = 0;  // of one
};
/// `samples`: [kAllSamples]. By size.
std::array<Locality, kSampleSizes> locality_of(std::span<const ColumnSample> samples);

}  // namespace lanky::sparse
