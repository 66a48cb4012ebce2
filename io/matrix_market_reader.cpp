#include "io/matrix_market_reader.hpp"

#include <algorithm>
#include <limits>

#include "io/csr_builder.hpp"
#include "io/matrix_market_header.hpp"
#include "io/memory_limit.hpp"

namespace lanky::io {

namespace {

/// Reads the entries of one file whose header is known.
template <class T>
class EntryReader {
 public:
  EntryReader(TextCursor& cursor, const Header& header, bool keep_lines)
      : cursor_(cursor), header_(header), keep_lines_(keep_lines) {}

  std::vector<Entry<T>> read_all() {
    // Of a plain file the count has been checked; of others it is believed as entries arrive.
    reserve(cursor_.bytes_left() ? header_.stored_entries : kFirstEntries);
    if (header_.format == Format::coordinate) {
      for (std::int64_t k = 0; k < header_.stored_entries; ++k)
        read_coordinate_entry(k);
    } else {
      read_array();
    }
    if (cursor_.next_content_line()) {
      cursor_.fail_here(concat("there is more text after the last of ", header_.stored_entries,
                               " entries; correct the size line, or remove the rest"));
    }
    return std::move(entries_);
  }

  /// Of each entry, where lines are kept.
  const std::vector<std::int64_t>& lines() const noexcept { return lines_; }

 private:
  static constexpr std::int64_t kFirstEntries = 1 << 16;

  void reserve(std::int64_t count) {
    entries_.reserve(static_cast<std::size_t>(std::min(count, header_.stored_entries)));
  }

  void append(const Entry<T>& entry) {
    const std::size_t size = entries_.size();
    if (size == entries_.capacity()) reserve(2 * static_cast<std::int64_t>(size));
    entries_.push_back(entry);
  }

  void read_coordinate_entry(std::int64_t k) {
    go_to_entry(k);
    const std::int64_t row = index("row index", header_.rows);
    const std::int64_t col = index("column index", header_.cols);
    if (header_.symmetry != Symmetry::general) check_triangle(row, col);
    const Wide<T> value = entry_value(row == col);
    cursor_.end_line();
    append({row - 1, static_cast<std::int32_t>(col - 1), value});
    if (keep_lines_) lines_.push_back(cursor_.line());
  }

  /// Column by column; of a symmetric array the lower triangle, of a skew one without diagonal.
  void read_array() {
    std::int64_t k = 0;
    for (std::int64_t col = 0; col < header_.cols; ++col) {
      std::int64_t row = header_.symmetry == Symmetry::general          ? 0
                         : header_.symmetry == Symmetry::skew_symmetric ? col + 1
                                                                        : col;
      for (; row < header_.rows; ++row, ++k) {
        go_to_entry(k);
        const Wide<T> value = entry_value(row == col);
        cursor_.end_line();
        if (value != Wide<T>{}) append({row, static_cast<std::int32_t>(col), value});
      }
    }
  }

  void go_to_entry(std::int64_t k) {
    if (cursor_.next_content_line()) return;
    cursor_.fail_here(concat("the file ends after ", k, " of ", header_.stored_entries,
                             " entries; fetch the whole file, or correct the size line"));
  }

  std::int64_t index(std::string_view what, std::int64_t limit) {
    const std::int64_t value = cursor_.integer(what);
    if (value < 1 || value > limit) {
      cursor_.fail_at_token(concat(what, " ", value, " is outside 1..", limit,
                                   "; correct it, or the size line (indices count from 1)"));
    }
    return value;
  }

  /// A symmetric file holds one triangle, the lower as the format demands or, as some programs
  /// write, the upper. With both, entries and their mirror images would add up unnoticed.
  void check_triangle(std::int64_t row, std::int64_t col) {
    if (row == col) return;
    const bool lower = row > col;
    if (line_of_triangle_ == 0) {
      line_of_triangle_ = cursor_.line();
      lower_ = lower;
    }
    if (lower == lower_) return;
    cursor_.fail_at_token(concat("entry (", row, ", ", col, ") is in the ",
                                 lower ? "lower" : "upper", " triangle, that of line ",
                                 line_of_triangle_,
                                 " in the other; keep one of them, or name the matrix general"));
  }

  Wide<T> entry_value(bool on_diagonal) {
    const Wide<T> value = stored_value();
    if (on_diagonal) check_diagonal(value);
    return value;
  }

  void check_diagonal(const Wide<T>& value) const {
    if (header_.symmetry == Symmetry::skew_symmetric && value != Wide<T>{}) {
      cursor_.fail_at_token(concat("value ", cursor_.token(),
                                   " is on the diagonal of a skew-symmetric matrix; it must be 0"));
    }
    if constexpr (kIsComplex<T>) {
      if (header_.symmetry == Symmetry::hermitian && value.imag() != 0) {
        cursor_.fail_at_token(concat("imaginary part ", cursor_.token(),
                                     " is on the diagonal of a hermitian matrix; it must be 0"));
      }
    }
  }

