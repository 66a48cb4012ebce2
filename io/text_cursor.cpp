#include "io/text_cursor.hpp"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <lanky/error.hpp>
#include <utility>

#include "core/text.hpp"
#include "io/number.hpp"

namespace lanky::inline v1::io {

namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
constexpr std::string_view kHex = "0123456789abcdef";

bool is_space(char c) noexcept {
  return c == ' ' || c == '\t';
}

bool is_integral(std::string_view token) {
  if (token.starts_with('+') || token.starts_with('-')) token.remove_prefix(1);
  return !token.empty() && std::ranges::all_of(token, [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace

const char* TextCursor::next_line_start() const noexcept {
  if (position_ == end_) return end_;
  const auto left = static_cast<std::size_t>(end_ - position_);
  const auto* newline = static_cast<const char*>(std::memchr(position_, '\n', left));
  return newline == nullptr ? end_ : newline + 1;
}

void TextCursor::enter_next_block() {
  bytes_before_block_ += static_cast<std::int64_t>(block_.size());
  block_ = blocks_->read(taken_);
  if (block_.empty()) {
    blocks_->take(taken_);
    block_ = blocks_->read(taken_);
  }
  position_ = block_.data();
  end_ = position_ + block_.size();
  if (line_ == 1 && block_.starts_with(kByteOrderMark)) position_ += kByteOrderMark.size();
}

bool TextCursor::advance() {
  if (line_start_ != nullptr) position_ = next_line_start();
  ++line_;
  if (position_ == end_ && blocks_ != nullptr) enter_next_block();
  line_start_ = token_ = position_;
  if (position_ != end_ && LineBlocks::is_cut(block_)) {
    fail_here("the line is longer than 64 MiB; is it a Matrix Market file?");
  }
  return position_ != end_;
}

bool TextCursor::next_line() {
  while (advance()) {
    if (!at_end_of_line()) return true;
  }
  return false;
}

bool TextCursor::next_content_line() {
  while (next_line()) {
    if (*position_ != '%') return true;
  }
  return false;
}

void TextCursor::skip_spaces() noexcept {
  while (position_ != end_ && is_space(*position_))
    ++position_;
}

bool TextCursor::ends_line(const char* p) const noexcept {
  return p == end_ || *p == '\n' || (*p == '\r' && (p + 1 == end_ || p[1] == '\n'));
}

bool TextCursor::ends_token(const char* p) const noexcept {
  return ends_line(p) || is_space(*p);
}

bool TextCursor::at_end_of_line() {
  skip_spaces();
  return ends_line(position_);
}

void TextCursor::end_line() {
  if (at_end_of_line() || *position_ == '%') return;
  token_ = position_;
  fail_at_token("the line should end before " + token() + "; remove what follows, or correct it");
}

const char* TextCursor::token_end() const noexcept {
  const char* p = token_;
  while (!ends_token(p))
    ++p;
  return p;
}

std::string TextCursor::word() {
  skip_spaces();
  token_ = position_;
  position_ = token_end();
  std::string text(token_, position_);
  for (char& c : text) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return text;
}

std::int64_t TextCursor::integer(std::string_view what) {
  skip_spaces();
  token_ = position_;
  if (ends_line(position_)) {
    fail_at_token(concat("the line ends where ", what, " should stand; add the missing number"));
  }
  const char* first = position_;
  if (*first == '+' && first + 1 != end_ && first[1] != '-') ++first;
  std::int64_t value = 0;
  const auto [stop, error] = std::from_chars(first, end_, value);
  if (error == std::errc::result_out_of_range) {
    fail_at_token(concat(what, " ", token(), " does not fit 64 bits; correct it"));
  }
  if (error != std::errc() || !ends_token(stop)) {
    fail_at_token(concat(what, " ", token(), " is not an integer; correct it"));
  }
  position_ = stop;
  return value;
}

template <class F>
F TextCursor::real() {
  skip_spaces();
  token_ = position_;
  if (ends_line(position_)) {
    fail_at_token(
        "the line ends where a value should stand; add it, or name the right field "
        "(pattern has no values, complex has two) in line 1");
  }
  F value{};
  const auto [stop, error] = parse_number(position_, end_, value);
  if (error == std::errc::result_out_of_range) {
    fail_at_token(concat("value ", token(), " is beyond the largest double; write inf if meant"));
  }
  if (error != std::errc() || !ends_token(stop)) {
    fail_at_token(concat("value ", token(), " is not a number; correct it"));
  }
  position_ = stop;
  return value;
}

template <class F>
F TextCursor::integral() {
  const F value = real<F>();
  if (!is_integral({token_, position_})) {
    fail_at_token(concat("value ", token(), " is not an integer; name the field real in line 1"));
  }
  return value;
}

bool TextCursor::at_open_end() const noexcept {
  return next_line_start() == end_ && end_ != block_.data() && end_[-1] != '\n';
}

std::string_view TextCursor::rest() const noexcept {
  const char* start = next_line_start();
  return {start, static_cast<std::size_t>(end_ - start)};
}

TextBlock TextCursor::take_rest_of_block() {
  const auto left = static_cast<std::size_t>(end_ - next_line_start());
  TextBlock rest = std::exchange(taken_, {});
  rest.pass(rest.given - left);
  block_ = {};
  position_ = end_ = line_start_ = token_ = nullptr;
  return rest;
}

std::optional<std::int64_t> TextCursor::bytes_left() const noexcept {
  const auto size = blocks_->text_bytes();
  if (!size) return std::nullopt;
  return *size - bytes_before_block_ - (position_ - block_.data());
}

std::string TextCursor::token() const {
  constexpr std::ptrdiff_t kLongest = 40;
  const char* stop = token_end();
  const bool cut = stop - token_ > kLongest;
  if (cut) stop = token_ + kLongest;
  std::string text = "\"";
  for (const char* p = token_; p != stop; ++p) {
    const auto byte = static_cast<unsigned char>(*p);
    if (byte >= 0x20 && byte < 0x7f) {
      text += *p;
    } else {
      text += {'\\', 'x', kHex[byte >> 4], kHex[byte & 15]};
    }
  }
  return text + (cut ? "...\"" : "\"");
}

void TextCursor::fail(std::int64_t line, std::int64_t column, std::string_view message) const {
  throw Error(ErrorCode::parse, concat(name_, ":", line, ":", column, ": ", message));
}

void TextCursor::fail_here(std::string_view message) const {
  fail(line_, position_ - line_start_ + 1, message);
}

void TextCursor::fail_at_token(std::string_view message) const {
  fail(line_, token_ - line_start_ + 1, message);
}

void TextCursor::fail_at_line(std::int64_t line, std::string_view message) const {
  fail(line, 1, message);
}

template double TextCursor::real<double>();
template float TextCursor::real<float>();
template double TextCursor::integral<double>();
template float TextCursor::integral<float>();

}  // namespace lanky::inline v1::io
