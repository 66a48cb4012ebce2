#include "io/matrix_market_reader.hpp"

#include <omp.h>

#include <algorithm>

#include "io/coordinate_reader.hpp"
#include "io/csr_builder.hpp"
#include "io/matrix_market_header.hpp"
#include "io/memory_limit.hpp"
#include "io/open_end.hpp"
#include "io/supported.hpp"

namespace lanky::inline v1::io {

namespace {

/// The entries of an array file that are not 0, with the cursor in its size line.
template <class V>
class ArrayReader {
 public:
  ArrayReader(TextCursor& cursor, const Header& header)
      : cursor_(cursor),
        header_(header),
        parser_(header),
        buckets_(header.rows),
        list_(header, false) {}

  /// Column by column; of a symmetric array the lower triangle, of a skew one without diagonal.
  std::vector<EntryBlock<V>> read_all() {
    std::int64_t k = 0;
    for (std::int64_t col = 0; col < header_.cols; ++col) {
      std::int64_t row = header_.symmetry == Symmetry::general          ? 0
                         : header_.symmetry == Symmetry::skew_symmetric ? col + 1
                                                                        : col;
      for (; row < header_.rows; ++row, ++k) {
        if (!cursor_.next_content_line()) parser_.fail_too_few(cursor_, k);
        const V value = parser_.entry_value(cursor_, row == col);
        if (value != V{}) append({row, static_cast<std::int32_t>(col), value});
      }
    }
    open_end_ = k > 0 && cursor_.at_open_end() ? cursor_.line() : 0;
    if (cursor_.next_content_line()) parser_.fail_too_many(cursor_);
    blocks_.emplace_back(list_, buckets_);
    return std::move(blocks_);
  }

  /// The line of the last value, where it lacks its newline; else 0.
  std::int64_t open_end() const noexcept { return open_end_; }

 private:
  static constexpr std::size_t kBlockEntries = std::size_t{1} << 16;

  void append(const Entry<V>& entry) {
    list_.append(entry, cursor_.line());
    if (list_.size() < kBlockEntries) return;
    blocks_.emplace_back(list_, buckets_);
    list_.clear();
  }

  TextCursor& cursor_;
  const Header& header_;
  EntryParser<V> parser_;
  RowBuckets buckets_;
  EntryList<V> list_;
  std::vector<EntryBlock<V>> blocks_;
  std::int64_t open_end_ = 0;
};

[[noreturn]] void fail_at_duplicate(const TextCursor& cursor, DuplicateEntry entry,
                                    bool of_other_triangle) {
  if (of_other_triangle) std::swap(entry.row, entry.col);
  cursor.fail_at_line(
      entry.line,
      concat("entry (", entry.row + 1, ", ", entry.col + 1, ") stands in line ", entry.first,
             " already; remove one, or read with Duplicates::sum or Duplicates::keep"));
}

/// The matrix of a file whose header is known, in the type that its values are read as.
template <class V>
CsrMatrix<V> read_entries(TextCursor& cursor, LineBlocks& lines, const Header& header,
                          const ReadOptions& options, int threads) {
  const bool reject = options.duplicates == Duplicates::reject;
  if (header.format == Format::array) {
    ArrayReader<V> reader(cursor, header);
    CsrBuilder<V> builder(header, reader.read_all(), Duplicates::keep);
    warn_of_open_end(options, lines.name(), reader.open_end());
    return builder.build(threads);
  }
  CoordinateReader<V> reader(cursor, lines, header, reject);
  CsrBuilder<V> builder(header, reader.read_all(threads), options.duplicates);
  warn_of_open_end(options, lines.name(), reader.open_end());
  CsrMatrix<V> matrix = builder.build(threads);
  if (const auto& duplicate = builder.duplicate()) {
    const bool lower = duplicate->row > duplicate->col;
    fail_at_duplicate(cursor, *duplicate,
                      header.symmetry != Symmetry::general && lower != reader.lower());
  }
  return matrix;
}

/// The same with values rounded to T.
template <class T, class V>
CsrMatrix<T> rounded(CsrMatrix<V> matrix) {
  if constexpr (std::is_same_v<T, V>) {
    return matrix;
  } else {
    CsrMatrix<T> result{
        matrix.rows, matrix.cols, std::move(matrix.row_offsets), std::move(matrix.col_indices), {}};
    result.values.reserve(matrix.values.size());
    for (const V& value : matrix.values)
      result.values.push_back(static_cast<T>(value));
    return result;
  }
}

/// Threads that find something to do.
int team_size(const LineBlocks& lines, int most) {
  if (most == 0) most = omp_get_max_threads();
  return lines.count() == 0 ? most : static_cast<int>(std::min<std::int64_t>(most, lines.count()));
}

}  // namespace

template <class T>
CsrMatrix<T> read_matrix_market(const std::filesystem::path& path, const ReadOptions& options,
                                const ReadLimits& limits) {
  ArchiveReader archive(path);
  LineBlocks lines(archive, limits.block_bytes);
  TextCursor cursor(lines);
  const Header header = parse_header(cursor);
  check_readable_as<T>(header, archive.name());
  const std::string what =
      concat(archive.name(), " (", header.rows, " rows, ", header.stored_entries, " entries)");
  return or_out_of_memory(what, [&] {
    return rounded<T>(
        read_entries<Stored<T>>(cursor, lines, header, options, team_size(lines, limits.threads)));
  });
}

Header read_matrix_market_header(const std::filesystem::path& path) {
  ArchiveReader archive(path);
  LineBlocks lines(archive);
  TextCursor cursor(lines);
  return parse_header(cursor);
}

template CsrMatrix<double> read_matrix_market(const std::filesystem::path&, const ReadOptions&,
                                              const ReadLimits&);
template CsrMatrix<float> read_matrix_market(const std::filesystem::path&, const ReadOptions&,
                                             const ReadLimits&);
template CsrMatrix<half> read_matrix_market(const std::filesystem::path&, const ReadOptions&,
                                            const ReadLimits&);
template CsrMatrix<bfloat16> read_matrix_market(const std::filesystem::path&, const ReadOptions&,
                                                const ReadLimits&);
template CsrMatrix<std::complex<float>> read_matrix_market(const std::filesystem::path&,
                                                           const ReadOptions&, const ReadLimits&);
template CsrMatrix<std::complex<double>> read_matrix_market(const std::filesystem::path&,
                                                            const ReadOptions&, const ReadLimits&);

}  // namespace lanky::inline v1::io