  Wide<T> stored_value() {
    switch (header_.field) {
      case Field::pattern:
        return 1;
      case Field::integer:
        return cursor_.integral<Part>();
      case Field::complex:
        if constexpr (kIsComplex<T>) {
          const double real = cursor_.real<Part>();
          return {real, cursor_.real<Part>()};
        }
        break;  // refused before
      case Field::real:
        break;
    }
    return cursor_.real<Part>();
  }

  /// What a decimal is rounded to when it is read. A float is read as one, since by way of double
  /// it would be rounded twice; the half types round from double when they are put in place.
  using Part =
      std::conditional_t<kDType<T> == DType::f32 || kDType<T> == DType::c64, float, double>;

  TextCursor& cursor_;
  const Header& header_;
  bool keep_lines_;
  std::vector<Entry<T>> entries_;
  std::vector<std::int64_t> lines_;
  std::int64_t line_of_triangle_ = 0;  // of the first entry off the diagonal
  bool lower_ = true;
};

template <class T>
void check_supported(const Header& header, const std::string& name) {
  if (header.field == Field::complex && !kIsComplex<T>) {
    throw Error(ErrorCode::unsupported,
                concat(name, ": has complex entries, which type ", lanky::name(kDType<T>),
                       " cannot hold; read it as c64 or c128"));
  }
  constexpr std::int64_t kMostColumns = std::numeric_limits<std::int32_t>::max();
  if (header.cols > kMostColumns) {
    throw Error(ErrorCode::unsupported,
                concat(name, ": has ", header.cols, " columns, but at most ", kMostColumns,
                       " are supported"));
  }
}

/// Throws for the first entry in the file whose place another one before it has taken.
template <class T>
void reject_duplicates(const TextCursor& cursor, const std::vector<Entry<T>>& entries,
                       const std::vector<std::int64_t>& lines) {
  std::vector<std::size_t> order(entries.size());
  for (std::size_t k = 0; k < order.size(); ++k)
    order[k] = k;
  const auto place = [&](std::size_t k) { return std::pair(entries[k].row, entries[k].col); };
  std::ranges::stable_sort(order, {}, place);
  std::size_t first = entries.size();
  std::size_t second = entries.size();
  for (std::size_t k = 1; k < order.size(); ++k) {
    if (place(order[k - 1]) == place(order[k]) && order[k] < second) {
      first = order[k - 1];
      second = order[k];
    }
  }
  if (second == entries.size()) return;
  cursor.fail_at_line(
      lines[second],
      concat("entry (", entries[second].row + 1, ", ", entries[second].col + 1, ") stands in line ",
             lines[first],
             " already; remove one, or read with Duplicates::sum or Duplicates::keep"));
}

}  // namespace

template <class T>
CsrMatrix<T> read_matrix_market(const std::filesystem::path& path, const ReadOptions& options) {
  ArchiveReader archive(path);
  TextCursor cursor(archive);
  const Header header = parse_header(cursor);
  check_supported<T>(header, archive.name());
  const std::string what =
      concat(archive.name(), " (", header.rows, " rows, ", header.stored_entries, " entries)");
  MemoryLimit(sizeof(std::int64_t), what).check(header.rows);
  return or_out_of_memory(what, [&] {
    const bool reject = options.duplicates == Duplicates::reject;
    EntryReader<T> reader(cursor, header, reject);
    std::vector<Entry<T>> entries = reader.read_all();
    if (reject) reject_duplicates(cursor, entries, reader.lines());
    return build_csr<T>(header, std::move(entries), options.duplicates == Duplicates::sum);
  });
}

Header read_matrix_market_header(const std::filesystem::path& path) {
  ArchiveReader archive(path);
  TextCursor cursor(archive);
  return parse_header(cursor);
}

template CsrMatrix<double> read_matrix_market(const std::filesystem::path&, const ReadOptions&);
template CsrMatrix<float> read_matrix_market(const std::filesystem::path&, const ReadOptions&);
template CsrMatrix<half> read_matrix_market(const std::filesystem::path&, const ReadOptions&);
template CsrMatrix<bfloat16> read_matrix_market(const std::filesystem::path&, const ReadOptions&);
template CsrMatrix<std::complex<float>> read_matrix_market(const std::filesystem::path&,
                                                           const ReadOptions&);
template CsrMatrix<std::complex<double>> read_matrix_market(const std::filesystem::path&,
                                                            const ReadOptions&);

}  // namespace lanky::io
