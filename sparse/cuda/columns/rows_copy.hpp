// CSR as products of several columns read it, made on a GPU.
#pragma once

#include <lanky/sparse.hpp>
#include <lanky/stream.hpp>
#include <optional>

#include "sparse/columns_copy.hpp"
#include "sparse/csr.hpp"
#include "sparse/facts.hpp"
#include "sparse/packed.hpp"

namespace lanky::sparse::cuda {

/// Of `a`, which has `facts` and whose packed form is `packed`: rows are cut as there, and shared
/// out for Y as `options` expects it. Nothing, where spans cannot tell of all rows. Waits for the
/// stream.
template <class T>
std::optional<RowsCopy<T>> copy_rows(const Stream& stream, const Csr<T>& a,
                                     const PackedMatrix<T>& packed, const RowFacts& facts,
                                     const SparseOptions& options);

/// Values in CSR order to the copy.
template <class T>
void update_rows(const Stream& stream, RowsCopy<T>& copy, const T* values);

}  // namespace lanky::sparse::cuda
