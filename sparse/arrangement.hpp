// Matrices made of a caller's entries: the transpose, and what a triangle expands to.
#pragma once

#include <cstdint>
#include <lanky/buffer.hpp>
#include <lanky/operation.hpp>
#include <lanky/symmetry.hpp>
#include <limits>

#include "sparse/facts.hpp"

namespace lanky::sparse {

/// The pattern of a matrix made of A's entries, zero-based, with the way back.
struct Arrangement {
  RowFacts facts;
  Buffer<std::int64_t> row_offsets;  // [rows + 1]
  Buffer<std::int32_t> columns;      // [nnz]
  Buffer<std::uint32_t> entries;     // [nnz] A's number of each entry, of a triangle with marks
};
inline constexpr std::int64_t kTransposedEntriesMost = std::numeric_limits<std::uint32_t>::max();

/// Marks the number of an entry whose value is the mirrored one.
inline constexpr std::uint32_t kMirrored = std::uint32_t{1} << 31;
inline constexpr std::int64_t kTriangleEntriesMost = kMirrored - 1;

/// The marks of entries off the diagonal, of op(A), where A is expanded from a triangle: op leaves
/// the pattern as it is, and turns what was given into what was mirrored.
struct TriangleMarks {
  explicit constexpr TriangleMarks(Op op)
      : given(op == Op::none ? 0 : kMirrored), mirrored(op == Op::none ? kMirrored : 0) {}

  std::uint32_t given;
  std::uint32_t mirrored;
};

/// Where values of op(A) come from, and what becomes of them on the way.
struct ValueMap {
  const std::uint32_t* entries;  // [count] of an Arrangement
  std::int64_t count;
  Symmetry symmetry;  // of A; general: there are no marks
  bool conjugated;    // all values; so mirrored ones of a Hermitian matrix are not

  constexpr std::uint32_t number(std::uint32_t entry) const {
    return symmetry == Symmetry::general ? entry : entry & ~kMirrored;
  }
  constexpr bool conjugates(std::uint32_t entry) const {
    return conjugated != (symmetry == Symmetry::hermitian && (entry & kMirrored) != 0);
  }
  constexpr bool negates(std::uint32_t entry) const {
    return symmetry == Symmetry::skew_symmetric && (entry & kMirrored) != 0;
  }
};

}  // namespace lanky::sparse
