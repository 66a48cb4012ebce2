// Arguments of the kernels of a product: the packed matrix, the operands and the workspace.
#pragma once

#include <cstdint>

#include "device/element.cuh"
#include "sparse/cuda/multiply/cells.cuh"
#include "sparse/launch.hpp"
#include "sparse/packed.hpp"
#include "sparse/product.hpp"

namespace lanky::sparse::cuda {

/// The packed matrix: what kernels read of it, first what all of them read. Each line of the
/// arguments that a small product touches takes it a latency.
template <class E>
struct DeviceMatrix {
  const Window* windows;
  const Slice* slices;
  std::int32_t slices_most;
  std::int32_t cells_most;
  Shares shares;
  const E* values;
  const std::uint8_t* indices;
  const std::uint32_t* bases;
  const std::uint8_t* lengths;
  const std::uint16_t* cells;
  const std::uint16_t* row_cells;
  std::int32_t columns_most;
  std::uint32_t window_count;
  const std::int64_t* split_starts;
  const std::uint32_t* order;  // nullptr: windows are in order
  const std::int32_t* hot_columns;
  std::int32_t hot;
  std::int32_t split_rows;
  std::int64_t slots;
  std::int64_t index_units;
  bool fetch_ahead;  // windows have their beginning fetched at once
};

/// A Product.
template <class T, class TOut>
struct DeviceProduct {
  using Element = T;
  using Factor = device::DeviceElement<T>;  // what an entry multiplies
  using Out = device::DeviceElement<TOut>;

  const device::DeviceElement<T>* x;  // [cols]
  device::DeviceElement<TOut>* y;     // [rows]
  device::DeviceScalar<Accumulator<T>> alpha;
  device::DeviceScalar<Accumulator<T>> beta;
  std::uint32_t special;  // 0: beta is 0, and neither it nor alpha is in device memory
};

/// A ColumnsProduct of kCount columns: rows of X are words or, if kApart, columns are adjacent.
template <class T, class TOut, int kCount, bool kApart_>
struct DeviceWordProduct {
  static constexpr bool kApart = kApart_;
  using Element = T;
  using Factor = device::Columns<device::DeviceElement<T>, kCount>;
  using Out = device::DeviceElement<TOut>;

  const device::DeviceElement<T>* x;  // [cols, kCount]
  std::int64_t x_column;              // elements from column to column, if kApart
  std::uint32_t x_row_bytes;          // from row to row, else
  std::uint32_t special;              // as above
  Out* y;                             // [rows, kCount]
  std::int64_t y_row;                 // elements from row to row
  std::int64_t y_column;              // from column to column
  bool y_words;                       // rows of Y are words, too
  device::DeviceScalar<Accumulator<T>> alpha;
  device::DeviceScalar<Accumulator<T>> beta;
};

/// Memory that windows share: the last argument, as few of them read it.
template <class T>
struct DeviceWorkspace {
  Cell<device::DeviceElement<T>>* partials;  // [header.partials]
  unsigned* arrivals;                        // [counters(header)]
};

}  // namespace lanky::sparse::cuda
