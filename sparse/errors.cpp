#include "sparse/errors.hpp"

#include <lanky/error.hpp>
#include <limits>

#include "core/text.hpp"
#include "sparse/arrangement.hpp"

namespace lanky::sparse {

void check_extents(const CsrPattern& a) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
  if (a.rows < 0 || a.cols < 0 || a.nnz < 0) {
    throw Error(ErrorCode::invalid_argument, concat("A is ", a.rows, " x ", a.cols, " with ", a.nnz,
                                                    " entries: none can be negative"));
  }
  if (a.index_base != 0 && a.index_base != 1) {
    throw Error(ErrorCode::invalid_argument,
                concat("A has index base ", a.index_base, ", which must be 0 or 1"));
  }
  if (a.rows > kMost || a.cols > kMost) {
    throw Error(ErrorCode::unsupported, concat("A is ", a.rows, " x ", a.cols,
                                               ", lanky packs up to ", kMost, " rows and columns"));
  }
}

void throw_offsets_start(const CsrPattern& a, std::int64_t first) {
  throw Error(ErrorCode::invalid_argument, concat("the row offsets of A start at ", first,
                                                  ", not at its index base ", a.index_base));
}

void throw_offsets_fall(std::int64_t row, std::int64_t from, std::int64_t to) {
  throw Error(ErrorCode::invalid_argument,
              concat("the row offsets of A fall from ", from, " to ", to, " at row ", row));
}

void throw_offsets_end(const CsrPattern& a, std::int64_t last) {
  throw Error(ErrorCode::invalid_argument,
              concat("the row offsets of A end at ", last, ", but A has ", a.nnz,
                     " entries and index base ", a.index_base));
}

void throw_column(const CsrPattern& a, std::int64_t entry, std::int64_t row, std::int64_t column) {
  throw Error(ErrorCode::invalid_argument,
              concat("entry ", entry, " of A, in row ", row, ", has column ", column, "; A has ",
                     a.cols, " columns and index base ", a.index_base));
}

void check_transposable(const CsrPattern& a) {
  if (a.nnz <= kTransposedEntriesMost) return;
  throw Error(ErrorCode::unsupported,
              concat("A has ", a.nnz, " entries; lanky transposes up to ", kTransposedEntriesMost));
}

void check_triangle(const CsrPattern& a) {
  if (a.rows != a.cols) {
    throw Error(
        ErrorCode::invalid_argument,
        concat("A is ", a.rows, " x ", a.cols, ": with SparseOptions::symmetry it must be square"));
  }
  if (a.nnz > kTriangleEntriesMost) {
    throw Error(ErrorCode::unsupported,
                concat("A is a triangle of ", a.nnz, " entries; lanky expands up to ",
                       kTriangleEntriesMost));
  }
}

void throw_both_sides(const CsrPattern& a, const EntryPlace& below, const EntryPlace& above) {
  const auto place = [&](const EntryPlace& at) {
    return concat("entry ", at.entry, " at (", at.row + a.index_base, ", ",
                  at.column + a.index_base, ")");
  };
  throw Error(ErrorCode::invalid_argument,
              concat("with SparseOptions::symmetry A must be one triangle, but it has ",
                     place(below), " below the diagonal and ", place(above),
                     " above it, rows and columns counted from ", a.index_base));
}

void throw_window_too_large(std::int64_t first_row, std::int64_t rows, std::int64_t cells) {
  throw Error(ErrorCode::unsupported,
              concat("the window of row ", first_row, " would have ", rows, " rows and ", cells,
                     " cells, of which there can be ", kCellsLimit));
}

}  // namespace lanky::sparse
