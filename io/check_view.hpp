// A matrix that a caller hands in to be written is checked as a whole before a file is begun.
#pragma once

#include <cstdint>
#include <lanky/error.hpp>
#include <lanky/view.hpp>
#include <string>

#include "core/arguments.hpp"
#include "core/text.hpp"

namespace lanky::inline v1::io {

/// Throws Error(wrong_memory) for arrays in device memory, Error(invalid_argument) for offsets that
/// fall or do not fit the number of entries, and for columns out of range.
template <class T>
void check_view(const CsrView<T>& a) {
  const auto refuse = [](const std::string& why) {
    throw Error(ErrorCode::invalid_argument, "the matrix cannot be written: " + why);
  };
  if (only_on_device(a.row_offsets.data()) || only_on_device(a.col_indices) ||
      only_on_device(a.values)) {
    throw Error(ErrorCode::wrong_memory,
                "the matrix is in device memory; copy it to host memory to write it");
  }
  if (a.rows < 0 || a.cols < 0 || a.nnz < 0) {
    refuse(concat("it has ", a.rows, " rows, ", a.cols, " columns, ", a.nnz, " entries"));
  }
  if (a.index_base != 0 && a.index_base != 1) refuse(concat("its index base is ", a.index_base));
  if (a.rows == 0 && a.nnz == 0) return;
  if (a.row_offsets.data() == nullptr) refuse("its row offsets are a null pointer");
  if (a.nnz > 0 && (a.col_indices == nullptr || a.values == nullptr)) {
    refuse("its columns or values are a null pointer");
  }
  std::int64_t previous = a.index_base;
  for (std::int64_t i = 0; i <= a.rows; ++i) {
    const std::int64_t offset = a.row_offsets[i];
    if (offset < previous || (i == 0 && offset != previous)) {
      refuse(concat("row offset ", i, " is ", offset, ", after ", previous));
    }
    previous = offset;
  }
  if (previous - a.index_base != a.nnz) {
    refuse(concat("its last row offset is ", previous, ", but it has ", a.nnz, " entries"));
  }
  for (std::int64_t k = 0; k < a.nnz; ++k) {
    const std::int64_t col = std::int64_t{a.col_indices[k]} - a.index_base;
    if (col < 0 || col >= a.cols) {
      refuse(concat("column ", col, " of entry ", k, " is outside its ", a.cols, " columns"));
    }
  }
}

}  // namespace lanky::inline v1::io
