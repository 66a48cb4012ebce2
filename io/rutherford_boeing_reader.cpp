#include "io/rutherford_boeing_reader.hpp"

#include <algorithm>

#include "io/csc.hpp"
#include "io/memory_limit.hpp"
#include "io/rutherford_boeing_header.hpp"
#include "io/supported.hpp"

namespace lanky::inline v1::io {

namespace {

/// What a decimal is rounded to when it is read. A float is read as one, since by way of double it
/// would be rounded twice; the half types round from double when they are put in place.
template <class T>
using ReadAs =
    std::conditional_t<kDType<T> == DType::f32 || kDType<T> == DType::c64, float, double>;

/// Reads the columns of one file whose header is known.
template <class T>
class ColumnReader {
 public:
  ColumnReader(FortranRecords& records, const RutherfordBoeingHeader& header)
      : records_(records), header_(header) {
    csc_.rows = header.matrix.rows;
    csc_.cols = header.matrix.cols;
  }

  CscMatrix<T> read_all() {
    read_pointers();
    first_index_line_ = records_.number() + 1;
    read_indices();
    read_values();
    records_.skip_rest();  // of right-hand sides
    return std::move(csc_);
  }

  /// Throws for the first entry in the file whose place another one before it has taken.
  void reject_duplicates(const CscMatrix<T>& csc) const {
    const auto found = find_duplicate(csc);
    if (!found) return;
    const auto line_of = [&](std::size_t k) {
      return FortranFields::line_of(static_cast<std::int64_t>(k), first_index_line_,
                                    header_.indices);
    };
    records_.fail(line_of(found->later), 1,
                  concat("entry (", csc.row_indices[found->later] + 1, ", ", found->col + 1,
                         ") stands in line ", line_of(found->earlier),
                         " already; remove one, or read with Duplicates::sum or Duplicates::keep"));
  }

 private:
  /// Of a plain file the counts have been checked; of others they are believed as numbers arrive.
  std::size_t believed(std::int64_t count) const {
    constexpr std::int64_t kFirstNumbers = 1 << 16;
    return static_cast<std::size_t>(records_.size_known() ? count : std::min(count, kFirstNumbers));
  }

  void read_pointers() {
    const std::int64_t entries = header_.matrix.stored_entries;
    FortranFields fields(records_, header_.pointers, csc_.cols + 1, "column pointer");
    csc_.col_offsets.reserve(believed(csc_.cols + 1));
    std::int64_t previous = 1;
    for (std::int64_t col = 0; col <= csc_.cols; ++col) {
      const std::int64_t pointer = fields.integer();
      if (pointer < previous || pointer > entries + 1 || (col == 0 && pointer != 1)) {
        fields.fail(concat("is outside ", previous, "..", col == 0 ? 1 : entries + 1,
                           "; pointers count entries from 1 and do not fall"));
      }
      csc_.col_offsets.push_back(pointer - 1);
      previous = pointer;
    }
    if (previous != entries + 1) {
      fields.fail(concat("is the last one and should be ", entries + 1, ", one more than the ",
                         entries, " entries of line 3; correct one of them"));
    }
  }

  void read_indices() {
    const std::int64_t entries = header_.matrix.stored_entries;
    FortranFields fields(records_, header_.indices, entries, "row index");
    csc_.row_indices.reserve(believed(entries));
    std::int64_t col = 0;
    for (std::int64_t k = 0; k < entries; ++k) {
      while (csc_.col_offsets[static_cast<std::size_t>(col) + 1] <= k)
        ++col;
      const std::int64_t row = fields.integer();
      if (row < 1 || row > csc_.rows) {
        fields.fail(
            concat("is outside 1..", csc_.rows, "; correct it, or line 3 (indices count from 1)"));
      }
      if (header_.matrix.symmetry != Symmetry::general) check_side(fields, row - 1, col);
      csc_.row_indices.push_back(row - 1);
    }
  }

