// Launches a product of several columns on its kernels. Included by one .cu file for each element
// type.
#pragma once

#include <algorithm>
#include <cstdint>
#include <lanky/error.hpp>
#include <limits>

#include "core/text.hpp"
#include "device/grid_dependency.cuh"
#include "device/launch.cuh"
#include "sparse/cuda/columns/policy.hpp"
#include "sparse/cuda/columns/rows_of_x.cuh"
#include "sparse/cuda/columns/spmm_strip.cuh"
#include "sparse/cuda/columns/steps.hpp"
#include "sparse/cuda/multiply/device_matrix.cuh"

namespace lanky::sparse::cuda {

template <class T>
using StripKernel = void (*)(DeviceColumns<T>, DeviceMatrix<device::DeviceElement<T>>,
                             DeviceWorkspace<T>);

/// The kernel of strips of one kind.
template <class T>
StripKernel<T> strip_kernel(StripKind kind) {
  return with_strip<T>(
      kind, [](auto strip) -> StripKernel<T> { return &spmm_cuda_kernel<decltype(strip), T>; });
}

template <class T>
void load_strips(const Stream& stream, const StripLaunches& launches) {
  device::load_kernels(stream, &rows_of_x_kernel<device::DeviceElement<T>>);
  for (int i = 0; i < kStripKinds; ++i) {
    const auto kind = static_cast<StripKind>(i);
    if (launches.of(kind).threads == 0) continue;
    device::load_kernels(stream, strip_kernel<T>(kind));
    device::allow_shared_memory(stream, strip_kernel<T>(kind), launches.of(kind).shared_bytes);
  }
}

/// The bytes, up to 16, to which `first` and all rows behind it are aligned where columns are
/// adjacent; 0 where they are not.
template <class E>
int word_bytes_of(const E* first, Strides strides) {
  if (strides.column != 1) return 0;
  const auto pitch = static_cast<std::uintptr_t>(strides.row) * sizeof(E);
  const std::uintptr_t bits = reinterpret_cast<std::uintptr_t>(first) | pitch | kWordBytes;
  return static_cast<int>(bits & (~bits + 1));
}

/// Bytes from row to row of X, as kernels take them.
template <class T>
std::uint32_t row_bytes_of(Strides strides) {
  const std::int64_t bytes = strides.row * static_cast<std::int64_t>(sizeof(T));
  if (bytes <= std::numeric_limits<std::uint32_t>::max()) return static_cast<std::uint32_t>(bytes);
  throw Error(ErrorCode::unsupported,
              concat("rows of X are ", bytes, " bytes apart; kernels take up to 4294967295"));
}

/// Strips of the columns, however these stand.
template <class T, class TOut>
void run_strips(const Stream& stream, const Launches& launches, const PackedView<T>& packed,
                const ColumnsProduct<T, TOut>& product) {
  const Launch& vector = launches.adds;
  if (vector.blocks == 0) return;
  const std::uint32_t row_bytes = row_bytes_of<T>(product.x_strides);
  const std::int64_t windows = packed.header.windows;
  const std::int64_t strips_most = std::clamp<std::int64_t>(
      std::numeric_limits<std::int32_t>::max() / windows, 1, kStripsAtOnce);
  const DeviceWorkspace<T> workspace{
      reinterpret_cast<Cell<device::DeviceElement<T>>*>(product.partials), product.arrivals};
  const device::LaunchScope scope(stream);
  for (std::int64_t done = 0; done < product.columns;) {
    const T* const x = product.x + done * product.x_strides.column;
    TOut* const y = product.y + done * product.y_strides.column;
    // Rows that were made here end with a whole word: what is behind the columns may be read.
    const bool filled = x == product.rows_of_x && product.rows_pitch > 0;
    const std::int64_t left = product.columns - done;
    const NextStrips next =
        next_strips(launches.strips, word_bytes_of(x, product.x_strides),
                    filled ? round_up(left, word_columns(sizeof(T))) : left, kDType<T>);
    const StripLaunch& launch = launches.strips.of(next.kind);
    if (launch.threads == 0) {
      throw Error(ErrorCode::unsupported,
                  concat("a window of ", packed.header.cells_most,
                         " sums leaves a block no shared memory for several columns"));
    }
    const StripColumns strip = columns_of(next.kind, kDType<T>);
    const std::int64_t columns = std::min({next.columns, strips_most * strip.all, left});
    const std::int64_t strips = (columns + strip.all - 1) / strip.all;
    const auto y_word = std::min<int>(strip.of_word * sizeof(TOut), kWordBytes);
    const DeviceColumns<T> arguments{.x = device::device_pointer(x),
                                     .x_column = product.x_strides.column,
                                     .x_row_bytes = row_bytes,
                                     .columns = static_cast<std::int32_t>(columns),
                                     .y = y,
                                     .y_row = product.y_strides.row,
                                     .y_column = product.y_strides.column,
                                     .y_words = word_bytes_of(y, product.y_strides) >= y_word,
                                     .y_sums = !std::is_same_v<T, TOut>,
                                     .alpha = device::DeviceScalar<Accumulator<T>>(product.alpha),
                                     .beta = device::DeviceScalar<Accumulator<T>>(product.beta),
                                     .strips = static_cast<std::uint32_t>(strips),
                                     .parts = static_cast<std::uint32_t>(launch.parts),
                                     .lane_pieces = packed.header.shape.lane_pieces,
                                     .vector_threads = launches.strips.vector_threads,
                                     .partials = packed.header.partials};
    const device::LaunchSize size{dim3(static_cast<unsigned>(windows * strips * launch.parts)),
                                  dim3(static_cast<unsigned>(launch.threads)),
                                  static_cast<std::size_t>(launch.shared_bytes)};
    device::launch_dependent(stream, strip_kernel<T>(next.kind), size, arguments,
                             device_matrix(packed, vector), workspace);
    done += columns;
  }
}

/// Columns from which on making X row-major takes less than gathers of single elements.
inline constexpr std::int64_t kRowsOfXLeast = 4;

template <class T, class TOut>
void run_columns(const Stream& stream, const Launches& launches, const PackedView<T>& packed,
                 const ColumnsProduct<T, TOut>& product) {
  const bool apart = product.x_strides.column != 1;
  if (!apart || product.rows_pitch == 0 || product.columns < kRowsOfXLeast)
    return run_strips(stream, launches, packed, product);
  const std::int64_t rows = packed.header.cols;
  for (std::int64_t done = 0; done < product.columns; done += product.rows_pitch) {
    ColumnsProduct<T, TOut> part = product;
    part.columns = std::min(product.columns - done, product.rows_pitch);
    part.y += done * product.y_strides.column;
    part.x_strides = {.row = round_up(part.columns, word_columns(sizeof(T))), .column = 1};
    part.x = product.rows_of_x;
    const auto pitch = static_cast<int>(part.x_strides.row);
    const device::LaunchSize size{
        dim3(static_cast<unsigned>(device::ceil_div(rows, std::int64_t{kTileRows})),
             static_cast<unsigned>(device::ceil_div(pitch, kTileColumns))),
        dim3(kTileThreads)};
    if (rows > 0) {
      const device::LaunchScope scope(stream);
      device::launch_dependent(stream, &rows_of_x_kernel<device::DeviceElement<T>>, size,
                               device::device_pointer(product.x + done * product.x_strides.column),
                               product.x_strides.column, rows, static_cast<int>(part.columns),
                               device::device_pointer(product.rows_of_x), pitch);
    }
    run_strips(stream, launches, packed, part);
  }
}

}  // namespace lanky::sparse::cuda

/// The kernels of plans for T with results of TOut...
#define LANKY_INSTANTIATE_SPMM(T)                                                 \
  namespace lanky::sparse::cuda {                                                 \
  template void load_strips<T>(const Stream&, const StripLaunches&);              \
  template void run_columns(const Stream&, const Launches&, const PackedView<T>&, \
                            const ColumnsProduct<T, T>&);                         \
  }
/// ... and, of halves, with results of float.
#define LANKY_INSTANTIATE_WIDENED_SPMM(T)                                         \
  namespace lanky::sparse::cuda {                                                 \
  template void run_columns(const Stream&, const Launches&, const PackedView<T>&, \
                            const ColumnsProduct<T, float>&);                     \
  }
