// Conditions on entries of the index, as in "nnz in 1e5..1e8 and kind ~ circuit and square".
// The language, as EBNF and by example: docs/fetch.md.
#pragma once

#include <cstddef>
#include <functional>
#include <lanky/error.hpp>
#include <string>
#include <string_view>

#include "collection/index.hpp"

namespace lanky::collection {

/// Error(invalid_argument) "column 12: ...": what is wrong with a filter, and where.
class FilterError : public Error {
 public:
  FilterError(std::size_t column, const std::string& message);
  /// From 1, in bytes.
  std::size_t column() const noexcept { return column_; }

 private:
  std::size_t column_;
};

class Filter {
 public:
  using Condition = std::function<bool(const Entry&)>;

  /// True of every entry.
  Filter();
  /// Throws FilterError.
  static Filter parse(std::string_view text);

  bool operator()(const Entry& entry) const { return condition_(entry); }

 private:
  explicit Filter(Condition condition) : condition_(std::move(condition)) {}

  Condition condition_;
};

/// For a terminal, three lines: "--where: column 12: ...", the filter, and a caret below the place.
std::string caret_message(std::string_view option, std::string_view text, const FilterError& error);

}  // namespace lanky::collection
