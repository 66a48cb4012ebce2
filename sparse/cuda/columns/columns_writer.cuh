// Sums of columns to rows of Y, by rows or columns, with alpha, beta and rounding.
#pragma once

#include "sparse/cuda/columns/arguments.cuh"
#include "sparse/cuda/multiply/writer.cuh"

namespace lanky::sparse::cuda {

/// Writes columns of rows of Y, kCount of them at a time.
template <class T>
class ColumnsWriter {
 public:
  using E = device::DeviceElement<T>;
  using Sum = typename Cell<E>::Sum;

  /// After the wait.
  __device__ explicit ColumnsWriter(const DeviceColumns<T>& product)
      : product_(product), scale_{product.alpha.load(), product.beta.load()} {}

  /// Those from `column` on, as far as there are so many.
  template <int kCount>
  __device__ void write(std::int64_t row, int column, const Cell<E> (&cells)[kCount]) const {
    if (product_.y_sums) {
      write_as<Sum>(row, column, cells);
    } else {
      write_as<E>(row, column, cells);
    }
  }
  /// Rows `row` and row + 1 of a column, which are adjacent: in one store, where they are a word.
  __device__ void write_pair(std::int64_t row, int column, const Cell<E> (&cells)[2]) const {
    if (column >= product_.columns) return;
    if (product_.y_sums) {
      write_pair_as<Sum>(row, column, cells);
    } else {
      write_pair_as<E>(row, column, cells);
    }
  }

 private:
  template <class Out>
  __device__ void write_pair_as(std::int64_t row, int column, const Cell<E> (&cells)[2]) const {
    Out* const y = static_cast<Out*>(product_.y) + row + column * product_.y_column;
    Out pair[2] = {};
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      if (scale_.adds()) pair[i] = y[i];
      pair[i] = scale_.template row_of<Out>(cells[i].sum, pair[i]);
    }
    if (reinterpret_cast<std::uintptr_t>(y) % sizeof(pair) == 0) {
      device::store_wide(y, pair);
      return;
    }
    y[0] = pair[0];
    y[1] = pair[1];
  }

  template <class Out, int kCount>
  __device__ void write_as(std::int64_t row, int column, const Cell<E> (&cells)[kCount]) const {
    Out* const first = static_cast<Out*>(product_.y) + row * product_.y_row;
    Out* const y = first + column * product_.y_column;
    const int columns = product_.columns - column;
    if (product_.y_words && columns >= kCount) {
      Out held[kCount] = {};
      if (scale_.adds()) device::load_words(held, y);
#pragma unroll
      for (int e = 0; e < kCount; ++e)
        held[e] = scale_.template row_of<Out>(cells[e].sum, held[e]);
      device::store_words(y, held);
      return;
    }
#pragma unroll
    for (int e = 0; e < kCount; ++e) {
      if (e >= columns) break;
      Out held{};
      if (scale_.adds()) held = y[e * product_.y_column];
      y[e * product_.y_column] = scale_.template row_of<Out>(cells[e].sum, held);
    }
  }

  const DeviceColumns<T>& product_;
  RowScale<Sum> scale_;
};

}  // namespace lanky::sparse::cuda
