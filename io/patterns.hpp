// The patterns that generate() knows: for each a name, parameters, and how to draw one row.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "io/row_random.hpp"

namespace lanky::inline v1::io {

/// A matrix by its rows. draw_row appends the columns of a row, ascending and distinct; it may be
/// called for any rows, in any order, at the same time.
struct Pattern {
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  std::function<void(std::int64_t row, RowRandom& random, std::vector<std::int32_t>& columns)>
      draw_row;
  std::int64_t rows_a_draw = 1;  // neighbouring rows that are given the same random numbers
  /// Entries, about, where they are known before rows are drawn; repeated ones count.
  std::optional<double> entries{};
};

/// A number in a spec, such as the side of a grid.
struct Parameter {
  static constexpr std::int64_t kRequired = -1;

  std::string_view name;
  std::int64_t by_default;  // kRequired: there is none
  std::int64_t least;
  std::int64_t most;
};

struct Generator {
  std::string_view name;
  std::vector<Parameter> parameters;
  std::string_view help;
  /// Values in the order of `parameters`.
  Pattern (*make)(std::span<const std::int64_t> values);
};

/// All generators, in the order of the help text.
const std::vector<Generator>& generators();

}  // namespace lanky::inline v1::io
