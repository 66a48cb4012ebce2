#include "sparse/errors.hpp"

#include <lanky/error.hpp>
#include <limits>

#include "core/text.hpp"
#include "sparse/arrangement.hpp"

namespace lanky::sparse {

void CsrExtents::check() const {
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
  if (rows < 0 || cols < 0 || nnz < 0) {
    throw Error(ErrorCode::invalid_argument, concat("A is ", rows, " x ", cols, " with ", nnz,
                                                    " entries: none can be negative"));
  }
  if (index_base != 0 && index_base != 1) {
    throw Error(ErrorCode::invalid_argument,
                concat("A has index base ", index_base, ", which must be 0 or 1"));
  }
  if (rows > kMost || cols > kMost) {
    throw Error(ErrorCode::unsupported, concat("A is ", rows, " x ", cols, ", lanky packs up to ",
                                               kMost, " rows and columns"));
  }
}

void CsrExtents::throw_offsets_start(std::int64_t first) const {
  throw Error(ErrorCode::invalid_argument, concat("the row offsets of A start at ", first,
                                                  ", not at its index base ", index_base));
}

void CsrExtents::throw_offsets_fall(std::int64_t row, std::int64_t from, std::int64_t to) const {
  throw Error(ErrorCode::invalid_argument,
              concat("the row offsets of A fall from ", from, " to ", to, " at row ", row));
}

void CsrExtents::throw_offsets_end(std::int64_t last) const {
  throw Error(ErrorCode::invalid_argument,
              concat("the row offsets of A end at ", last, ", but A has ", nnz,
                     " entries and index base ", index_base));
}

void CsrExtents::throw_column(std::int64_t entry, std::int64_t row, std::int64_t column) const {
  throw Error(ErrorCode::invalid_argument,
              concat("entry ", entry, " of A, in row ", row, ", has column ", column, "; A has ",
                     cols, " columns and index base ", index_base));
}

void CsrExtents::check_transposable() const {
  if (nnz <= kTransposedEntriesMost) return;
  throw Error(ErrorCode::unsupported,
              concat("A has ", nnz, " entries; lanky transposes up to ", kTransposedEntriesMost));
}

void CsrExtents::check_triangle() const {
  if (rows != cols) {
    throw Error(
        ErrorCode::invalid_argument,
        concat("A is ", rows, " x ", cols, ": with PlanOptions::symmetry it must be square"));
  }
  if (nnz > kTriangleEntriesMost) {
    throw Error(
        ErrorCode::unsupported,
        concat("A is a triangle of ", nnz, " entries; lanky expands up to ", kTriangleEntriesMost));
  }
}

void CsrExtents::throw_both_sides(const EntryPlace& below, const EntryPlace& above) const {
  const auto place = [&](const EntryPlace& at) {
    return concat("entry ", at.entry, " at (", at.row + index_base, ", ", at.column + index_base,
                  ")");
  };
  throw Error(ErrorCode::invalid_argument,
              concat("with PlanOptions::symmetry A must be one triangle, but it has ", place(below),
                     " below the diagonal and ", place(above),
                     " above it, rows and columns counted from ", index_base));
}

void throw_window_too_large(std::int64_t first_row, std::int64_t rows, std::int64_t cells) {
  throw Error(ErrorCode::unsupported,
              concat("the window of row ", first_row, " would have ", rows, " rows and ", cells,
                     " cells, of which there can be ", kCellsLimit));
}

}  // namespace lanky::sparse
