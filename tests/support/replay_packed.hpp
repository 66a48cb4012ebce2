// Multiplies by a packed matrix on the host, as the kernels of a GPU do.
#pragma once

#include "sparse/packed.hpp"
#include "sparse/product.hpp"

namespace lanky::sparse {

/// All arrays in host memory. Sums are made in the order that docs/packed_format.md fixes.
template <class T, class TOut>
void replay_packed(const PackedView<T>& a, const Product<T, TOut>& product);

}  // namespace lanky::sparse
