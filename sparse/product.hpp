// The operands of one product.
#pragma once

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

/// The same with the workspace of a packed matrix.
template <class T, class TOut>
struct Product : ProductOperands<T, TOut> {
  Accumulator<T>* partials;  // [header.partials] workspace: sums of the windows of split rows
  unsigned* arrivals;        // [counters(header)] workspace: zeros, before and after a product

  /// False where beta is known to be 0.
  bool may_add() const noexcept {
    return this->beta.pointer() != nullptr || this->beta.value() != Accumulator<T>{0};
  }
};

}  // namespace lanky::sparse
