// A position in a Matrix Market text: walks from line to line (past blank lines and comments),
// takes numbers and words from a line, and says where an error is.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "io/archive_reader.hpp"

namespace lanky::io {

/// Cuts a stream into blocks of whole lines.
class LineBlocks {
 public:
  explicit LineBlocks(ArchiveReader& reader);

  /// The longest line that comes whole, its newline included.
  static constexpr std::size_t kLongestLine = std::size_t{64} << 20;

  /// The next block, kept until the next call; empty at the end. Where it is kLongestLine bytes
  /// without a newline at their end, a longer line has been cut.
  std::string_view next();

 private:
  ArchiveReader& reader_;
  std::vector<char> buffer_;
  std::size_t size_ = 0;  // bytes read into the buffer
  std::size_t used_ = 0;  // of these, bytes already given out
  bool at_end_ = false;
};

class TextCursor {
 public:
  explicit TextCursor(ArchiveReader& reader) : reader_(reader), blocks_(reader) {}

  /// Goes to the next line that is not blank; false at the end of the text.
  bool next_line();
  /// Goes to the next line that is neither blank nor a comment.
  bool next_content_line();
  /// Throws unless nothing, or a comment, is left on the line.
  void end_line();
  bool at_end_of_line();

  /// The next characters up to a space, in lower case; empty at the end of the line.
  std::string word();
  /// An integer; `what` names it in errors.
  std::int64_t integer(std::string_view what);
  /// A number, rounded to F (double or float); NaN and infinity in any case.
  template <class F>
  F real();
  /// The same of a field that allows integers only.
  template <class F>
  F integral();

  /// Lines count from 1.
  std::int64_t line() const noexcept { return line_; }
  /// Bytes from the current position to the end of the text, where that is known.
  std::optional<std::int64_t> bytes_left() const noexcept;

  /// Throws Error(parse) "FILE:LINE:COLUMN: message", at the current position or at the start of
  /// the last number or word taken.
  [[noreturn]] void fail_here(std::string_view message) const;
  [[noreturn]] void fail_at_token(std::string_view message) const;
  [[noreturn]] void fail_at_line(std::int64_t line, std::string_view message) const;
  /// The last number or word as it stands in the file, quoted and cut for messages.
  std::string token() const;

 private:
  bool advance();
  void skip_spaces() noexcept;
  bool ends_line(const char* p) const noexcept;
  bool ends_token(const char* p) const noexcept;
  const char* token_end() const noexcept;
  [[noreturn]] void fail(std::int64_t line, std::int64_t column, std::string_view message) const;

  ArchiveReader& reader_;
  LineBlocks blocks_;
  const char* position_ = nullptr;
  const char* end_ = nullptr;  // of the block, which ends with a line
  const char* token_ = nullptr;
  const char* line_start_ = nullptr;
  const char* block_start_ = nullptr;
  std::int64_t line_ = 0;
  std::int64_t bytes_before_block_ = 0;
};

}  // namespace lanky::io
