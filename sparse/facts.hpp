// What a plan knows of a matrix when it chooses: counts over rows, and samples of columns.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <span>

#include "sparse/column_samples.hpp"
#include "sparse/csr.hpp"
#include "sparse/packed.hpp"

namespace lanky::sparse {

// Rows of so many entries or more are long. Their class i has those of kLongRow * 2^i and more.
inline constexpr std::int64_t kLongRow = 64;
inline constexpr int kLongClasses = 26;  // the last one has all of 2^31 entries and more
constexpr int long_class(std::int64_t length) {
  int i = 0;  // without std::bit_width, whose builtin device code has not
  while (i + 1 < kLongClasses && length >= kLongRow << (i + 1))
    ++i;
  return i;
}

/// What the choice of a shape knows of a matrix: counts over its rows, and where their columns are.
struct RowFacts {
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  std::int64_t nnz = 0;
  std::int64_t longest = 0;   // entries of the longest row
  std::int64_t empty = 0;     // rows without entries
  std::int64_t pieces8 = 0;   // that rows are cut into, of up to 8 entries
  std::int64_t pieces16 = 0;  // likewise
  // Columns from the first of the entries of a row, and the first one of the next row, to the last
  // of them; on average; 0: unknown
  std::int64_t reach = 0;
  int repeated = 0;  // percent of these rows, which the next one repeats, a column further; or 0
  // Shape::hot_least for hot_columns_most() hot columns, and the entries of these, about; 0:
  // unknown
  std::int32_t hot_least = 0;
  std::int64_t hot_entries = 0;
  std::array<std::int64_t, kLongClasses> long_rows{};  // by their class
  std::array<Locality, kSampleSizes> locality{};       // of samples of rows; zeros: unknown
  // Set by the plan, not by the matrix: the most pieces of a row that a window may have.
  std::int64_t pieces_most = std::numeric_limits<std::int64_t>::max();

  /// Entries of a row that has any, on average, rounded up; at least 1.
  constexpr std::int64_t mean() const {
    const std::int64_t filled = rows > empty ? rows - empty : 1;
    return nnz > 0 ? (nnz + filled - 1) / filled : 1;
  }
  /// Whether rows are of about one length: the longest of at most two that have any entries.
  constexpr bool even() const { return longest <= 2 * mean(); }

  /// Takes a row of `length` entries into the counts.
  constexpr void count_row(std::int64_t length) {
    count_any_row(length);
    if (length >= kLongRow) ++long_rows[long_class(length)];
  }
  /// All counts but long_rows.
  constexpr void count_any_row(std::int64_t length) {
    longest = length > longest ? length : longest;
    empty += length == 0 ? 1 : 0;
    pieces8 += pieces_of(length, 8);
    pieces16 += pieces_of(length, 16);
  }
  /// Takes all rows, whose entries begin at offsets[0 .. rows].
  constexpr void count_rows(const std::int64_t* offsets) {
    for (std::int64_t row = 0; row < rows; ++row)
      count_row(offsets[row + 1] - offsets[row]);
  }
};

// reach_facts() looks at so many rows at most, one of each of as many parts (not always the first:
// that of a stencil might be on the boundary), and takes the columns of a row to be in order.
inline constexpr std::int64_t kReachRows = 4096;
constexpr std::int64_t reach_row(std::int64_t rows, std::int64_t i) {
  constexpr std::int64_t kPrime = 7919;
  const std::int64_t of_part = rows / kReachRows;
  return rows <= kReachRows ? i : i * of_part + i * kPrime % of_part;
}

/// Sums over such rows.
struct ReachSums {
  std::int64_t columns = 0;  // as RowFacts::reach
  // Rows whose first, middle and last column the next row has, shifted by one.
  std::int64_t repeated = 0;
  std::int64_t rows = 0;  // that have entries
};

/// RowFacts::reach and repeated.
struct ReachFacts {
  std::int64_t mean = 0;
  int repeated = 0;
  friend bool operator==(const ReachFacts&, const ReachFacts&) = default;
};
constexpr ReachFacts reach_facts_of(const ReachSums& sums) {
  if (sums.rows == 0) return {};
  return {sums.columns / sums.rows, static_cast<int>(100 * sums.repeated / sums.rows)};
}

/// Of the i-th row of those alone.
constexpr ReachSums reach_of(const CsrPattern& a, std::int64_t i) {
  const std::int64_t row = reach_row(a.rows, i);
  const std::int64_t begin = a.row_offsets[row];
  const std::int64_t end = a.row_offsets[row + 1];
  if (begin == end) return {};
  const std::int64_t first = a.columns[begin];
  const std::int64_t last = a.columns[end - 1];
  const std::int64_t next = a.columns[end < a.nnz ? end : begin];
  const std::int64_t low = last < first ? last : first;
  const std::int64_t high = last < first ? first : last;
  const std::int64_t length = end - begin;
  const auto follows = [&](std::int64_t entry) {
    return a.columns[entry + length] == a.columns[entry] + 1;
  };
  const bool repeated = row + 1 < a.rows && a.row_offsets[row + 2] == end + length &&
                        follows(begin) && follows(begin + length / 2) && follows(end - 1);
  return {(next > high ? next : high) - (next < low ? next : low) + 1, repeated ? 1 : 0, 1};
}

/// RowFacts::hot_least and hot_entries.
struct HotFacts {
  std::int32_t least = 0;
  std::int64_t entries = 0;
  friend bool operator==(const HotFacts&, const HotFacts&) = default;
};
// A hot column's x is copied by each of about 128 blocks: it must have as many entries, at least.
// Of more than the most hot_facts() counts no more.
inline constexpr int kHeatLeast = 128 / kColumnSample;
inline constexpr int kHeatMost = 65'535;
/// The least count of sampled entries that at most `most` columns have, or pass, and the entries of
/// these; none, if there is no such count. heats[n] columns have n sampled ones, 0 .. kHeatMost.
constexpr HotFacts hot_facts_of(std::span<const std::uint32_t> heats, std::int64_t most) {
  std::int64_t columns = 0;
  std::int64_t sampled = 0;
  int least = kHeatMost + 1;
  for (; least > kHeatLeast; --least) {
    const int heat = least - 1;
    columns += heats[heat];
    if (columns > most) break;
    sampled += std::int64_t{heat} * heats[heat];
  }
  if (least > kHeatMost) return {};
  return {least, sampled * kColumnSample};
}

}  // namespace lanky::sparse
