// Products of several columns on a GPU.
#pragma once

#include "sparse/columns_copy.hpp"
#include "sparse/launch.hpp"
#include "sparse/packed.hpp"
#include "sparse/product.hpp"

namespace lanky::sparse::cuda {

/// Loads the kernels of `launches`, so that run_columns() need not.
template <class T>
void load_strips(const Stream& stream, const StripLaunches& launches);

/// The same of products on a RowsCopy with so many parts of long rows.
template <class T>
void load_rows(const Stream& stream, const StripLaunches& launches, std::int64_t long_parts);

/// Launches on the stream and returns; `launches` and `copy` are those of `a`.
template <class T, class TOut>
void run_columns(const Stream& stream, const Launches& launches, const PackedView<T>& a,
                 const ColumnsCopy<T>& copy, const ColumnsProduct<T, TOut>& product);

}  // namespace lanky::sparse::cuda
