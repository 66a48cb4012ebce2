// y = alpha A x + beta y by chunks, of one vector or several.
#pragma once

#include "sparse/cpu/chunk_kernels.hpp"
#include "sparse/cpu/chunks.hpp"
#include "sparse/product.hpp"

namespace lanky::sparse::cpu {

/// Threads share the tasks where the header says that this is worth waking them. No sum crosses
/// tasks but those of cut rows, which are added in the order of their pieces: the number of threads
/// changes no bits. `product.partials` has room for the header's partials.
template <class T, class TOut>
void run_chunks(const ChunkMatrix<T>& a, const Product<T, TOut>& product,
                const ChunkKernels& kernels);

/// The same of several columns, each with the bits that it has alone. `partials` has room for
/// kColumnsAtOnce times the header's partials; `x_by_rows`, unless nullptr, for `x_columns` columns
/// of X, which are set by rows there where they stand by columns.
template <class T, class TOut>
void run_chunks(const ChunkMatrix<T>& a, const ColumnsOperands<T, TOut>& operands,
                Accumulator<T>* partials, bool threads, const ChunkKernels& kernels,
                T* x_by_rows = nullptr, std::int64_t x_columns = 0);

}  // namespace lanky::sparse::cpu
