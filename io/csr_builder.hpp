// From blocks of entries to CSR: bucket after bucket of rows, each by one thread, a stable counting
// sort by row, then each row by column, so that duplicates meet in the order of the file. The
// memory of the blocks goes back to the system as the matrix grows.
#pragma once

#include <sys/mman.h>

#include <exception>
#include <lanky/csr.hpp>
#include <lanky/io.hpp>
#include <mutex>
#include <numeric>
#include <optional>
#include <vector>

#include "io/entry_block.hpp"
#include "io/prefault.hpp"

namespace lanky::inline v1::io {

/// Two entries of a file with one place.
struct DuplicateEntry {
  std::int64_t row, col;     // counted from 0
  std::int64_t line, first;  // of this entry, and of the one before it
};

/// Sorts rows by column, and looks for duplicates there.
template <class V>
class RowSorter {
 public:
  /// Whether there is nothing to do for a row, nor a duplicate in it.
  static bool is_ascending(const std::int32_t* cols, std::size_t size) {
    bool ascending = true;
    for (std::size_t k = 1; k < size; ++k)
      ascending = ascending && cols[k - 1] < cols[k];
    return ascending;
  }

  /// A row in the order of the file; `lines` is null where they are not known.
  void sort(std::int32_t* cols, V* values, std::int64_t* lines, std::size_t size) {
    if (std::is_sorted(cols, cols + size)) return;
    order_.clear();
    for (std::size_t k = 0; k < size; ++k)
      order_.emplace_back(cols[k], k);
    std::ranges::sort(order_);
    for (std::size_t k = 0; k < size; ++k)
      cols[k] = order_[k].first;
    permute(values, values_);
    if (lines != nullptr) permute(lines, lines_);
  }

  /// Adds up the values of equal columns, in wide precision; how many entries are left.
  static std::size_t add_duplicates(std::int32_t* cols, V* values, std::size_t size) {
    std::size_t out = 0;
    for (std::size_t k = 0; k < size; ++out) {
      Wide<V> sum = values[k];
      const std::int32_t col = cols[k];
      for (++k; k < size && cols[k] == col; ++k)
        sum += static_cast<Wide<V>>(values[k]);
      cols[out] = col;
      values[out] = static_cast<V>(sum);
    }
    return out;
  }

 private:
  template <class E>
  void permute(E* row, std::vector<E>& copy) const {
    copy.assign(row, row + order_.size());
    for (std::size_t k = 0; k < order_.size(); ++k)
      row[k] = copy[order_[k].second];
  }

  std::vector<std::pair<std::int32_t, std::size_t>> order_;  // column, place in the file
  std::vector<V> values_;
  std::vector<std::int64_t> lines_;
};

template <class V>
class CsrBuilder {
 public:
  CsrBuilder(const Header& header, std::vector<EntryBlock<V>> blocks, Duplicates duplicates)
      : buckets_(header.rows), blocks_(std::move(blocks)), duplicates_(duplicates) {
    matrix_.rows = header.rows;
    matrix_.cols = header.cols;
  }

  /// The matrix; with Duplicates::reject it holds what the file holds.
  CsrMatrix<V> build(int threads) {
    matrix_.row_offsets.assign(static_cast<std::size_t>(buckets_.rows) + 1, 0);
    const std::vector<std::int64_t> begins = bucket_begins();
    reserve(matrix_.col_indices, begins.back());
    reserve(matrix_.values, begins.back());
    for (std::size_t first = 0; first < buckets_.count;) {
      const std::size_t last = round_end(begins, first);
      append_buckets(begins, first, last, threads);
      first = last;
    }
    matrix_.col_indices.resize(filled_);
    matrix_.values.resize(filled_);
#pragma omp parallel for num_threads(threads)
    for (EntryBlock<V>& block : blocks_)
      EntryBlock<V>(std::move(block));
    std::partial_sum(matrix_.row_offsets.begin(), matrix_.row_offsets.end(),
                     matrix_.row_offsets.begin());
    return std::move(matrix_);
  }

  /// With Duplicates::reject, the first entry in the file whose place another one has taken.
  const std::optional<DuplicateEntry>& duplicate() const noexcept {
    return duplicate_;
  }

 private:
  /// What the matrix and the blocks may take together, in units of the whole matrix.
  static constexpr double kMostMemory = 1.35;
  /// The part of the matrix that a round adds at least, where the blocks alone take nearly as much.
  /// After each round memory goes back, which stops the other threads: done twelve times, it took a
  /// fifth of all the time of a symmetric file.
  static constexpr double kLeastRound = 1.0 / 16;

