#include "io/matrix_market_header.hpp"

#include <array>
#include <limits>
#include <utility>

#include "core/text.hpp"

namespace lanky::inline v1::io {

namespace {

template <class E>
using Name = std::pair<std::string_view, E>;

constexpr std::array kFormats = {Name<Format>{"coordinate", Format::coordinate},
                                 Name<Format>{"array", Format::array}};
constexpr std::array kFields = {
    Name<Field>{"real", Field::real},
    Name<Field>{"integer", Field::integer},
    Name<Field>{"pattern", Field::pattern},
    Name<Field>{"complex", Field::complex},
    Name<Field>{"double", Field::real},  // synonyms that other programs write
    Name<Field>{"unsigned-integer", Field::integer}};
constexpr std::array kSymmetries = {Name<Symmetry>{"general", Symmetry::general},
                                    Name<Symmetry>{"symmetric", Symmetry::symmetric},
                                    Name<Symmetry>{"skew-symmetric", Symmetry::skew_symmetric},
                                    Name<Symmetry>{"hermitian", Symmetry::hermitian}};

/// The next word of the banner, which must be in `names`.
template <class E, std::size_t kCount>
E keyword(TextCursor& cursor, std::string_view what, const std::array<Name<E>, kCount>& names) {
  const std::string word = cursor.word();
  std::string known;
  for (const auto& [name, value] : names) {
    if (name == word) return value;
    known += concat(known.empty() ? "" : ", ", name);
  }
  cursor.fail_at_token(concat(what, " ", cursor.token(), " is unknown; known are ", known));
}

Header parse_banner(TextCursor& cursor) {
  if (!cursor.next_line()) {
    cursor.fail_here("the file is empty; a Matrix Market file starts with %%MatrixMarket");
  }
  if (cursor.word() != "%%matrixmarket") {
    cursor.fail_at_token(concat("the file starts with ", cursor.token(),
                                ", not with %%MatrixMarket; is it a Matrix Market file?"));
  }
  if (cursor.word() != "matrix") {
    cursor.fail_at_token(concat("object ", cursor.token(), " is not read; only \"matrix\" can be"));
  }
  Header header;
  header.format = keyword(cursor, "format", kFormats);
  header.field = keyword(cursor, "field", kFields);
  if (header.format == Format::array && header.field == Field::pattern) {
    cursor.fail_at_token("an array cannot be of field pattern; name real, integer or complex");
  }
  header.symmetry = keyword(cursor, "symmetry", kSymmetries);
  if (header.field == Field::pattern &&
      (header.symmetry == Symmetry::skew_symmetric || header.symmetry == Symmetry::hermitian)) {
    cursor.fail_at_token(concat("a pattern cannot be ", cursor.token(),
                                "; name symmetric or general, or another field"));
  }
  cursor.end_line();
  return header;
}

std::int64_t extent(TextCursor& cursor, std::string_view what) {
  const std::int64_t value = cursor.integer(what);
  if (value < 0) {
    cursor.fail_at_token(concat(what, " ", value, " is negative; correct the size line"));
  }
  return value;
}

/// Entries that an array file stores: all of a general one, the lower triangle of another.
std::int64_t array_entries(TextCursor& cursor, const Header& header) {
  const std::int64_t m = header.rows;
  const std::int64_t n = header.cols;
  if (n != 0 && m > std::numeric_limits<std::int64_t>::max() / 2 / n) {
    cursor.fail_at_token(concat("an array of ", m, " x ", n, " has too many entries to count"));
  }
  switch (header.symmetry) {
    case Symmetry::general:
      return m * n;
    case Symmetry::skew_symmetric:
      return m * (m - 1) / 2;
    case Symmetry::symmetric:
    case Symmetry::hermitian:
      break;
  }
  return m * (m + 1) / 2;
}

/// The fewest bytes that an entry can take: "1 1 0\n" for a real one.
std::int64_t least_bytes_per_entry(const Header& header) {
  const std::int64_t indices = header.format == Format::coordinate ? 4 : 0;
  switch (header.field) {
    case Field::pattern:
      return indices;
    case Field::complex:
      return indices + 4;
    case Field::real:
    case Field::integer:
      break;
  }
  return indices + 2;
}

void check_count(TextCursor& cursor, const Header& header) {
  const auto left = cursor.bytes_left();
  if (!left) return;
  // The last line may lack its newline, and the rest of the size line is counted too.
  if (header.stored_entries > (*left + 1) / least_bytes_per_entry(header)) {
    cursor.fail_at_token(concat("the size line promises ", header.stored_entries,
                                " entries, but only ", *left,
                                " bytes follow; correct it, or fetch the whole file"));
  }
}

}  // namespace

Header parse_header(TextCursor& cursor) {
  Header header = parse_banner(cursor);
  if (!cursor.next_content_line()) {
    cursor.fail_here("the file ends before the size line; fetch the whole file");
  }
  header.rows = extent(cursor, "number of rows");
  header.cols = extent(cursor, "number of columns");
  if (header.symmetry != Symmetry::general && header.rows != header.cols) {
    cursor.fail_at_token(concat("a matrix of ", header.rows, " rows and ", header.cols,
                                " columns is not square, so not symmetric in any sense; correct "
                                "the size line, or name it general in line 1"));
  }
  header.stored_entries = header.format == Format::array ? array_entries(cursor, header)
                                                         : extent(cursor, "number of entries");
  check_count(cursor, header);
  cursor.end_line();
  return header;
}

}  // namespace lanky::inline v1::io
