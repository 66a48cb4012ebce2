// Patterns of sparse matrices, drawn at random, and op(A) of what a caller gives in double, for
// references.
#pragma once

#include <cstdint>
#include <lanky/operation.hpp>
#include <lanky/symmetry.hpp>
#include <lanky/view.hpp>
#include <string>
#include <vector>

#include "random/draw.hpp"

namespace lanky::random_cases {

struct Pattern {
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  std::vector<std::int64_t> offsets = {0};
  std::vector<std::int32_t> columns{};
  std::string text{};  // how it was drawn

  std::int64_t nnz() const { return offsets.back(); }
};

/// Any lengths of rows and places of columns: mostly some hundred or thousand entries, now and then
/// up to a million.
Pattern draw_pattern(Random& random);

/// The same rows with entries on one side of the diagonal alone; square.
void make_triangle(Pattern& pattern, Random& random);

/// op(A), expanded where A is a triangle: which entry of A each of its entries is.
class Expanded {
 public:
  Expanded(const Pattern& pattern, Symmetry symmetry, Op op);

  /// Values in double, in the order of A's entries.
  void set_values(const std::vector<std::complex<double>>& values);

  std::int64_t rows;
  std::int64_t cols;
  std::vector<std::int64_t> offsets;
  std::vector<std::int32_t> columns;
  std::vector<double> real;
  std::vector<double> imag;

 private:
  struct Source {
    std::int64_t entry;
    bool negated;
    bool conjugated;
  };
  std::vector<Source> sources_;
};

}  // namespace lanky::random_cases