  /// A symmetric file holds one triangle. With both, entries and their mirror images would add up
  /// unnoticed.
  void check_side(const FortranFields& fields, std::int64_t row, std::int64_t col) {
    if (row == col) return;
    const bool lower = row > col;
    if (line_of_side_ == 0) {
      line_of_side_ = fields.line();
      lower_ = lower;
    }
    if (lower == lower_) return;
    fields.fail(
        concat("puts entry (", row + 1, ", ", col + 1, ") in the ", lower ? "lower" : "upper",
               " triangle, line ", line_of_side_,
               " has entries of the other; keep one of them, or make the type unsymmetric"));
  }

  void read_values() {
    const std::int64_t entries = header_.matrix.stored_entries;
    if (header_.matrix.field == Field::pattern) {
      csc_.values.assign(static_cast<std::size_t>(entries), Wide<T>(1));
      return;
    }
    const int parts = header_.matrix.field == Field::complex ? 2 : 1;
    FortranFields fields(records_, header_.values, parts * entries, "value");
    csc_.values.reserve(believed(entries));
    std::int64_t col = 0;
    for (std::int64_t k = 0; k < entries; ++k) {
      while (csc_.col_offsets[static_cast<std::size_t>(col) + 1] <= k)
        ++col;
      const Wide<T> value = next_value(fields);
      if (csc_.row_indices[static_cast<std::size_t>(k)] == col) check_on_diagonal(fields, value);
      csc_.values.push_back(value);
    }
  }

  Wide<T> next_value(FortranFields& fields) const {
    const double real = fields.real<ReadAs<T>>();
    if constexpr (kIsComplex<T>) {
      if (header_.matrix.field == Field::complex) return {real, fields.real<ReadAs<T>>()};
    }
    return real;
  }

  void check_on_diagonal(const FortranFields& fields, const Wide<T>& value) const {
    if (header_.matrix.symmetry == Symmetry::skew_symmetric && value != Wide<T>{}) {
      fields.fail("is on the diagonal of a skew-symmetric matrix; it must be 0");
    }
    if constexpr (kIsComplex<T>) {
      if (header_.matrix.symmetry == Symmetry::hermitian && value.imag() != 0) {
        fields.fail("is an imaginary part on the diagonal of a hermitian matrix; it must be 0");
      }
    }
  }

  FortranRecords& records_;
  const RutherfordBoeingHeader& header_;
  CscMatrix<T> csc_;
  std::int64_t first_index_line_ = 0;
  std::int64_t line_of_side_ = 0;  // of the first entry off the diagonal
  bool lower_ = true;
};

}  // namespace

template <class T>
CsrMatrix<T> read_rutherford_boeing(const std::filesystem::path& path, const ReadOptions& options) {
  ArchiveReader archive(path);
  FortranRecords records(archive);
  const RutherfordBoeingHeader header = parse_rutherford_boeing_header(records);
  check_readable_as<T>(header.matrix, archive.name());
  const std::string what = concat(archive.name(), " (", header.matrix.rows, " rows, ",
                                  header.matrix.stored_entries, " entries)");
  return or_out_of_memory(what, [&] {
    ColumnReader<T> reader(records, header);
    CscMatrix<T> csc = reader.read_all();
    if (options.duplicates == Duplicates::reject) reader.reject_duplicates(csc);
    return csr_of(std::move(csc), header.matrix, options.duplicates == Duplicates::sum);
  });
}

Header read_rutherford_boeing_header(const std::filesystem::path& path) {
  ArchiveReader archive(path);
  FortranRecords records(archive);
  return parse_rutherford_boeing_header(records).matrix;
}

template CsrMatrix<double> read_rutherford_boeing(const std::filesystem::path&, const ReadOptions&);
template CsrMatrix<float> read_rutherford_boeing(const std::filesystem::path&, const ReadOptions&);
template CsrMatrix<half> read_rutherford_boeing(const std::filesystem::path&, const ReadOptions&);
template CsrMatrix<bfloat16> read_rutherford_boeing(const std::filesystem::path&,
                                                    const ReadOptions&);
template CsrMatrix<std::complex<float>> read_rutherford_boeing(const std::filesystem::path&,
                                                               const ReadOptions&);
template CsrMatrix<std::complex<double>> read_rutherford_boeing(const std::filesystem::path&,
                                                                const ReadOptions&);

}  // namespace lanky::inline v1::io
