// Entries as a TextCursor reads them: every form that the rules allow, and an error that says line
// and column for all others.
#pragma once

#include "core/text.hpp"
#include "io/entry.hpp"
#include "io/text_cursor.hpp"

namespace lanky::inline v1::io {

/// Of a symmetric file, the triangle that holds its entries: that of the first off the diagonal.
struct Triangle {
  std::int64_t line = 0;  // of that entry, 0 where there was none yet
  bool lower = true;

  /// Whether an entry there, in line `at`, goes with those before it.
  bool holds(std::int64_t row, std::int64_t col, std::int64_t at) noexcept {
    if (row == col) return true;
    if (line == 0) *this = {at, row > col};
    return lower == (row > col);
  }
};

template <class V>
class EntryParser {
 public:
  explicit EntryParser(const Header& header) : header_(header) {}

  /// Reads the entry of a coordinate file in the cursor's line.
  void coordinate_entry(TextCursor& cursor, Triangle& triangle, Entry<V>& entry) const {
    const std::int64_t row = index(cursor, "row index", header_.rows);
    const std::int64_t col = index(cursor, "column index", header_.cols);
    if (header_.symmetry != Symmetry::general && !triangle.holds(row, col, cursor.line())) {
      fail_at_triangle(cursor, row, col, triangle);
    }
    entry.row = row - 1;
    entry.col = static_cast<std::int32_t>(col - 1);
    entry.value = entry_value(cursor, row == col);
  }

  /// The value alone in the cursor's line, as array files have it.
  V entry_value(TextCursor& cursor, bool on_diagonal) const {
    const V value = stored_value(cursor);
    if (on_diagonal) check_diagonal(cursor, value);
    cursor.end_line();
    return value;
  }

  /// Throws since the text ends after `count` entries.
  [[noreturn]] void fail_too_few(const TextCursor& cursor, std::int64_t count) const {
    cursor.fail_here(concat("the file ends after ", count, " of ", header_.stored_entries,
                            " entries; fetch the whole file, or correct the size line"));
  }
  [[noreturn]] void fail_too_many(const TextCursor& cursor) const {
    cursor.fail_here(concat("there is more text after the last of ", header_.stored_entries,
                            " entries; correct the size line, or remove the rest"));
  }

 private:
  static std::int64_t index(TextCursor& cursor, std::string_view what, std::int64_t limit) {
    const std::int64_t value = cursor.integer(what);
    if (value < 1 || value > limit) {
      cursor.fail_at_token(concat(what, " ", value, " is outside 1..", limit,
                                  "; correct it, or the size line (indices count from 1)"));
    }
    return value;
  }

  /// A symmetric file holds one triangle, the lower as the format demands or, as some programs
  /// write, the upper. With both, entries and their mirror images would add up unnoticed.
  [[noreturn]] static void fail_at_triangle(const TextCursor& cursor, std::int64_t row,
                                            std::int64_t col, const Triangle& triangle) {
    cursor.fail_at_token(concat("entry (", row, ", ", col, ") is in the ",
                                row > col ? "lower" : "upper", " triangle, that of line ",
                                triangle.line,
                                " in the other; keep one of them, or name the matrix general"));
  }

  void check_diagonal(const TextCursor& cursor, const V& value) const {
    if (header_.symmetry == Symmetry::skew_symmetric && value != V{}) {
      cursor.fail_at_token(concat("value ", cursor.token(),
                                  " is on the diagonal of a skew-symmetric matrix; it must be 0"));
    }
    if constexpr (kIsComplex<V>) {
      if (header_.symmetry == Symmetry::hermitian && value.imag() != 0) {
        cursor.fail_at_token(concat("imaginary part ", cursor.token(),
                                    " is on the diagonal of a hermitian matrix; it must be 0"));
      }
    }
  }

  V stored_value(TextCursor& cursor) const {
    switch (header_.field) {
      case Field::pattern:
        return 1;
      case Field::integer:
        return cursor.integral<Part<V>>();
      case Field::complex:
        if constexpr (kIsComplex<V>) {
          const Part<V> real = cursor.real<Part<V>>();
          return {real, cursor.real<Part<V>>()};
        }
        break;  // refused before
      case Field::real:
        break;
    }
    return cursor.real<Part<V>>();
  }

  const Header& header_;
};

}  // namespace lanky::inline v1::io
