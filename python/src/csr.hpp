// The arrays of a sparse matrix in compressed sparse rows, as Python hands them over.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <lanky/view.hpp>

#include "array.hpp"

namespace lanky::python {

/// The pattern, and the values where `values` is given. All arrays are in one memory.
struct CsrArrays {
  Array offsets;  // int32 or int64
  Array columns;  // int32
  Array values;
  std::int64_t rows;
  std::int64_t cols;

  template <class T>
  CsrView<T> view() const {
    const RowOffsets row_offsets = offsets.element == Element::i64
                                       ? RowOffsets(static_cast<const std::int64_t*>(offsets.data))
                                       : RowOffsets(static_cast<const std::int32_t*>(offsets.data));
    return {rows,
            cols,
            columns.size(),
            row_offsets,
            static_cast<const std::int32_t*>(columns.data),
            static_cast<const T*>(values.data),
            0};
  }
};

/// Reads and checks them: types, extents, and that they are in one memory. None stands for no
/// values.
CsrArrays read_csr_arrays(nanobind::handle offsets, nanobind::handle columns,
                          nanobind::handle values, std::int64_t rows, std::int64_t cols);

}  // namespace lanky::python
