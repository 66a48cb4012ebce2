// The quick way through lines as programs write them: "12 345 -1.5e-3\n". What is rarer than that
// (signs of indices, comments, Fortran's exponents, infinities, faults) is left to EntryParser.
// Digits, eight at once: Lemire, "Quickly parsing eight digits", 2018.
#pragma once

#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "io/decimal.hpp"
#include "io/entry.hpp"

#define LANKY_INLINE [[gnu::always_inline]] inline

namespace lanky::inline v1::io {

/// Eight characters, and the number that the first of them make, in one go.
class EightBytes {
 public:
  LANKY_INLINE explicit EightBytes(const char* text) noexcept {
    std::memcpy(&bytes_, text, sizeof bytes_);
    if constexpr (std::endian::native == std::endian::big) bytes_ = __builtin_bswap64(bytes_);
    bytes_ ^= 0x3030303030303030;  // a byte below 10 for each digit
  }

  /// How many digits stand in front of anything else.
  LANKY_INLINE int digits() const noexcept {
    return std::countr_zero(((bytes_ + 0x7676767676767676) | bytes_) & 0x8080808080808080) / 8;
  }
  /// The number made of all eight, which are digits.
  LANKY_INLINE std::uint64_t number() const noexcept { return number_of(bytes_); }
  /// The number made of the first `count`.
  LANKY_INLINE std::uint64_t number(int count) const noexcept {
    return number_of(bytes_ << (32 - 4 * count) << (32 - 4 * count));  // zeros in front
  }

 private:
  LANKY_INLINE static std::uint64_t number_of(std::uint64_t digits) noexcept {
    constexpr std::uint64_t kMask = 0x000000FF000000FF;
    digits = digits * 10 + (digits >> 8);
    return ((digits & kMask) * 0x000F424000000064 +
            ((digits >> 16) & kMask) * 0x0000271000000001) >>
           32;
  }

  std::uint64_t bytes_ = 0;
};

/// Reads one line after the other. All texts end with a newline, which is where each search ends.
class OrdinaryLine {
 public:
  /// The line at `begin` of a text that ends at `end`.
  OrdinaryLine(const char* begin, const char* end) noexcept : position_(begin), end_(end) {}

  /// An index, which the file counts from 1 and `value` from 0; false where none below `limit`
  /// stands here.
  LANKY_INLINE bool index(std::int64_t limit, std::int64_t& value) noexcept {
    skip_spaces();
    value = small_integer() - 1;
    return at_end_of_token() &&
           static_cast<std::uint64_t>(value) < static_cast<std::uint64_t>(limit);
  }

  /// A finite number; false where none stands here.
  template <class F>
  LANKY_INLINE bool real(F& value) noexcept {
    skip_spaces();
    const char* begin = position_;
    const bool negative = *position_ == '-';
    position_ += negative;
    const std::optional<F> magnitude = decimal<F>();
    if (magnitude && at_end_of_token()) {
      value = with_sign(*magnitude, negative);
      return true;
    }
    const auto [stop, error] = std::from_chars(begin, end_, value);
    position_ = stop;
    return error == std::errc() && at_end_of_token() && std::isfinite(value);
  }

  /// An integer of up to 18 digits, -0 aside.
  template <class F>
  LANKY_INLINE bool integral(F& value) noexcept {
    skip_spaces();
    const bool negative = *position_ == '-';
    position_ += negative;
    const std::int64_t magnitude = digits();
    value = static_cast<F>(negative ? -magnitude : magnitude);
    return at_end_of_token() && magnitude >= negative;
  }

  /// The start of the next line; null where this one goes on.
  LANKY_INLINE const char* next() noexcept {
    if (*position_ != '\n') {
      skip_spaces();
      position_ += *position_ == '\r';
      if (*position_ != '\n') return nullptr;
    }
    return position_ + 1;
  }

 private:
  static bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }

  LANKY_INLINE void skip_spaces() noexcept {
    while (*position_ <= ' ' && (*position_ == ' ' || *position_ == '\t'))
      ++position_;
  }

  /// Also at other control characters, which neither a number nor the end of a line follows.
  LANKY_INLINE bool at_end_of_token() const noexcept {
    return static_cast<unsigned char>(*position_) <= ' ';
  }

