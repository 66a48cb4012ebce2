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

/// The same of products on a RowsCopy.
template <class T>
void load_rows(const Stream& stream, const RowsCopy<T>& copy);

/// The same of products whose rows of X are a word, or whose columns are few.
template <class T, class TOut>
void load_words(const Stream& stream, const StripLaunches& launches);
template <class T>
inline constexpr bool kHasWords = !is_complex(kDType<T>);

/// Where rows of X are a word or two, which a lane gathers: launches on the stream; else returns
/// false.
template <class T, class TOut>
bool run_rows_as_words(const Stream& stream, const Launches& launches, const PackedView<T>& a,
                       const ColumnsProduct<T, TOut>& product);
/// The same where columns of X are few and can be gathered as they stand.
template <class T, class TOut>
bool run_columns_as_words(const Stream& stream, const Launches& launches, const PackedView<T>& a,
                          const ColumnsProduct<T, TOut>& product);

/// Launches on the stream and returns; `launches` and `copy` are those of `a`.
template <class T, class TOut>
void run_columns(const Stream& stream, const Launches& launches, const PackedView<T>& a,
                 const ColumnsCopy<T>& copy, const ColumnsProduct<T, TOut>& product);

}  // namespace lanky::sparse::cuda
