// A sparse matrix that owns its three CSR arrays in host memory.
#pragma once

#include <cstdint>
#include <lanky/view.hpp>
#include <vector>

namespace lanky::inline v1 {

/// Zero-based, 64-bit row offsets. What the readers and generators of lanky::io return.
template <class T>
struct CsrMatrix {
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  std::vector<std::int64_t> row_offsets = {0};  // [rows + 1]
  std::vector<std::int32_t> col_indices;        // [nnz]
  std::vector<T> values;                        // [nnz]

  std::int64_t nnz() const noexcept { return static_cast<std::int64_t>(values.size()); }
  CsrView<T> view() const noexcept {
    return {rows, cols, nnz(), row_offsets.data(), col_indices.data(), values.data(), 0};
  }
};

}  // namespace lanky::inline v1
