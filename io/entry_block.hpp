// The entries of a block of text on their way to the matrix: grouped by buckets of rows, in the
// order of the file within a bucket, and small: 2 bytes for the row, 4 for the column, the value.
#pragma once

#include <algorithm>
#include <bit>
#include <numeric>
#include <span>
#include <vector>

#include "io/entry.hpp"
#include "io/pages.hpp"

namespace lanky::inline v1::io {

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
    if (has_mirror(entry, header_)) {
      put({entry.col, static_cast<std::int32_t>(entry.row), mirrored(entry.value, header_)}, line);
    }
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
        has_values_(!list.values().empty()),
        has_lines_(!list.lines().empty()),
        size_(list.size()),
        pages_(rows_at() + size_ * sizeof(std::uint16_t)) {
    if (count_buckets(list.rows(), buckets)) {
      copy(list, buckets);
    } else {
      group(list, buckets);
    }
  }

  std::size_t size(std::size_t bucket) const noexcept { return ends_[bucket] - begin(bucket); }
  Segment<V> segment(std::size_t bucket) const noexcept {
    const std::size_t first = begin(bucket);
    return {{rows() + first, size(bucket)},
            cols() + first,
            has_values_ ? values() + first : nullptr,
            has_lines_ ? lines() + first : nullptr};
  }

  std::size_t bytes_per_entry() const noexcept {
    return sizeof(std::uint16_t) + sizeof(std::int32_t) + (has_values_ ? sizeof(V) : 0) +
           (has_lines_ ? sizeof(std::uint32_t) : 0);
  }
  /// Gives back the memory of the buckets before this one.
  void release_before(std::size_t bucket) noexcept {
    const std::size_t before = std::exchange(released_, begin(bucket));
    const auto release = [&](std::size_t start, std::size_t bytes_each) {
      pages_.release(start, start + before * bytes_each, start + released_ * bytes_each);
    };
    if (has_values_) release(0, sizeof(V));
    release(cols_at(), sizeof(std::int32_t));
    if (has_lines_) release(lines_at(), sizeof(std::uint32_t));
    release(rows_at(), sizeof(std::uint16_t));
  }

  std::int64_t lines_before = 0;  // lines of the file before the block

 private:
  // The arrays stand one behind the other, in the order of their alignment: values (0 or size_ of
  // them), columns, lines (0 or size_), rows.
  std::size_t cols_at() const noexcept { return has_values_ ? size_ * sizeof(V) : 0; }
  std::size_t lines_at() const noexcept { return cols_at() + size_ * sizeof(std::int32_t); }
  std::size_t rows_at() const noexcept {
    return lines_at() + (has_lines_ ? size_ * sizeof(std::uint32_t) : 0);
  }
  V* values() const noexcept { return reinterpret_cast<V*>(pages_.data()); }
  std::int32_t* cols() const noexcept {
    return reinterpret_cast<std::int32_t*>(pages_.data() + cols_at());
  }
  std::uint32_t* lines() const noexcept {
    return reinterpret_cast<std::uint32_t*>(pages_.data() + lines_at());
  }
  std::uint16_t* rows() const noexcept {
    return reinterpret_cast<std::uint16_t*>(pages_.data() + rows_at());
  }

  std::size_t begin(std::size_t bucket) const noexcept {
    return bucket == 0 ? 0 : ends_[bucket - 1];
  }

  /// Sets ends_; true where the entries stand in the order of their buckets already.
  bool count_buckets(std::span<const std::int64_t> list, const RowBuckets& buckets) {
    bool ordered = true;
    for (std::size_t k = 0; k < list.size();) {
      const std::size_t bucket = buckets.of(list[k]);
      const std::size_t first = k;
      while (++k < list.size() && buckets.of(list[k]) == bucket) {
      }
      ordered = ordered && (k == list.size() || buckets.of(list[k]) > bucket);
      ends_[bucket] += static_cast<std::uint32_t>(k - first);
    }
    std::partial_sum(ends_.begin(), ends_.end(), ends_.begin());
    return ordered;
  }

  void copy(const EntryList<V>& list, const RowBuckets& buckets) {
    std::ranges::transform(list.rows(), rows(),
                           [&](std::int64_t row) { return buckets.place(row); });
    std::ranges::copy(list.cols(), cols());
    std::ranges::copy(list.values(), values());
    std::ranges::copy(list.lines(), lines());
  }

  void group(const EntryList<V>& list, const RowBuckets& buckets) {
    std::vector<std::uint32_t> next(ends_.size());
    std::copy(ends_.begin(), ends_.end() - 1, next.begin() + 1);
    for (std::size_t k = 0; k < list.size(); ++k) {
      const std::size_t at = next[buckets.of(list.rows()[k])]++;
      rows()[at] = buckets.place(list.rows()[k]);
      cols()[at] = list.cols()[k];
      if (has_values_) values()[at] = list.values()[k];
      if (has_lines_) lines()[at] = list.lines()[k];
    }
  }

  std::vector<std::uint32_t> ends_;  // [buckets]
  bool has_values_;
  bool has_lines_;
  std::size_t size_;
  Pages pages_;
  std::size_t released_ = 0;  // entries whose memory has gone
};

}  // namespace lanky::inline v1::io
