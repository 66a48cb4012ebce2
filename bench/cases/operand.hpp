// Arrays of an element type known at run time, in the memory of a device: filled with benchmark
// data, copied, and read back at single places.
#pragma once

#include <cstdint>
#include <lanky/dtype.hpp>
#include <lanky/stream.hpp>
#include <lanky/view.hpp>
#include <optional>
#include <span>
#include <vector>

#include "bench/cases/random.hpp"

namespace lanky::bench {

/// A stored matrix of any type: `rows` elements along the contiguous direction, `cols` such vectors
/// `ld` elements apart. Its element with coordinates (i, j) of that kind has the number
/// i + j * rows, or, `transposed`, j + i * cols.
struct StoredArray {
  DType dtype = DType::f64;
  void* data = nullptr;
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  std::int64_t ld = 0;
  bool transposed = false;
  std::optional<DType> like{};  // filled with the values that this type has, not with dtype's

  DType filled_as() const { return like.value_or(dtype); }
  /// Numbers that do not depend on the layout: (i, j) of the matrix counts i + j * (its rows).
  template <class T>
  static StoredArray of(MatrixView<T> matrix) {
    const bool row = matrix.layout == Layout::row;
    return {
        kDType<T>, matrix.data, row ? matrix.cols : matrix.rows, row ? matrix.rows : matrix.cols,
        matrix.ld, row};
  }
};

/// Element number e is element(fill, seed, e), or of a complex type has these as its components:
/// elements 2 e and 2 e + 1 of the sequence. The padding of the leading dimension is NaN.
void fill_array(const Stream& stream, const StoredArray& array, Fill fill, std::uint64_t seed);

template <class T>
void fill_matrix(const Stream& stream, MatrixView<T> matrix, Fill fill, std::uint64_t seed) {
  fill_array(stream, StoredArray::of(matrix), fill, seed);
}

/// Element i is element(fill, seed, i).
template <class T>
void fill_vector(const Stream& stream, VectorView<T> vector, Fill fill, std::uint64_t seed) {
  fill_matrix(stream, MatrixView<T>{vector.data, vector.size, 1, vector.size, Layout::col}, fill,
              seed);
}

void fill_zero(const Stream& stream, void* data, std::int64_t bytes);

/// Copies the first `bytes` of `data` behind themselves until there are `copies` of them.
void replicate(const Stream& stream, void* data, std::int64_t bytes, std::int64_t copies);

/// Real numbers at these offsets (counted in real numbers), widened.
std::vector<double> gather(const Stream& stream, const StoredArray& array,
                           std::span<const std::int64_t> offsets);

/// Elements, padding aside, of which some part is NaN; `lower`: with j <= i of (i, j) as stored, or
/// i <= j where transposed, so that it is the lower triangle in either layout.
std::int64_t count_nan(const Stream& stream, const StoredArray& array, bool lower);

/// Bytes above which no cache of the device holds an array: twice the last shared cache; at most
/// 128 MiB on a CPU.
std::int64_t uncached_bytes(Device device);

}  // namespace lanky::bench
