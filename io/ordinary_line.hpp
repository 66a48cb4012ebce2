// The quick way through lines as programs write them: "12 345 -1.5e-3\n". What is rarer than that
// (signs of indices, comments, Fortran's exponents, infinities, faults) is left to EntryParser.
// Digits, eight at once: Lemire, "Quickly parsing eight digits", 2018.
#pragma once

#include <fast_float/fast_float.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "io/entry.hpp"

namespace lanky::io {

/// Reads one line after the other. All texts end with a newline, which is where each search ends.
class OrdinaryLine {
 public:
  /// The line at `begin` of a text that ends at `end`.
  OrdinaryLine(const char* begin, const char* end) noexcept : position_(begin), end_(end) {}

  /// An index, counted from 1; 0 where none in 1..limit stands here.
  std::int64_t index(std::int64_t limit) noexcept {
    skip_spaces();
    const std::int64_t value = digits();
    return at_end_of_token() && value <= limit ? value : 0;
  }

  /// A finite number; false where none stands here.
  template <class F>
  bool real(F& value) noexcept {
    skip_spaces();
    const auto [stop, error] = fast_float::from_chars(position_, end_, value);
    position_ = stop;
    return error == std::errc() && at_end_of_token() && std::isfinite(value);
  }

  /// An integer of up to 18 digits, -0 aside.
  template <class F>
  bool integral(F& value) noexcept {
    skip_spaces();
    const bool negative = *position_ == '-';
    position_ += negative;
    const std::int64_t magnitude = digits();
    value = static_cast<F>(negative ? -magnitude : magnitude);
    return at_end_of_token() && magnitude >= negative;
  }

  /// The start of the next line; null where this one goes on.
  const char* next() noexcept {
    skip_spaces();
    position_ += *position_ == '\r';
    return *position_ == '\n' ? position_ + 1 : nullptr;
  }

 private:
  static bool is_space(char c) noexcept { return c == ' ' || c == '\t'; }

  void skip_spaces() noexcept {
    while (is_space(*position_))
      ++position_;
  }

  bool at_end_of_token() const noexcept {
    return *position_ == '\n' || *position_ == '\r' || is_space(*position_);
  }

  /// Up to 18 digits; -1 where there are none, or more.
  std::int64_t digits() noexcept {
    constexpr std::ptrdiff_t kMost = 18;
    const char* first = position_;
    std::uint64_t value = eight_digits();
    while (*position_ >= '0' && *position_ <= '9' && position_ - first <= kMost)
      value = 10 * value + static_cast<std::uint64_t>(*position_++ - '0');
    const std::ptrdiff_t count = position_ - first;
    return count == 0 || count > kMost ? -1 : static_cast<std::int64_t>(value);
  }

  /// The number made of the next digits, up to eight of them.
  std::uint64_t eight_digits() noexcept {
    std::uint64_t text = 0;
    if (std::endian::native != std::endian::little || end_ - position_ < 8) return 0;
    std::memcpy(&text, position_, sizeof text);
    std::uint64_t number = text ^ 0x3030303030303030;  // a byte below 10 for each digit
    const std::uint64_t others = ((number + 0x7676767676767676) | number) & 0x8080808080808080;
    const int count = std::countr_zero(others) / 8;
    if (count == 0) return 0;
    position_ += count;
    number <<= 64 - 8 * count;  // zeros in front
    number = number * 10 + (number >> 8);
    const std::uint64_t mask = 0x000000FF000000FF;
    return ((number & mask) * 0x000F424000000064 + ((number >> 16) & mask) * 0x0000271000000001) >>
           32;
  }

  const char* position_;
  const char* end_;
};

/// Reads the value of an entry of that field; false where it has no ordinary form.
template <class V>
bool ordinary_value(OrdinaryLine& line, Field field, V& value) noexcept {
  Part<V> real = 1;
  Part<V> imaginary = 0;
  bool good = true;
  if (field == Field::integer) good = line.integral(real);
  if (field == Field::real || field == Field::complex) good = line.real(real);
  if constexpr (kIsComplex<V>) {
    if (field == Field::complex) good = good && line.real(imaginary);
    value = {real, imaginary};
  } else {
    value = real;
  }
  return good;
}

/// Reads the entry at `begin` of a text of whole lines; the start of the next line, or null where
/// the line has another form, or anything in it is wrong.
template <class V>
const char* ordinary_entry(const char* begin, const char* end, const Header& header,
                           Entry<V>& entry) noexcept {
  OrdinaryLine line(begin, end);
  const std::int64_t row = line.index(header.rows);
  if (row <= 0) return nullptr;
  const std::int64_t col = line.index(header.cols);
  if (col <= 0) return nullptr;
  if (!ordinary_value(line, header.field, entry.value)) return nullptr;
  entry.row = row - 1;
  entry.col = static_cast<std::int32_t>(col - 1);
  return line.next();
}

}  // namespace lanky::io