  /// Where the entries of a bucket begin, if none are added up; [buckets + 1].
  std::vector<std::int64_t> bucket_begins() const {
    std::vector<std::int64_t> begins(buckets_.count + 1, 0);
    for (const EntryBlock<V>& block : blocks_) {
      for (std::size_t b = 0; b < buckets_.count; ++b)
        begins[b + 1] += static_cast<std::int64_t>(block.size(b));
    }
    std::partial_sum(begins.begin(), begins.end(), begins.begin());
    return begins;
  }

  /// The last bucket (exclusive) of the round that begins with `first`: as many as memory has room
  /// for beside the blocks, which have given back what is before `first`.
  std::size_t round_end(const std::vector<std::int64_t>& begins, std::size_t first) const {
    const auto all = static_cast<double>(begins.back());
    const double each = sizeof(std::int32_t) + sizeof(V);
    const double each_in_blocks =
        blocks_.empty() ? 0 : static_cast<double>(blocks_.front().bytes_per_entry());
    const double in_blocks = (all - static_cast<double>(begins[first])) * each_in_blocks;
    const double room = std::max(kMostMemory * all - in_blocks / each,
                                 static_cast<double>(begins[first]) + kLeastRound * all);
    std::size_t last = first + 1;
    while (last < buckets_.count && static_cast<double>(begins[last + 1]) <= room)
      ++last;
    return last;
  }

  void append_buckets(const std::vector<std::int64_t>& begins, std::size_t first, std::size_t last,
                      int threads) {
    const auto place = [&, out = filled_](std::size_t bucket) {
      return out + static_cast<std::size_t>(begins[bucket] - begins[first]);
    };
    const std::size_t before = matrix_.values.size();
    std::vector<std::size_t> kept(last - first);
    std::exception_ptr failure;
#pragma omp parallel num_threads(threads)
    {
      take_pages(matrix_.col_indices.data() + before, matrix_.col_indices.data() + place(last));
      take_pages(matrix_.values.data() + before, matrix_.values.data() + place(last));
#pragma omp sections
      {
#pragma omp section
        matrix_.col_indices.resize(place(last));
#pragma omp section
        matrix_.values.resize(place(last));
      }
      BucketWork work;
#pragma omp for schedule(dynamic)
      for (std::size_t b = first; b < last; ++b) {
        try {
          kept[b - first] = fill_bucket(b, place(b), work);
        } catch (...) {
          const std::lock_guard lock(mutex_);
          failure = std::current_exception();
        }
      }
      if (last < buckets_.count) {
#pragma omp for schedule(static)
        for (EntryBlock<V>& block : blocks_)
          block.release_before(last);
      }
    }
    if (failure) std::rethrow_exception(failure);
    for (std::size_t b = first; b < last; ++b) {
      move_down(place(b), filled_, kept[b - first]);
      filled_ += kept[b - first];
    }
  }

  /// Large pages: their faults take a fifth of the time otherwise.
  template <class E>
  static void reserve(std::vector<E>& array, std::int64_t size) {
    array.reserve(static_cast<std::size_t>(size));
    const WholePages pages(array.data(), array.data() + size);
    if (pages.first < pages.last) {
      madvise(reinterpret_cast<void*>(pages.first), pages.last - pages.first, MADV_HUGEPAGE);
    }
  }

  void move_down(std::size_t from, std::size_t to, std::size_t count) {
    if (from == to) return;
    std::copy_n(matrix_.col_indices.data() + from, count, matrix_.col_indices.data() + to);
    std::copy_n(matrix_.values.data() + from, count, matrix_.values.data() + to);
  }

  /// What a thread keeps from one bucket to the next.
  struct BucketWork {
    std::vector<std::size_t> ends;    // of each row, while entries are placed
    std::vector<std::int64_t> lines;  // of each entry, where they are kept
    RowSorter<V> sorter;
  };

  /// Places the entries of a bucket from `begin` on, and sets the lengths of its rows; how many
  /// entries are left.
  std::size_t fill_bucket(std::size_t bucket, std::size_t begin, BucketWork& work) {
    place_entries(bucket, begin, work);
    std::int64_t* lengths = matrix_.row_offsets.data() + buckets_.first_row(bucket) + 1;
    std::size_t from = 0;
    std::size_t to = 0;
    for (std::size_t i = 0; i < work.ends.size(); ++i) {
      std::size_t size = work.ends[i] - from;
      if (!RowSorter<V>::is_ascending(matrix_.col_indices.data() + begin + from, size)) {
        size = order_row(buckets_.first_row(bucket) + static_cast<std::int64_t>(i), begin, from,
                         size, work);
      }
      move_down(begin + from, begin + to, size);
      lengths[i] = static_cast<std::int64_t>(size);
      from = work.ends[i];
      to += size;
    }
    return to;
  }

