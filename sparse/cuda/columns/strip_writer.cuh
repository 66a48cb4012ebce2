// Sums of a strip's cells to rows of Y, by rows or columns, with alpha, beta and rounding.
#pragma once

#include "sparse/cuda/columns/arguments.cuh"
#include "sparse/cuda/columns/strip_gather.cuh"
#include "sparse/cuda/multiply/writer.cuh"

namespace lanky::sparse::cuda {

/// Writes a lane's columns of rows of Y.
template <class T, class Strip>
class StripWriter {
 public:
  using E = device::DeviceElement<T>;
  using Sum = typename Cell<E>::Sum;

  /// `column`: the strip's first; after the wait.
  __device__ StripWriter(const DeviceColumns<T>& product, int column)
      : product_(product), column_(column), scale_{product.alpha.load(), product.beta.load()} {}

  __device__ void write(std::int64_t row, const StripCells<E, Strip>& cells) const {
    if (product_.y_sums) {
      write_as<Sum>(row, cells);
    } else {
      write_as<E>(row, cells);
    }
  }

 private:
  template <class Out>
  __device__ void write_as(std::int64_t row, const StripCells<E, Strip>& cells) const {
    Out* const y = static_cast<Out*>(product_.y) + row * product_.y_row;
#pragma unroll
    for (int w = 0; w < Strip::kWords; ++w) {
      const int column = column_ + (w * Strip::kGroup + lane_of_group<Strip>()) * Strip::kEach;
      write_word(y + column * product_.y_column, product_.columns - column, cells.of[w]);
    }
  }

  /// `columns`: that Y has from there on.
  template <class Out>
  __device__ void write_word(Out* y, int columns, const Cell<E> (&cells)[Strip::kEach]) const {
    if (product_.y_words && columns >= Strip::kEach) {
      Out held[Strip::kEach] = {};
      if (scale_.adds()) device::load_words(held, y);
#pragma unroll
      for (int e = 0; e < Strip::kEach; ++e)
        held[e] = scale_.template row_of<Out>(cells[e].sum, held[e]);
      device::store_words(y, held);
      return;
    }
#pragma unroll
    for (int e = 0; e < Strip::kEach; ++e) {
      if (e >= columns) break;
      Out held{};
      if (scale_.adds()) held = y[e * product_.y_column];
      y[e * product_.y_column] = scale_.template row_of<Out>(cells[e].sum, held);
    }
  }

  const DeviceColumns<T>& product_;
  int column_;
  RowScale<Sum> scale_;
};

}  // namespace lanky::sparse::cuda
