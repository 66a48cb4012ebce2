// Sums of a strip's cells to rows of Y.
#pragma once

#include "sparse/cuda/columns/columns_writer.cuh"
#include "sparse/cuda/columns/strip_gather.cuh"

namespace lanky::sparse::cuda {

/// Writes a lane's columns of rows of Y.
template <class T, class Strip>
class StripWriter {
 public:
  /// `column`: the strip's first; after the wait.
  __device__ StripWriter(const DeviceColumns<T>& product, int column)
      : writer_(product), column_(column) {}

  __device__ void write(std::int64_t row,
                        const StripCells<device::DeviceElement<T>, Strip>& cells) const {
#pragma unroll
    for (int w = 0; w < Strip::kWords; ++w) {
      const int word = w * Strip::kGroup + lane_of_group<Strip>();
      writer_.write(row, column_ + word * Strip::kEach, cells.of[w]);
    }
  }

 private:
  ColumnsWriter<T> writer_;
  int column_;
};

}  // namespace lanky::sparse::cuda
