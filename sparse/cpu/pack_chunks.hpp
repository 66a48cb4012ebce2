// Makes chunks of CSR, and gives them new values.
#pragma once

#include <lanky/buffer.hpp>
#include <lanky/stream.hpp>

#include "sparse/cpu/chunks.hpp"
#include "sparse/csr.hpp"

namespace lanky::sparse::cpu {

/// Memory of the matrix comes from `allocator`. Equal patterns and shapes give equal arrays,
/// whatever the number of threads. Throws Error(out_of_memory).
template <class T>
ChunkMatrix<T> pack_chunks(const Stream& stream, const Csr<T>& a, const ChunkShape& shape,
                           Allocator* allocator);

/// Values in CSR order to the slots that pack_chunks() gave them.
template <class T>
void update_chunks(ChunkMatrix<T>& matrix, const T* values);

}  // namespace lanky::sparse::cpu
