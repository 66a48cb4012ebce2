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
#include "sparse/cuda/columns/launch_operands.cuh"
#include "sparse/cuda/columns/launch_rows.cuh"
#include "sparse/cuda/columns/policy.hpp"
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
  for (const bool few : {false, true})
    device::load_kernels(stream, rows_of_x<device::DeviceElement<T>>(few));
  for (int i = 0; i < kStripKinds; ++i) {
    const auto kind = static_cast<StripKind>(i);
    if (launches.of(kind).threads == 0) continue;
    device::load_kernels(stream, strip_kernel<T>(kind));
    device::allow_shared_memory(stream, strip_kernel<T>(kind), launches.of(kind).shared_bytes);
  }
}

/// Strips of the columns from `done` on, however these stand.
template <class T, class TOut>
void run_strips(const Stream& stream, const Launches& launches, const PackedView<T>& packed,
                const ColumnsProduct<T, TOut>& product, std::int64_t done) {
  const Launch& vector = launches.adds;
  if (vector.blocks == 0) return;
  const std::int64_t windows = packed.header.windows;
  const std::int64_t strips_most = std::clamp<std::int64_t>(
      std::numeric_limits<std::int32_t>::max() / windows, 1, kStripsAtOnce);
  const device::LaunchScope scope(stream);
  while (done < product.columns) {
    const T* const x = product.x + done * product.x_strides.column;
    const NextStrips next = next_strips(launches.strips, word_bytes_of(x, product.x_strides),
                                        readable_columns(product, done), kDType<T>);
    const StripLaunch& launch = launches.strips.of(next.kind);
    if (launch.threads == 0) {
      throw Error(ErrorCode::unsupported,
                  concat("a window of ", packed.header.cells_most,
                         " sums leaves a block no shared memory for several columns"));
    }
    const StripColumns strip = columns_of(next.kind, kDType<T>);
    const std::int64_t columns = std::min(
        {next.columns, strips_most * strip.all, product.columns_at_once, product.columns - done});
    const std::int64_t strips = device::ceil_div<std::int64_t>(columns, strip.all);
    DeviceColumns<T> arguments = device_columns(product, done, columns, strips, strip.of_word);
    arguments.parts = static_cast<std::uint32_t>(launch.parts);
    arguments.lane_pieces = packed.header.shape.lane_pieces;
    arguments.vector_threads = launches.strips.vector_threads;
    arguments.partials = packed.header.partials;
    const device::LaunchSize size{dim3(static_cast<unsigned>(windows * strips * launch.parts)),
                                  dim3(static_cast<unsigned>(launch.threads)),
                                  static_cast<std::size_t>(launch.shared_bytes)};
    device::launch_dependent(stream, strip_kernel<T>(next.kind), size, arguments,
                             device_matrix(packed, vector), workspace_of(product));
    done += columns;
  }
}

template <class T, class TOut>
void run_columns(const Stream& stream, const Launches& launches, const PackedView<T>& packed,
                 const ColumnsCopy<T>& copy, const ColumnsProduct<T, TOut>& product) {
  if constexpr (kHasWords<T>) {
    const bool apart = product.x_strides.column != 1;
    if (apart && run_columns_as_words(stream, launches, packed, product)) return;
  }
  by_rows_of_x(stream, packed.header.cols, product, [&](const ColumnsProduct<T, TOut>& part) {
    if constexpr (kHasWords<T>) {
      if (run_rows_as_words(stream, launches, packed, part)) return;
    }
    const std::int64_t done =
        copy.rows ? run_rows(stream, launches.strips, packed, *copy.rows, part) : 0;
    run_strips(stream, launches, packed, part, done);
  });
}

}  // namespace lanky::sparse::cuda

/// The kernels of plans for T with results of TOut...
#define LANKY_INSTANTIATE_SPMM(T)                                                 \
  namespace lanky::sparse::cuda {                                                 \
  template void load_strips<T>(const Stream&, const StripLaunches&);              \
  template void load_rows(const Stream&, const RowsCopy<T>&);                     \
  template void run_columns(const Stream&, const Launches&, const PackedView<T>&, \
                            const ColumnsCopy<T>&, const ColumnsProduct<T, T>&);  \
  }
/// ... and, of halves, with results of float.
#define LANKY_INSTANTIATE_WIDENED_SPMM(T)                                            \
  namespace lanky::sparse::cuda {                                                    \
  template void run_columns(const Stream&, const Launches&, const PackedView<T>&,    \
                            const ColumnsCopy<T>&, const ColumnsProduct<T, float>&); \
  }
