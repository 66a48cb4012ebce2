// Matrices made of A's entries: the transpose, by counting entries by columns and putting them
// there in their order; and what a triangle expands to, each row a part of it and a part of its
// transpose.
#include <algorithm>
#include <lanky/dtype.hpp>
#include <numeric>
#include <vector>

#include "core/plan_types.hpp"
#include "sparse/cpu/steps.hpp"
#include "sparse/errors.hpp"

namespace lanky::sparse::cpu {

namespace {

Arrangement arrangement_of(const Stream& stream, const RowFacts& extents, Allocator* allocator) {
  return {extents, Buffer<std::int64_t>(stream, extents.rows + 1),
          Buffer<std::int32_t>(stream, extents.nnz),
          Buffer<std::uint32_t>(stream, extents.nnz, allocator)};
}

/// What a look at all entries of a triangle finds.
struct Triangle {
  bool lower;  // or diagonal
  std::int64_t diagonal_entries;
};

Triangle examine_triangle(const CsrPattern& a) {
  EntryPlace below{.entry = a.nnz, .row = 0, .column = 0};  // the first of its side; nnz: none
  EntryPlace above = below;
  std::int64_t diagonal_entries = 0;
  for (std::int64_t row = 0; row < a.rows; ++row) {
    for (std::int64_t entry = a.row_offsets[row]; entry < a.row_offsets[row + 1]; ++entry) {
      const std::int64_t column = a.columns[entry] - a.index_base;
      if (column == row) {
        ++diagonal_entries;
      } else if (EntryPlace& first = column < row ? below : above; first.entry == a.nnz) {
        first = {entry, row, column};
      }
    }
  }
  if (below.entry < a.nnz && above.entry < a.nnz) throw_both_sides(a, below, above);
  return {above.entry == a.nnz, diagonal_entries};
}

template <class T>
T negative(T value) {
  return static_cast<T>(-static_cast<Accumulator<T>>(value));
}

}  // namespace

template <class T>
void gather_values(const ValueMap& map, const T* source, T* target) {
  for (std::int64_t i = 0; i < map.count; ++i) {
    const std::uint32_t entry = map.entries[i];
    T value = source[map.number(entry)];
    if constexpr (is_complex(kDType<T>)) {
      if (map.conjugates(entry)) value = std::conj(value);
    }
    target[i] = map.negates(entry) ? negative(value) : value;
  }
}

Arrangement transpose(const Stream& stream, const CsrPattern& a, Allocator* allocator) {
  Arrangement transposed =
      arrangement_of(stream, {.rows = a.cols, .cols = a.rows, .nnz = a.nnz}, allocator);
  std::int64_t* const offsets = transposed.row_offsets.data();
  std::fill(offsets, offsets + a.cols + 1, std::int64_t{0});
  for (std::int64_t entry = 0; entry < a.nnz; ++entry)
    ++offsets[a.columns[entry] - a.index_base + 1];
  std::partial_sum(offsets, offsets + a.cols + 1, offsets);
  transposed.facts.count_rows(offsets);
  std::vector<std::int64_t> next(offsets, offsets + a.cols);
  for (std::int64_t row = 0; row < a.rows; ++row) {
    for (std::int64_t entry = a.row_offsets[row]; entry < a.row_offsets[row + 1]; ++entry) {
      const std::int64_t place = next[a.columns[entry] - a.index_base]++;
      transposed.columns.data()[place] = static_cast<std::int32_t>(row);
      transposed.entries.data()[place] = static_cast<std::uint32_t>(entry);
    }
  }
  return transposed;
}

Arrangement expand(const Stream& stream, const CsrPattern& a, const TriangleMarks& marks,
                   Allocator* allocator) {
  const Triangle triangle = examine_triangle(a);
  const Arrangement transposed = transpose(stream, a, nullptr);
  Arrangement expanded = arrangement_of(
      stream, {.rows = a.rows, .cols = a.cols, .nnz = 2 * a.nnz - triangle.diagonal_entries},
      allocator);
  std::int64_t place = 0;
  const auto put = [&](std::int64_t column, std::uint32_t marked_entry) {
    expanded.columns.data()[place] = static_cast<std::int32_t>(column);
    expanded.entries.data()[place] = marked_entry;
    ++place;
  };
  const auto put_given = [&](std::int64_t row) {
    for (std::int64_t entry = a.row_offsets[row]; entry < a.row_offsets[row + 1]; ++entry) {
      const std::int64_t column = a.columns[entry] - a.index_base;
      if (column != row) put(column, static_cast<std::uint32_t>(entry) | marks.given);
    }
  };
  const auto put_transposed = [&](std::int64_t row) {
    const std::int64_t* const offsets = transposed.row_offsets.data();
    for (std::int64_t i = offsets[row]; i < offsets[row + 1]; ++i) {
      const std::int64_t column = transposed.columns.data()[i];
      put(column, transposed.entries.data()[i] | (column == row ? 0 : marks.mirrored));
    }
  };
  for (std::int64_t row = 0; row < a.rows; ++row) {
    expanded.row_offsets.data()[row] = place;
    if (triangle.lower) put_given(row);
    put_transposed(row);
    if (!triangle.lower) put_given(row);
  }
  expanded.row_offsets.data()[a.rows] = place;
  expanded.facts.count_rows(expanded.row_offsets.data());
  return expanded;
}

#define LANKY_INSTANTIATE(T) template void gather_values(const ValueMap&, const T*, T*);
LANKY_FOR_EACH_ELEMENT(LANKY_INSTANTIATE)
#undef LANKY_INSTANTIATE

}  // namespace lanky::sparse::cpu
