// The lines of a text that a Fortran program wrote, and numbers of fixed width cut from them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "io/archive_reader.hpp"
#include "io/fortran_format.hpp"

namespace lanky::inline v1::io {

class FortranRecords {
 public:
  explicit FortranRecords(ArchiveReader& reader) : reader_(reader) {}

  /// Goes to the next line; false at the end of the text.
  bool next();
  /// The line without its end and the blanks before that; kept until next().
  std::string_view line() const noexcept { return line_; }
  /// False of a last line that the text's end cuts.
  bool line_is_whole() const noexcept { return line_is_whole_; }
  /// Lines count from 1.
  std::int64_t number() const noexcept { return number_; }
  /// Reads the rest, so that checksums of its wrapping are compared.
  void skip_rest();
  /// True where so many numbers of that format may follow as far as the text's size is known.
  bool may_hold(std::int64_t count, const FortranFormat& format) const noexcept;
  const std::string& name() const noexcept { return reader_.name(); }
  /// Whether may_hold() knows the size.
  bool size_known() const noexcept { return reader_.plain_size().has_value(); }

  /// Throws Error(parse) "FILE:LINE:COLUMN: message"; columns count from 1.
  [[noreturn]] void fail(std::int64_t line, std::size_t column, std::string_view message) const;
  [[noreturn]] void fail_here(std::size_t column, std::string_view message) const {
    fail(number_, column, message);
  }

 private:
  bool fill();

  ArchiveReader& reader_;
  std::vector<char> buffer_;
  std::size_t begin_ = 0;  // of what has not been given out
  std::size_t end_ = 0;
  std::string_view line_;
  bool line_is_whole_ = true;
  std::int64_t number_ = 0;
  std::int64_t bytes_read_ = 0;
};

/// `count` numbers of one format, which begin with a new line. A line with as many words as numbers
/// is cut into words: SciPy writes narrower fields than its format says. Others are cut by width.
class FortranFields {
 public:
  FortranFields(FortranRecords& records, const FortranFormat& format, std::int64_t count,
                std::string_view what)
      : records_(records), format_(format), count_(count), what_(what) {}

  /// The next of them, each in turn; throws where a number is missing, or is none.
  std::int64_t integer();
  template <class F>
  F real();

  /// Where the last one stands.
  std::int64_t line() const noexcept { return records_.number(); }
  std::size_t column() const noexcept;
  /// The same of number k, counted from 0, of a section that begins with line `first`.
  static std::int64_t line_of(std::int64_t k, std::int64_t first, const FortranFormat& format) {
    return first + k / format.per_line;
  }
  /// Throws at the last one: what it is, as it stands in the file, and the message.
  [[noreturn]] void fail(std::string_view message) const;

 private:
  std::string_view next();
  void cut_line();

  FortranRecords& records_;
  FortranFormat format_;
  std::int64_t count_;
  std::string_view what_;
  std::int64_t taken_ = 0;
  std::vector<std::string_view> fields_;  // of the line
  std::string_view field_;
};

}  // namespace lanky::inline v1::io
