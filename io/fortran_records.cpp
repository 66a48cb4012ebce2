#include "io/fortran_records.hpp"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <lanky/error.hpp>
#include <type_traits>

#include "core/text.hpp"

namespace lanky::inline v1::io {

namespace {

constexpr std::size_t kRecordBufferBytes = std::size_t{1} << 16;
constexpr std::size_t kLongestRecord = std::size_t{1} << 20;

/// Of blanks alone, the empty text where they begin.
std::string_view without_blanks(std::string_view text) {
  const std::size_t first = text.find_first_not_of(' ');
  if (first == std::string_view::npos) return text.substr(0, 0);
  return text.substr(first, text.find_last_not_of(' ') - first + 1);
}

void split_words(std::string_view line, std::vector<std::string_view>& words) {
  words.clear();
  std::size_t end = 0;
  while (true) {
    const std::size_t first = line.find_first_not_of(' ', end);
    if (first == std::string_view::npos) return;
    end = std::min(line.find(' ', first), line.size());
    words.push_back(line.substr(first, end - first));
  }
}

/// For messages: quoted, cut, and without what is not printable.
std::string shown(std::string_view text) {
  constexpr std::size_t kMostShown = 40;
  std::string quoted = "\"";
  for (const char c : text.substr(0, kMostShown))
    quoted += c >= 0x20 && c < 0x7f ? c : '?';
  return quoted + (text.size() > kMostShown ? "...\"" : "\"");
}

}  // namespace

bool FortranRecords::fill() {
  if (begin_ > 0) std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
  end_ -= begin_;
  begin_ = 0;
  if (end_ == buffer_.size()) buffer_.resize(std::max(kRecordBufferBytes, 2 * end_));
  const std::size_t bytes = reader_.read(buffer_.data() + end_, buffer_.size() - end_);
  bytes_read_ += static_cast<std::int64_t>(bytes);
  end_ += bytes;
  return bytes > 0;
}

bool FortranRecords::next() {
  std::size_t searched = 0;
  const char* newline = nullptr;
  while (newline == nullptr) {
    const std::size_t left = end_ - begin_ - searched;
    if (left > 0) {
      newline =
          static_cast<const char*>(std::memchr(buffer_.data() + begin_ + searched, '\n', left));
    }
    if (newline != nullptr) break;
    searched = end_ - begin_;
    if (searched > kLongestRecord) {
      fail(number_ + 1, 1, "the line is longer than 1 MiB; is it a Rutherford-Boeing file?");
    }
    if (!fill()) break;
  }
  if (begin_ == end_) return false;
  const char* start = buffer_.data() + begin_;
  const char* stop = newline == nullptr ? buffer_.data() + end_ : newline;
  begin_ = static_cast<std::size_t>(stop - buffer_.data()) + (newline == nullptr ? 0 : 1);
  line_ = {start, static_cast<std::size_t>(stop - start)};
  line_is_whole_ = newline != nullptr;
  if (line_.ends_with('\r')) line_.remove_suffix(1);
  while (line_.ends_with(' '))
    line_.remove_suffix(1);
  ++number_;
  return true;
}

void FortranRecords::skip_rest() {
  do {
    begin_ = end_;
  } while (fill());
}

bool FortranRecords::may_hold(std::int64_t count, const FortranFormat& format) const noexcept {
  const auto size = reader_.plain_size();
  if (!size) return true;
  const std::int64_t left = *size - bytes_read_ + static_cast<std::int64_t>(end_ - begin_);
  // The last number of a line has a digit and a newline at least, which the file's end may lack.
  const std::int64_t full_lines = count / format.per_line;
  return full_lines <= (left + 1) / ((format.per_line - 1) * format.width + 2);
}

void FortranRecords::fail(std::int64_t line, std::size_t column, std::string_view message) const {
  throw Error(ErrorCode::parse, concat(reader_.name(), ":", line, ":", column, ": ", message));
}

std::size_t FortranFields::column() const noexcept {
  return static_cast<std::size_t>(field_.data() - records_.line().data()) + 1;
}

void FortranFields::cut_line() {
  const std::string_view line = records_.line();
  const auto expected = static_cast<std::size_t>(std::min(format_.per_line, count_ - taken_));
  const auto width = static_cast<std::size_t>(format_.width);
  if (!records_.line_is_whole() && line.size() < expected * width) {
    records_.fail_here(line.size() + 1, concat("the file ends within the line of the last ", what_,
                                               "s; fetch the whole file, or end the line"));
  }
  split_words(line, fields_);
  if (fields_.size() == expected) return;
  fields_.clear();
  for (std::size_t i = 0; i < expected; ++i)
    fields_.push_back(without_blanks(line.substr(std::min(line.size(), i * width), width)));
}

std::string_view FortranFields::next() {
  const auto place = static_cast<std::size_t>(taken_ % format_.per_line);
  if (place == 0) {
    if (!records_.next()) {
      records_.fail(records_.number() + 1, 1,
                    concat("the file ends after ", taken_, " of ", count_, " ", what_,
                           "s; fetch the whole file, or correct the counts in its header"));
    }
    cut_line();
  }
  ++taken_;
  field_ = fields_[place];
  if (field_.empty()) {
    records_.fail_here(column(), concat("there is no ", what_, " in the ", format_.width,
                                        " characters that begin here; add it, or correct the "
                                        "format in line 4"));
  }
  return field_;
}

void FortranFields::fail(std::string_view message) const {
  records_.fail_here(column(), concat(what_, " ", shown(field_), " ", message));
}

std::int64_t FortranFields::integer() {
  std::string_view field = next();
  if (field.starts_with('+')) field.remove_prefix(1);
  std::int64_t value = 0;
  const char* end = field.data() + field.size();
  const auto [stop, error] = std::from_chars(field.data(), end, value);
  if (error == std::errc::result_out_of_range) fail("does not fit 64 bits; correct it");
  if (error != std::errc() || stop != end) {
    fail("is not an integer; correct it, or the format in line 4");
  }
  return value;
}

template <class F>
F FortranFields::real() {
  F value{};
  const std::errc error = parse_fortran_number(next(), format_, value);
  if (error == std::errc::result_out_of_range) {
    fail("is beyond the largest double; write inf if meant");
  }
  if (error != std::errc()) fail("is not a number; correct it, or the format in line 4");
  return value;
}

template double FortranFields::real<double>();
template float FortranFields::real<float>();

}  // namespace lanky::inline v1::io
