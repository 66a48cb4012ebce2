// The two executors of a packed matrix behind one interface. Both make and read the same bits;
// cuda/absent.cpp stands in where there is no CUDA.
#pragma once

#include <cstddef>
#include <lanky/buffer.hpp>
#include <lanky/operation.hpp>
#include <lanky/stream.hpp>
#include <lanky/view.hpp>
#include <limits>

#include "sparse/packed.hpp"
#include "sparse/policy.hpp"

namespace lanky::sparse {

/// The operands of y = alpha A x + beta y, all on the executor's device.
template <class T, class TOut>
struct Product {
  const T* x;  // [cols]
  TOut* y;     // [rows]
  Scalar<Accumulator<T>> alpha;
  Scalar<Accumulator<T>> beta;
  Accumulator<T>* partials;  // [header.partials] workspace: sums of the windows of split rows
  unsigned* arrivals;        // [header.split_rows] workspace: zeros, before and after a product
};

/// A CSR matrix in the executor's memory, checked, its offsets 64 bits wide and zero-based.
template <class T>
struct Csr {
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  std::int64_t nnz = 0;
  const std::int64_t* row_offsets = nullptr;  // [rows + 1]
  const std::int32_t* columns = nullptr;      // [nnz], from index_base on
  const T* values = nullptr;                  // [nnz]
  int index_base = 0;
};

/// A matrix without its values, on which alone the packed form depends.
using CsrPattern = Csr<std::byte>;

/// The transpose of a matrix, zero-based, with the way back: the entries of a row stand in the
/// order of A's rows.
template <class T>
struct TransposedCsr {
  TransposedCsr(const Stream& stream, const Csr<T>& a)
      : facts{.rows = a.cols, .cols = a.rows, .nnz = a.nnz},
        row_offsets(stream, a.cols + 1),
        columns(stream, a.nnz),
        values(stream, a.nnz),
        entries(stream, 0) {}

  Csr<T> csr() const {
    return {facts.rows,     facts.cols,    facts.nnz, row_offsets.data(),
            columns.data(), values.data(), 0};
  }

  RowFacts facts;
  Buffer<std::int64_t> row_offsets;
  Buffer<std::int32_t> columns;
  Buffer<T> values;
  Buffer<std::uint32_t> entries;  // [nnz] A's number of each entry
};
inline constexpr std::int64_t kTransposedEntriesMost = std::numeric_limits<std::uint32_t>::max();

namespace cpu {
/// Of at most kTransposedEntriesMost entries; memory of `entries` comes from `allocator`.
template <class T>
TransposedCsr<T> transpose(const Stream& stream, const Csr<T>& a, bool conjugated,
                           Allocator* allocator);

/// target[i] = source[entries[i]], or its conjugate.
template <class T>
void gather_values(const std::uint32_t* entries, std::int64_t count, bool conjugated,
                   const T* source, T* target);

template <class T>
PackedMatrix<T> pack(const Stream& stream, const Csr<T>& a, const Shape& shape,
                     Allocator* allocator);

/// Values in CSR order to the slots that pack() gave them.
template <class T>
void update_values(const PackedView<T>& a, const T* values, T* slots);

template <class T, class TOut>
void run(const PackedView<T>& a, const Product<T, TOut>& product);
}  // namespace cpu

namespace cuda {
/// What a pass over row offsets in device memory finds.
struct ExaminedRows {
  Buffer<std::int64_t> offsets;  // [rows + 1], zero-based
  RowFacts facts;
};

/// Checks a caller's row offsets as CheckedCsr does; of `a` only extents and index_base are read.
ExaminedRows examine_rows(const Stream& stream, const RowOffsets& offsets, const CsrPattern& a);

/// Checks that all columns are in range; throws as CheckedCsr does.
void check_columns(const Stream& stream, const CsrPattern& a);

template <class T>
TransposedCsr<T> transpose(const Stream& stream, const Csr<T>& a, bool conjugated,
                           Allocator* allocator);

template <class T>
void gather_values(const Stream& stream, const std::uint32_t* entries, std::int64_t count,
                   bool conjugated, const T* source, T* target);

/// As cpu::pack, bit by bit. Waits for the stream.
template <class T>
PackedMatrix<T> pack(const Stream& stream, const Csr<T>& a, const Shape& shape,
                     Allocator* allocator);

template <class T>
void update_values(const Stream& stream, const PackedView<T>& a, const T* values, T* slots);

/// Loads the kernels that multiply `a` by `path`, so that run need not.
template <class T, class TOut>
void load(const Stream& stream, SpmvPath path, const PackedHeader& a);

/// Launches on the stream and returns; `path` is mma or cuda.
template <class T, class TOut>
void run(const Stream& stream, SpmvPath path, const PackedView<T>& a,
         const Product<T, TOut>& product);
}  // namespace cuda

}  // namespace lanky::sparse
