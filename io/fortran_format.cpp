#include "io/fortran_format.hpp"

#include <algorithm>
#include <cctype>
#include <string>

#include "core/text.hpp"
#include "io/number.hpp"

namespace lanky::inline v1::io {

namespace {

/// Numbers on a line and characters of a number: more is no format of a file.
constexpr std::int64_t kMostOnALine = 10'000;
constexpr std::int64_t kMostExponent = 1'000'000;

/// A position in a format without blanks, in upper case.
class FormatText {
 public:
  explicit FormatText(std::string_view text) {
    for (const char c : text) {
      if (c != ' ') text_ += static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    }
  }

  bool take(char c) {
    if (at_ == text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  /// A number of at most `most`; nothing is taken where there is none.
  std::optional<std::int64_t> take_integer(std::int64_t least, std::int64_t most) {
    std::int64_t value = 0;
    const char* end = text_.data() + text_.size();
    const auto [stop, error] = std::from_chars(text_.data() + at_, end, value);
    if (error != std::errc() || value < least || value > most) return std::nullopt;
    at_ = static_cast<std::size_t>(stop - text_.data());
    return value;
  }
  std::size_t mark() const { return at_; }
  void go_back(std::size_t mark) { at_ = mark; }
  bool at_end() const { return at_ == text_.size(); }

 private:
  std::string text_;
  std::size_t at_ = 0;
};

/// "1P," or "1P", if it stands here.
void take_scale(FormatText& text, FortranFormat& format) {
  constexpr std::int64_t kMostScale = 99;
  const std::size_t start = text.mark();
  const auto scale = text.take_integer(-kMostScale, kMostScale);
  if (scale && text.take('P')) {
    format.scale = *scale;
    text.take(',');
  } else {
    text.go_back(start);
  }
}

/// The letter of an edit descriptor of numbers: I, F, E, D, G, ES, EN.
bool take_edit(FormatText& text, FortranFormat& format) {
  format.integral = text.take('I');
  if (format.integral) return true;
  if (text.take('E')) {
    if (!text.take('S')) text.take('N');
    return true;
  }
  return text.take('F') || text.take('D') || text.take('G');
}

/// What stands between the outer parentheses; false where it is no group of equal numbers.
bool take_group(FormatText& text, FortranFormat& format) {
  take_scale(text, format);
  const std::int64_t count = text.take_integer(1, kMostOnALine).value_or(1);
  format.per_line *= count;
  if (format.per_line > kMostOnALine) return false;
  if (text.take('(')) return take_group(text, format) && text.take(')');
  if (!take_edit(text, format)) return false;
  const auto width = text.take_integer(1, kMostOnALine);
  if (!width) return false;
  format.width = *width;
  if (text.take('.')) {
    const auto decimals = text.take_integer(0, kMostOnALine);
    if (!decimals) return false;
    format.decimals = format.integral ? 0 : *decimals;
    if (text.take('E')) return text.take_integer(0, kMostOnALine).has_value();
  }
  return true;
}

/// A number cut into its significand and exponent.
struct Parts {
  std::string_view significand;
  std::optional<std::int64_t> exponent;
};

/// Where a sign or letter behind the first digit begins an exponent: "1.5E+03", "1.5D3", "1.5-103".
std::optional<Parts> parts_of(std::string_view field) {
  const std::size_t first_digit = field.find_first_of("0123456789");
  if (first_digit == std::string_view::npos) return std::nullopt;
  const std::size_t start = field.find_first_of("eEdDqQ+-", first_digit);
  if (start == std::string_view::npos) return Parts{field, std::nullopt};
  std::string_view rest = field.substr(start);
  if (rest.front() != '+' && rest.front() != '-') rest.remove_prefix(1);
  if (rest.starts_with("+-")) return std::nullopt;
  if (rest.starts_with('+')) rest.remove_prefix(1);
  std::int64_t exponent = 0;
  const auto [stop, error] = std::from_chars(rest.data(), rest.data() + rest.size(), exponent);
  if (error == std::errc::invalid_argument || stop != rest.data() + rest.size())
    return std::nullopt;
  if (error == std::errc::result_out_of_range) {
    exponent = rest.starts_with('-') ? -kMostExponent : kMostExponent;
  }
  return Parts{field.substr(0, start), std::clamp(exponent, -kMostExponent, kMostExponent)};
}

/// Whether from_chars reads the field as Fortran does.
bool is_plain(std::string_view field, const FortranFormat& format) {
  if (format.decimals > 0 && field.find('.') == field.npos) return false;
  if (field.find_first_of("eEdD") != field.npos) return true;
  return format.scale == 0 && field.find_first_of("+-qQ", 1) == field.npos;
}

template <class F>
std::errc parse_whole(std::string_view text, F& value) {
  const char* end = text.data() + text.size();
  const auto [stop, error] = parse_number(text.data(), end, value);
  return error == std::errc() && stop != end ? std::errc::invalid_argument : error;
}

}  // namespace

std::optional<FortranFormat> parse_fortran_format(std::string_view text) {
  FormatText rest(text);
  FortranFormat format;
  if (!rest.take('(') || !take_group(rest, format)) return std::nullopt;
  if (!rest.take(')') || !rest.at_end()) return std::nullopt;
  return format;
}

template <class F>
std::errc parse_fortran_number(std::string_view field, const FortranFormat& format, F& value) {
  // What is no decimal number (nan, inf, asterisks) is left to parse_number() too.
  if (field.find_first_of("0123456789") == field.npos || is_plain(field, format)) {
    return parse_whole(field, value);
  }
  const auto parts = parts_of(field);
  if (!parts) return std::errc::invalid_argument;
  std::int64_t exponent = parts->exponent.value_or(-format.scale);
  if (parts->significand.find('.') == std::string_view::npos) exponent -= format.decimals;
  return parse_whole(std::string_view(concat(parts->significand, "e", exponent)), value);
}

template std::errc parse_fortran_number(std::string_view, const FortranFormat&, double&);
template std::errc parse_fortran_number(std::string_view, const FortranFormat&, float&);

}  // namespace lanky::inline v1::io