  /// Without a branch: half of the signs would be predicted wrong.
  static double with_sign(double magnitude, bool negative) noexcept {
    return std::bit_cast<double>(std::bit_cast<std::uint64_t>(magnitude) |
                                 static_cast<std::uint64_t>(negative) << 63);
  }
  static float with_sign(float magnitude, bool negative) noexcept {
    return std::bit_cast<float>(std::bit_cast<std::uint32_t>(magnitude) |
                                static_cast<std::uint32_t>(negative) << 31);
  }

  /// Up to 18 digits, quickest where they are few; 0 or -1 where there are none, or more.
  LANKY_INLINE std::int64_t small_integer() noexcept {
    if (end_ - position_ < 8) return digits();
    const EightBytes text(position_);
    const int count = text.digits();
    if (count == 8) return digits();
    position_ += count;
    return static_cast<std::int64_t>(text.number(count));
  }

  /// Up to 18 digits; -1 where there are none, or more.
  LANKY_INLINE std::int64_t digits() noexcept {
    std::uint64_t value = 0;
    const int count = append_digits(value);
    return count == 0 || count > 18 ? -1 : static_cast<std::int64_t>(value);
  }

  /// A number without sign, with a power of ten or without; nothing where it has more than 19
  /// digits, or `nearest` does not tell.
  template <class F>
  LANKY_INLINE std::optional<F> decimal() noexcept {
    std::uint64_t significand = 0;
    int before = 1;
    if (is_digit(*position_) && position_[1] == '.') {  // the most frequent form
      significand = static_cast<std::uint64_t>(*position_++ - '0');
    } else {
      before = append_digits(significand);
    }
    // Zeros in front take no place. Of 20 digits and more, such as those of 2^64, the significand
    // may be 0 as it has overflowed.
    const int counted = significand == 0 && before <= 19 ? 0 : before;
    int behind_point = 0;
    if (*position_ == '.') {
      ++position_;
      behind_point = append_digits(significand);
    }
    if (before + behind_point == 0 || counted + behind_point > 19) return std::nullopt;
    std::int64_t power = 0;
    if (!at_end_of_token() && !exponent(power)) return std::nullopt;
    return nearest<F>(significand, power - behind_point);
  }

  /// The exponent behind e or, as Fortran writes, d; false where none of up to 4 digits stands
  /// here.
  LANKY_INLINE bool exponent(std::int64_t& power) noexcept {
    const char mark = static_cast<char>(*position_ | 0x20);
    if (mark != 'e' && mark != 'd') return false;
    ++position_;
    const bool negative = *position_ == '-';
    position_ += negative || *position_ == '+';
    const char* first = position_;
    std::int64_t magnitude = 0;
    while (is_digit(*position_) && position_ - first < 5)
      magnitude = 10 * magnitude + (*position_++ - '0');
    power = negative ? -magnitude : magnitude;
    return position_ != first && position_ - first < 5;
  }

  /// Appends the digits that follow to `value`; how many there are. Beyond 19 the value is wrong.
  LANKY_INLINE int append_digits(std::uint64_t& value) noexcept {
    static constexpr std::array<std::uint64_t, 8> kPowers = {
        1, 10, 100, 1000, 10'000, 100'000, 1'000'000, 10'000'000};
    const char* first = position_;
    while (end_ - position_ >= 8) {
      const EightBytes text(position_);
      const int count = text.digits();
      position_ += count;
      if (count < 8) {
        value = value * kPowers[static_cast<std::size_t>(count)] + text.number(count);
        return static_cast<int>(position_ - first);
      }
      value = value * 100'000'000 + text.number();
    }
    while (is_digit(*position_))
      value = 10 * value + static_cast<std::uint64_t>(*position_++ - '0');
    return static_cast<int>(position_ - first);
  }

  const char* position_;
  const char* end_;
};

/// Reads the value of an entry of that field; false where it has no ordinary form.
template <class V>
LANKY_INLINE bool ordinary_value(OrdinaryLine& line, Field field, V& value) noexcept {
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
LANKY_INLINE const char* ordinary_entry(const char* begin, const char* end, const Header& header,
                                        Entry<V>& entry) noexcept {
  OrdinaryLine line(begin, end);
  std::int64_t col = 0;
  if (!line.index(header.rows, entry.row) || !line.index(header.cols, col)) return nullptr;
  if (!ordinary_value(line, header.field, entry.value)) return nullptr;
  entry.col = static_cast<std::int32_t>(col);
  return line.next();
}

}  // namespace lanky::inline v1::io

#undef LANKY_INLINE
