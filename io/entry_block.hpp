// The entries of a block of text on their way to the matrix: grouped by buckets of rows, in the
// order of the file within a bucket, and small: 2 bytes for the row, 4 for the column, the value.
#pragma once

#include <algorithm>
#include <bit>
#include <span>
#include <vector>

#include "io/entry.hpp"
#include "io/paged_array.hpp"

namespace lanky::io {

/// The rows of a matrix in buckets of 2^shift: about 128 of them, or more so that a row within its
/// bucket takes 16 bits.
struct RowBuckets {
  explicit RowBuckets(std::int64_t row_count)
      : rows(row_count),
        shift(std::clamp(
            static_cast<int>(std::bit_width(static_cast<std::uint64_t>(row_count))) - 7, 0, 16)),
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

/// Entries in the order of the file, mirrored ones behind theirs, with what grouping them needs.
template <class V>
class EntryList {
 public:
  EntryList(const Header& header, bool keep_lines)
      : header_(header), buckets_(header.rows), keep_lines_(keep_lines), counts_(buckets_.count) {}

  /// Appends an entry of that line (counted from anywhere), and its mirror image.
  [[gnu::always_inline]] void append(const Entry<V>& entry, std::int64_t line) {
    put(entry, line);
    if (has_mirror(entry, header_)) put(mirrored(entry, header_), line);
  }
  void clear() noexcept {
    entries_.clear();
    lines_.clear();
    std::ranges::fill(counts_, 0);
  }

  const RowBuckets& buckets() const noexcept { return buckets_; }
  std::span<const Entry<V>> entries() const noexcept { return entries_; }
  std::span<const std::uint32_t> lines() const noexcept { return lines_; }    // where they are kept
  std::span<const std::uint32_t> counts() const noexcept { return counts_; }  // [buckets]

 private:
  [[gnu::always_inline]] void put(const Entry<V>& entry, std::int64_t line) {
    entries_.push_back(entry);
    ++counts_[buckets_.of(entry.row)];
    if (keep_lines_) lines_.push_back(static_cast<std::uint32_t>(line));
  }

  const Header& header_;
  RowBuckets buckets_;
  bool keep_lines_;
  std::vector<Entry<V>> entries_;
  std::vector<std::uint32_t> lines_;
  std::vector<std::uint32_t> counts_;
};

/// The entries of one bucket of rows in one block.
template <class V>
struct Segment {
  std::span<const std::uint16_t> rows;  // within the bucket
  const std::int32_t* cols;
  const V* values;
  const std::uint32_t* lines;  // within the block; null where they are not kept
};

template <class V>
class EntryBlock {
 public:
  explicit EntryBlock(const EntryList<V>& list)
      : ends_(list.counts().begin(), list.counts().end()),
        rows_(list.entries().size()),
        cols_(list.entries().size()),
        values_(list.entries().size()),
        lines_(list.lines().size()) {
    std::uint32_t begin = 0;
    for (std::uint32_t& end : ends_)
      end = std::exchange(begin, begin + end);
    const auto entries = list.entries();
    for (std::size_t k = 0; k < entries.size(); ++k) {
      const std::size_t at = ends_[list.buckets().of(entries[k].row)]++;
      rows_.data()[at] = list.buckets().place(entries[k].row);
      cols_.data()[at] = entries[k].col;
      values_.data()[at] = entries[k].value;
      if (!list.lines().empty()) lines_.data()[at] = list.lines()[k];
    }
  }

  std::size_t size(std::size_t bucket) const noexcept { return ends_[bucket] - begin(bucket); }
  Segment<V> segment(std::size_t bucket) const noexcept {
    const std::size_t first = begin(bucket);
    const std::uint32_t* lines = lines_.data() == nullptr ? nullptr : lines_.data() + first;
    return {
        {rows_.data() + first, size(bucket)}, cols_.data() + first, values_.data() + first, lines};
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

  std::vector<std::uint32_t> ends_;  // [buckets]
  PagedArray<std::uint16_t> rows_;
  PagedArray<std::int32_t> cols_;
  PagedArray<V> values_;
  PagedArray<std::uint32_t> lines_;
};

}  // namespace lanky::io
