// The two executors of a packed matrix behind one interface. Both read the same arrays and follow
// the same order of tiles; cuda/absent.cpp stands in where there is no CUDA.
#pragma once

#include <lanky/operation.hpp>
#include <lanky/stream.hpp>

#include "sparse/packed.hpp"

namespace lanky::sparse {

/// The operands of y = alpha A x + beta y, all on the executor's device.
template <class T, class TOut>
struct Product {
  const T* x;  // [cols]
  TOut* y;     // [rows]
  Scalar<Accumulator<T>> alpha;
  Scalar<Accumulator<T>> beta;
  Accumulator<T>* partials;  // [split_pieces] workspace: sums of the pieces of split rows
};

namespace cpu {
template <class T, class TOut>
void run(const PackedView<T>& a, const Product<T, TOut>& product);
}  // namespace cpu

namespace cuda {
/// Loads the kernels of `path`, so that run need not.
template <class T, class TOut>
void load(const Stream& stream, SpmvPath path);

/// Launches on the stream and returns; `path` is mma or cuda.
template <class T, class TOut>
void run(const Stream& stream, SpmvPath path, const PackedView<T>& a,
         const Product<T, TOut>& product);
}  // namespace cuda

}  // namespace lanky::sparse
