// A position in a Matrix Market text: walks from line to line (past blank lines and comments),
// takes numbers and words from a line, and says where an error is.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "io/line_blocks.hpp"

namespace lanky::inline v1::io {

class TextCursor {
 public:
  /// Over all of a text.
  explicit TextCursor(LineBlocks& blocks) : name_(blocks.name()), blocks_(&blocks) {}
  /// Over whole lines of the text `name`, with so many lines before them.
  TextCursor(const std::string& name, std::string_view lines, std::int64_t lines_before)
      : name_(name),
        block_(lines),
        position_(lines.data()),
        end_(position_ + lines.size()),
        line_(lines_before) {}

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
  /// True where the text ends with the current line, and that without a newline.
  bool at_open_end() const noexcept;
  /// What follows the current line in the text that the cursor was made over.
  std::string_view rest() const noexcept;
  /// What follows the current line in its block, which the cursor gives away.
  TextBlock take_rest_of_block();
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
  void enter_next_block();
  const char* next_line_start() const noexcept;
  void skip_spaces() noexcept;
  bool ends_line(const char* p) const noexcept;
  bool ends_token(const char* p) const noexcept;
  const char* token_end() const noexcept;
  [[noreturn]] void fail(std::int64_t line, std::int64_t column, std::string_view message) const;

  const std::string& name_;
  LineBlocks* blocks_ = nullptr;  // where the next block comes from, if there is one
  TextBlock taken_;               // holds the block, where the cursor took it
  std::string_view block_;
  const char* position_ = nullptr;
  const char* end_ = nullptr;  // of the block, which ends with a line
  const char* token_ = nullptr;
  const char* line_start_ = nullptr;  // null before the first line
  std::int64_t line_ = 0;
  std::int64_t bytes_before_block_ = 0;
};

}  // namespace lanky::inline v1::io
