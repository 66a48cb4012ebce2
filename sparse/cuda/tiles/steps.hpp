// Tiles on a GPU: made, given new values, multiplied with several columns.
#pragma once

#include <lanky/stream.hpp>
#include <optional>

#include "sparse/csr.hpp"
#include "sparse/facts.hpp"
#include "sparse/product.hpp"
#include "sparse/tiles.hpp"

namespace lanky::sparse::cuda {

/// Of `a`, which may have them, has `rows`, and is packed in `shape`; none where products of the
/// columns that are expected take longer by tiles than on a RowsCopy, unless Engine::tensor_cores
/// asks for them. Waits for what is counted; tiles may still be on their way in the stream.
template <class T>
std::optional<Tiles<T>> make_tiles(const Stream& stream, const Csr<T>& a, const RowFacts& rows,
                                   const Shape& shape, const SparseOptions& options);

/// Values in CSR order.
template <class T>
void update_tiles(const Stream& stream, Tiles<T>& tiles, const T* values);

/// Loads the kernels, so that run_tiles() need not.
template <class T>
void load_tiles(const Stream& stream);

/// Launches on the stream and returns. Column j has the same bits whatever stands beside it and
/// however, which are not those of one vector.
template <class T, class TOut>
void run_tiles(const Stream& stream, const Tiles<T>& tiles, const ColumnsProduct<T, TOut>& product);

}  // namespace lanky::sparse::cuda
