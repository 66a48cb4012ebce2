// The operands of one product.
#pragma once

#include <cstdint>
#include <lanky/dtype.hpp>
#include <lanky/sparse.hpp>

namespace lanky::sparse {

/// The operands of y = alpha A x + beta y, all on the matrix's device.
template <class T, class TOut>
struct ProductOperands {
  const T* x;  // [cols]
  TOut* y;     // [rows]
  Scalar<Accumulator<T>> alpha;
  Scalar<Accumulator<T>> beta;
};

/// Where element (i, j) of a dense matrix stands: i * row + j * column elements from its first.
struct Strides {
  std::int64_t row;
  std::int64_t column;
};

/// False where beta is known to be 0.
template <class Sum>
bool may_add(const Scalar<Sum>& beta) noexcept {
  return beta.pointer() != nullptr || beta.value() != Sum{0};
}

/// The operands of Y = alpha A X + beta Y, all on the matrix's device.
template <class T, class TOut>
struct ColumnsOperands {
  const T* x;  // [cols, columns]
  Strides x_strides;
  TOut* y;  // [rows, columns]
  Strides y_strides;
  std::int64_t columns;  // at least 1
  Scalar<Accumulator<T>> alpha;
  Scalar<Accumulator<T>> beta;
};

/// ProductOperands with the workspace of a packed matrix.
template <class T, class TOut>
struct Product : ProductOperands<T, TOut> {
  Accumulator<T>* partials;  // [header.partials] workspace: sums of the windows of split rows
  unsigned* arrivals;        // [counters(header)] workspace: zeros, before and after a product
};

/// ColumnsOperands with it.
template <class T, class TOut>
struct ColumnsProduct : ColumnsOperands<T, TOut> {
  Accumulator<T>* partials;  // [columns_at_once, header.partials]
  std::int64_t columns_at_once;
  unsigned* arrivals;       // [strip_counters(header)]
  T* rows_of_x;             // [cols, rows_pitch] where column-major X is made row-major
  std::int64_t rows_pitch;  // 0: there is no such memory
};

}  // namespace lanky::sparse
