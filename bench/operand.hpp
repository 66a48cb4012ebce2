// Arrays of an element type known at run time, in the memory of a device, filled with benchmark
// data; and their way back to the host, widened.
#pragma once

#include <cstdint>
#include <lanky/buffer.hpp>
#include <lanky/dtype.hpp>
#include <lanky/stream.hpp>
#include <lanky/view.hpp>
#include <vector>

#include "bench/random.hpp"

namespace lanky::bench {

/// Fills a matrix: element (i, j) is element(fill, seed, i + j * rows), whatever the layout;
/// padding of the leading dimension is NaN.
template <class T>
void fill_matrix(const Stream& stream, MatrixView<T> matrix, Fill fill, std::uint64_t seed);

/// Element i is element(fill, seed, i).
template <class T>
void fill_vector(const Stream& stream, VectorView<T> vector, Fill fill, std::uint64_t seed) {
  fill_matrix(stream, MatrixView<T>{vector.data, vector.size, 1, vector.size, Layout::col}, fill,
              seed);
}

/// Bytes above which no cache of the device holds an array: twice the last shared cache; at most
/// 128 MiB on a CPU.
std::int64_t uncached_bytes(Device device);

extern template void fill_matrix(const Stream&, MatrixView<double>, Fill, std::uint64_t);
extern template void fill_matrix(const Stream&, MatrixView<float>, Fill, std::uint64_t);
extern template void fill_matrix(const Stream&, MatrixView<half>, Fill, std::uint64_t);
extern template void fill_matrix(const Stream&, MatrixView<bfloat16>, Fill, std::uint64_t);

}  // namespace lanky::bench
