// The entries of a block of text on their way to the matrix: grouped by buckets of rows, in the
// order of the file within a bucket, and small: 2 bytes for the row, 4 for the column, the value.
#pragma once

#include <algorithm>
#include <bit>
#include <numeric>
#include <span>
#include <vector>

#include "io/entry.hpp"
#include "io/paged_array.hpp"

namespace lanky::io {

/// The rows of a matrix in buckets of 2^shift: about 512 of them, or more so that a row within its
/// bucket takes 16 bits.
struct RowBuckets {
  explicit RowBuckets(std::int64_t row_count)
      : rows(row_count),
        shift(std::clamp(
            static_cast<int>(std::bit_width(static_cast<std::uint64_t>(row_count))) - 9, 0, 16)),
        count(static_cast<std::size_t>((row_count + (std::int64_t{1} << shift) - 1) >> shift)) {}

  std::size_t of(std::int64_t row) const noexcept { return static_cast<std::size_t>(row >> shift); }
  std::uint16_t place(std::int64_t row) const noexcept {
    return static_cast<std::uint16_t>(row & ((std::int64_t{1} << shift) - 1));
  }
  std::int64_t first_row(std::size_t bucket) const noexcept {
    return static_cast<std::int64_t>(bucket) << shift;
  }
  std::size_t rows_of(std::size_t bucket) const noexcept {
    return static_cast<std::size_t>(std::min(rows, first_row(bucket + 1)) - first_row(bucket));
  }

  std::int64_t rows;
  int shift;
  std::size_t count;
};

/// Entries in the order of the file, mirrored ones behind theirs.
template <class V>
class EntryList {
 public:
  EntryList(const Header& header, bool keep_lines)
      : header_(header), keep_values_(header.field != Field::pattern), keep_lines_(keep_lines) {}

  /// Appends an entry of that line (counted from anywhere), and its mirror image.
  [[gnu::always_inline]] void append(const Entry<V>& entry, std::int64_t line) {
    if (size_ + 2 > rows_.size()) grow();
    put(entry, line);
    if (has_mirror(entry, header_)) put(mirrored(entry, header_), line);
  }
  void clear() noexcept { size_ = 0; }

  std::size_t size() const noexcept { return size_; }
  std::span<const std::int64_t> rows() const noexcept { return {rows_.data(), size_}; }
  std::span<const std::int32_t> cols() const noexcept { return {cols_.data(), size_}; }
  /// Empty where all are 1.
  std::span<const V> values() const noexcept { return {values_.data(), keep_values_ ? size_ : 0}; }
  /// Of each entry, where lines are kept.
  std::span<const std::uint32_t> lines() const noexcept {
    return {lines_.data(), keep_lines_ ? size_ : 0};
  }

 private:
  [[gnu::always_inline]] void put(const Entry<V>& entry, std::int64_t line) noexcept {
    rows_[size_] = entry.row;
    cols_[size_] = entry.col;
    if (keep_values_) values_[size_] = entry.value;
    if (keep_lines_) lines_[size_] = static_cast<std::uint32_t>(line);
    ++size_;
  }

  void grow() {
    const std::size_t size = std::max<std::size_t>(1024, 2 * rows_.size());
    rows_.resize(size);
    cols_.resize(size);
    if (keep_values_) values_.resize(size);
    if (keep_lines_) lines_.resize(size);
  }

  const Header& header_;
  bool keep_values_;
  bool keep_lines_;
  std::size_t size_ = 0;  // the arrays have room for more
  std::vector<std::int64_t> rows_;
  std::vector<std::int32_t> cols_;
  std::vector<V> values_;
  std::vector<std::uint32_t> lines_;
};

/// The entries of one bucket of rows in one block.
template <class V>
struct Segment {
  std::span<const std::uint16_t> rows;  // within the bucket
  const std::int32_t* cols;
  const V* values;             // null where all are 1
  const std::uint32_t* lines;  // within the block; null where they are not kept
};

template <class V>
class EntryBlock {
 public:
  EntryBlock(const EntryList<V>& list, const RowBuckets& buckets)
      : ends_(buckets.count),
        rows_(list.size()),
        cols_(list.size()),
        values_(list.values().size()),
        lines_(list.lines().size()) {
    if (count_buckets(list.rows(), buckets)) {
      copy(list, buckets);
    } else {
      group(list, buckets);
    }
  }

  std::size_t size(std::size_t bucket) const noexcept { return ends_[bucket] - begin(bucket); }
  Segment<V> segment(std::size_t bucket) const noexcept {
    const std::size_t first = begin(bucket);
    return {{rows_.data() + first, size(bucket)},
            cols_.data() + first,
            values_.data() == nullptr ? nullptr : values_.data() + first,
            lines_.data() == nullptr ? nullptr : lines_.data() + first};
  }

  /// Gives back the memory of the buckets before this one.
  void release_before(std::size_t bucket) noexcept {
    const std::size_t count = begin(bucket);
    rows_.release_before(count);
    cols_.release_before(count);
    values_.release_before(count);
    lines_.release_before(count);
  }

  std::int64_t lines_before = 0;  // lines of the file before the block

 private:
  std::size_t begin(std::size_t bucket) const noexcept {
    return bucket == 0 ? 0 : ends_[bucket - 1];
  }

  /// Sets ends_; true where the entries stand in the order of their buckets already.
  bool count_buckets(std::span<const std::int64_t> rows, const RowBuckets& buckets) {
    bool ordered = true;
    for (std::size_t k = 0; k < rows.size();) {
      const std::size_t bucket = buckets.of(rows[k]);
      const std::size_t first = k;
      while (++k < rows.size() && buckets.of(rows[k]) == bucket) {
      }
      ordered = ordered && (k == rows.size() || buckets.of(rows[k]) > bucket);
      ends_[bucket] += static_cast<std::uint32_t>(k - first);
    }
    std::partial_sum(ends_.begin(), ends_.end(), ends_.begin());
    return ordered;
  }

  void copy(const EntryList<V>& list, const RowBuckets& buckets) {
    std::ranges::transform(list.rows(), rows_.data(),
                           [&](std::int64_t row) { return buckets.place(row); });
    std::ranges::copy(list.cols(), cols_.data());
    std::ranges::copy(list.values(), values_.data());
    std::ranges::copy(list.lines(), lines_.data());
  }

  void group(const EntryList<V>& list, const RowBuckets& buckets) {
    std::vector<std::uint32_t> next(ends_.size());
    std::copy(ends_.begin(), ends_.end() - 1, next.begin() + 1);
    for (std::size_t k = 0; k < list.size(); ++k) {
      const std::size_t at = next[buckets.of(list.rows()[k])]++;
      rows_.data()[at] = buckets.place(list.rows()[k]);
      cols_.data()[at] = list.cols()[k];
      if (!list.values().empty()) values_.data()[at] = list.values()[k];
      if (!list.lines().empty()) lines_.data()[at] = list.lines()[k];
    }
  }

  std::vector<std::uint32_t> ends_;  // [buckets]
  PagedArray<std::uint16_t> rows_;
  PagedArray<std::int32_t> cols_;
  PagedArray<V> values_;
  PagedArray<std::uint32_t> lines_;
};

}  // namespace lanky::io
