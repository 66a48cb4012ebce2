// A CSR matrix as the steps of making a plan see it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <lanky/view.hpp>

namespace lanky::sparse {

/// A CSR matrix in the executor's memory, checked, its offsets 64 bits wide and zero-based.
template <class T>
struct Csr {
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  std::int64_t nnz = 0;
  const std::int64_t* row_offsets = nullptr;  // [rows + 1]
  const std::int32_t* columns = nullptr;      // [nnz], from index_base on
  const T* values = nullptr;                  // [nnz]
  int index_base = 0;

  Csr<std::byte> pattern() const {
    return {rows, cols, nnz, row_offsets, columns, nullptr, index_base};
  }
};

/// A matrix without its values, on which alone the packed form depends.
using CsrPattern = Csr<std::byte>;

/// Extents and index base of a caller's matrix, whose arrays are not checked yet.
template <class T>
CsrPattern extents_of(const CsrView<T>& a) {
  return {.rows = a.rows, .cols = a.cols, .nnz = a.nnz, .index_base = a.index_base};
}

}  // namespace lanky::sparse
