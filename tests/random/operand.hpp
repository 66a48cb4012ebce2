// Dense operands of random cases: any layout, leading dimension and alignment, with elements
// around them that no product may read (NaN) or write.
#pragma once

#include <cstdint>
#include <cstring>
#include <lanky/buffer.hpp>
#include <lanky/view.hpp>
#include <limits>
#include <string>
#include <vector>

#include "random/draw.hpp"

namespace lanky::random_cases {

/// How a matrix stands in its memory.
struct Place {
  Layout layout = Layout::col;
  std::int64_t padding = 0;  // of each line
  std::int64_t offset = 0;   // elements before the first
  std::int64_t behind = 0;   // elements behind the last
};

inline Place draw_place(Random& random, Layout layout) {
  Place place{.layout = layout};
  if (one_in(random, 2)) place.padding = random_int(random, 1, 17);
  if (one_in(random, 8)) place.padding = 64;
  if (one_in(random, 3)) place.offset = random_int(random, 1, 16);
  if (one_in(random, 3)) place.behind = random_int(random, 1, 40);
  return place;
}

template <class E>
struct Operand {
  Operand(std::int64_t the_rows, std::int64_t the_cols, const Place& place, E around)
      : rows(the_rows),
        cols(the_cols),
        layout(place.layout),
        offset(place.offset),
        line(layout == Layout::col ? rows : cols),
        lines(layout == Layout::col ? cols : rows),
        ld(line + place.padding) {
    const std::int64_t inner = lines > 0 && line > 0 ? (lines - 1) * ld + line : 0;
    memory.assign(static_cast<std::size_t>(offset + inner + place.behind), around);
  }

  std::size_t index(std::int64_t i, std::int64_t j) const {
    return static_cast<std::size_t>(offset + (layout == Layout::col ? i + j * ld : i * ld + j));
  }
  E& at(std::int64_t i, std::int64_t j) { return memory[index(i, j)]; }
  const E& at(std::int64_t i, std::int64_t j) const { return memory[index(i, j)]; }

  /// Elements in the order of memory.
  void fill(Random& random, Values values, std::int64_t special_times) {
    for (std::int64_t l = 0; l < lines; ++l) {
      E* const first = memory.data() + offset + l * ld;
      for (std::int64_t e = 0; e < line; ++e)
        first[e] = draw_element<E>(random, values, special_times);
    }
  }
  void fill(E value) {
    for (std::int64_t l = 0; l < lines; ++l)
      std::fill_n(memory.data() + offset + l * ld, line, value);
  }
  void copy_elements(const Operand& from) {
    for (std::int64_t i = 0; i < rows; ++i) {
      for (std::int64_t j = 0; j < cols; ++j)
        at(i, j) = from.at(i, j);
    }
  }

  /// Of a buffer that holds `memory`.
  MatrixView<E> view(E* first) const { return {first + offset, rows, cols, ld, layout}; }
  VectorView<E> vector(E* first) const { return {first + offset, rows}; }

  /// Where `memory` has other bits than `after` outside of the elements; -1: nowhere.
  std::int64_t touched(const std::vector<E>& after) const {
    const auto differs = [&](std::int64_t begin, std::int64_t end) -> std::int64_t {
      for (std::int64_t at = begin; at < end; ++at) {
        if (std::memcmp(&memory[at], &after[at], sizeof(E)) != 0) return at;
      }
      return -1;
    };
    std::int64_t end = 0;
    for (std::int64_t l = 0; l < lines && line > 0; ++l) {
      const std::int64_t begin = offset + l * ld;
      const std::int64_t found = differs(end, begin);
      if (found >= 0) return found;
      end = begin + line;
    }
    return differs(end, static_cast<std::int64_t>(memory.size()));
  }

  std::int64_t rows;
  std::int64_t cols;
  Layout layout;
  std::int64_t offset;
  std::int64_t line;   // elements of a column or row
  std::int64_t lines;  // columns or rows
  std::int64_t ld;
  std::vector<E> memory;
};

template <class E>
E quiet_nan() {
  return testing::element<E>(std::numeric_limits<double>::quiet_NaN());
}

/// The same bits, or both NaN: a NaN's sign and payload depend on the order of factors.
template <class E>
bool same_bits(const E& a, const E& b) {
  if (std::memcmp(&a, &b, sizeof(E)) == 0) return true;
  const auto same = [](double x, double y) {
    return (std::isnan(x) && std::isnan(y)) || std::memcmp(&x, &y, sizeof x) == 0;
  };
  const auto x = testing::parts(a);
  const auto y = testing::parts(b);
  return same(x.real(), y.real()) && same(x.imag(), y.imag());
}

inline std::string text_of(const Place& place) {
  return std::string(place.layout == Layout::col ? "col" : "row") + "+" +
         std::to_string(place.padding) + "@" + std::to_string(place.offset);
}

}  // namespace lanky::random_cases