  /// Sorts the entries that stand at `from` in a bucket, and looks after duplicates; how many
  /// entries are left.
  std::size_t order_row(std::int64_t row, std::size_t begin, std::size_t from, std::size_t size,
                        BucketWork& work) {
    std::int32_t* cols = matrix_.col_indices.data() + begin + from;
    V* values = matrix_.values.data() + begin + from;
    std::int64_t* lines = work.lines.empty() ? nullptr : work.lines.data() + from;
    work.sorter.sort(cols, values, lines, size);
    if (lines != nullptr) note_duplicate(row, cols, lines, size);
    if (duplicates_ != Duplicates::sum) return size;
    return RowSorter<V>::add_duplicates(cols, values, size);
  }

  /// Groups the entries of a bucket by row, in the order of the file within a row.
  void place_entries(std::size_t bucket, std::size_t begin, BucketWork& work) {
    const bool ordered = count_rows(bucket, work.ends);
    const std::size_t count = std::accumulate(work.ends.begin(), work.ends.end(), std::size_t{0});
    work.lines.resize(duplicates_ == Duplicates::reject ? count : 0);
    if (ordered) {
      std::partial_sum(work.ends.begin(), work.ends.end(), work.ends.begin());
      copy_entries(bucket, begin, work);
    } else {
      std::exclusive_scan(work.ends.begin(), work.ends.end(), work.ends.begin(), std::size_t{0});
      scatter_entries(bucket, begin, work);
    }
  }

  /// The entries of each row; true where they stand in the order of rows.
  bool count_rows(std::size_t bucket, std::vector<std::size_t>& counts) const {
    counts.assign(buckets_.rows_of(bucket), 0);
    bool ordered = true;
    std::uint16_t last = 0;
    for (const EntryBlock<V>& block : blocks_) {
      for (const std::uint16_t row : block.segment(bucket).rows) {
        ++counts[row];
        ordered = ordered && row >= last;
        last = row;
      }
    }
    return ordered;
  }

  void copy_entries(std::size_t bucket, std::size_t begin, BucketWork& work) {
    std::size_t at = 0;
    for (const EntryBlock<V>& block : blocks_) {
      const Segment<V> segment = block.segment(bucket);
      const std::size_t size = segment.rows.size();
      std::copy_n(segment.cols, size, matrix_.col_indices.data() + begin + at);
      if (segment.values == nullptr) {
        std::fill_n(matrix_.values.data() + begin + at, size, V{1});
      } else {
        std::copy_n(segment.values, size, matrix_.values.data() + begin + at);
      }
      for (std::size_t k = 0; segment.lines != nullptr && k < size; ++k)
        work.lines[at + k] = block.lines_before + segment.lines[k];
      at += size;
    }
  }

  /// Takes `work.ends` from where the rows begin to where they end.
  void scatter_entries(std::size_t bucket, std::size_t begin, BucketWork& work) {
    std::int32_t* cols = matrix_.col_indices.data() + begin;
    V* values = matrix_.values.data() + begin;
    for (const EntryBlock<V>& block : blocks_) {
      const Segment<V> segment = block.segment(bucket);
      for (std::size_t k = 0; k < segment.rows.size(); ++k) {
        const std::size_t at = work.ends[segment.rows[k]]++;
        cols[at] = segment.cols[k];
        values[at] = segment.values == nullptr ? V{1} : segment.values[k];
        if (segment.lines != nullptr) work.lines[at] = block.lines_before + segment.lines[k];
      }
    }
  }

  void note_duplicate(std::int64_t row, const std::int32_t* cols, const std::int64_t* lines,
                      std::size_t size) {
    for (std::size_t k = 1; k < size; ++k) {
      if (cols[k - 1] != cols[k]) continue;
      const std::lock_guard lock(mutex_);
      if (!duplicate_ || lines[k] < duplicate_->line) {
        duplicate_ = {row, cols[k], lines[k], lines[k - 1]};
      }
    }
  }

  RowBuckets buckets_;
  std::vector<EntryBlock<V>> blocks_;
  Duplicates duplicates_;
  CsrMatrix<V> matrix_;
  std::size_t filled_ = 0;  // entries in place
  std::mutex mutex_;        // for duplicate_ and failures
  std::optional<DuplicateEntry> duplicate_;
};

}  // namespace lanky::inline v1::io
