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
#include "sparse/cuda/columns/spmm_rows.cuh"
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

/// The workspace of a product.
template <class T, class TOut>
DeviceWorkspace<T> workspace_of(const ColumnsProduct<T, TOut>& product) {
  return {reinterpret_cast<Cell<device::DeviceElement<T>>*>(product.partials), product.arrivals};
}

/// The first `columns` columns of a product, in `strips` strips of lanes' words of `word` columns.
template <class T, class TOut>
DeviceColumns<T> device_columns(const ColumnsProduct<T, TOut>& product, std::int64_t columns,
                                int word, std::int64_t strips) {
  const auto y_word = std::min<int>(word * sizeof(TOut), kWordBytes);
  return {.x = device::device_pointer(product.x),
          .x_column = product.x_strides.column,
          .x_row_bytes = row_bytes_of<T>(product.x_strides),
          .columns = static_cast<std::int32_t>(columns),
          .y = product.y,
          .y_row = product.y_strides.row,
          .y_column = product.y_strides.column,
          .y_words = word_bytes_of(product.y, product.y_strides) >= y_word,
          .y_sums = !std::is_same_v<T, TOut>,
          .alpha = device::DeviceScalar<Accumulator<T>>(product.alpha),
          .beta = device::DeviceScalar<Accumulator<T>>(product.beta),
          .strips = static_cast<std::uint32_t>(strips)};
}

/// A product without its first `done` columns.
template <class T, class TOut>
ColumnsProduct<T, TOut> further(ColumnsProduct<T, TOut> product, std::int64_t done) {
  product.x += done * product.x_strides.column;
  product.y += done * product.y_strides.column;
  product.columns -= done;
  return product;
}

/// Strips of the columns, however these stand.
template <class T, class TOut>
void run_strips(const Stream& stream, const Launches& launches, const PackedView<T>& packed,
                ColumnsProduct<T, TOut> product) {
  const Launch& vector = launches.adds;
  if (vector.blocks == 0) return;
  const std::int64_t windows = packed.header.windows;
  const std::int64_t strips_most = std::clamp<std::int64_t>(
      std::numeric_limits<std::int32_t>::max() / windows, 1, kStripsAtOnce);
  const device::LaunchScope scope(stream);
  // Rows that were made here end with a whole word: what is behind the columns may be read.
  const bool filled = product.x == product.rows_of_x && product.rows_pitch > 0;
  while (product.columns > 0) {
    const NextStrips next = next_strips(
        launches.strips, word_bytes_of(product.x, product.x_strides),
        filled ? round_up(product.columns, word_columns(sizeof(T))) : product.columns, kDType<T>);
    const StripLaunch& launch = launches.strips.of(next.kind);
    if (launch.threads == 0) {
      throw Error(ErrorCode::unsupported,
                  concat("a window of ", packed.header.cells_most,
                         " sums leaves a block no shared memory for several columns"));
    }
    const StripColumns strip = columns_of(next.kind, kDType<T>);
    const std::int64_t columns = std::min({next.columns, strips_most * strip.all, product.columns});
    const std::int64_t strips = (columns + strip.all - 1) / strip.all;
    DeviceColumns<T> arguments = device_columns(product, columns, strip.of_word, strips);
    arguments.parts = static_cast<std::uint32_t>(launch.parts);
    arguments.lane_pieces = packed.header.shape.lane_pieces;
    arguments.vector_threads = launches.strips.vector_threads;
    arguments.partials = packed.header.partials;
    const device::LaunchSize size{dim3(static_cast<unsigned>(windows * strips * launch.parts)),
                                  dim3(static_cast<unsigned>(launch.threads)),
                                  static_cast<std::size_t>(launch.shared_bytes)};
    device::launch_dependent(stream, strip_kernel<T>(next.kind), size, arguments,
                             device_matrix(packed, vector), workspace_of(product));
    product = further(product, columns);
  }
}

/// f(strip) with the least strip of a RowsCopy that has so many columns, or the widest; of words,
/// to which X is aligned, or of single columns.
template <class T, bool kAligned, class F>
void with_rows_strip(std::int64_t columns, F f) {
  if constexpr (kAligned) {
    constexpr int kWord = word_columns(sizeof(T));
    if (columns <= 2 * kWord) return f(StripOf<2, 1, kWord, true>{});
    if (columns <= 4 * kWord) return f(StripOf<4, 1, kWord, true>{});
    if (columns <= 8 * kWord) return f(StripOf<8, 1, kWord, true>{});
    if (columns <= 16 * kWord) return f(StripOf<8, 2, kWord, true>{});
    return f(StripOf<16, 2, kWord, true>{});
  } else {
    if (columns <= 4) return f(StripOf<4, 1, 1, false>{});
    if (columns <= 8) return f(StripOf<8, 1, 1, false>{});
    if (columns <= 16) return f(StripOf<16, 1, 1, false>{});
    f(StripOf<32, 1, 1, false>{});
  }
}
template <class T, bool kAligned>
void load_rows(const Stream& stream, int parts_bytes) {
  for (int columns = 1; columns <= strip_columns_most(sizeof(T)) * 2; columns *= 2) {
    with_rows_strip<T, kAligned>(columns, [&](auto strip) {
      const auto kernel = &spmm_rows_kernel<decltype(strip), T>;
      device::load_kernels(stream, kernel);
      device::allow_shared_memory(stream, kernel, parts_bytes);
    });
  }
}
template <class T>
void load_rows(const Stream& stream, int parts_bytes) {
  load_rows<T, true>(stream, parts_bytes);
  load_rows<T, false>(stream, parts_bytes);
}

/// Strips of adjacent columns on a RowsCopy; of whole words, if kAligned.
template <bool kAligned, class T, class TOut>
void run_rows(const Stream& stream, const StripLaunches& launches, const PackedView<T>& packed,
              const RowsCopy<T>& copy, ColumnsProduct<T, TOut> product) {
  using E = device::DeviceElement<T>;
  const PackedHeader& header = packed.header;
  const auto blocks = [](std::int64_t count, int of_block) {
    return static_cast<std::uint32_t>(device::ceil_div<std::int64_t>(count, of_block));
  };
  DeviceRows<E> a{.spans = copy.spans.data(),
                  .columns = copy.columns.data(),
                  .values = device::device_pointer(copy.values.data()),
                  .rows = static_cast<std::uint32_t>(header.rows),
                  .piece_most = header.shape.piece_most,
                  .of_warps = copy.of_warps.data(),
                  .of_blocks = copy.of_blocks.data(),
                  .pieces_most = copy.pieces_most,
                  .blocks_of_blocks = blocks(copy.of_blocks.size(), 1),
                  .blocks_of_warps = blocks(copy.of_warps.size(), kRowsThreads / kLanes),
                  .blocks_of_rows = 0,
                  .part_strips = 0,
                  .warp_parts = static_cast<std::uint32_t>(copy.of_warps.size()),
                  .split_starts = packed.split_starts,
                  .split_rows = static_cast<std::int32_t>(header.split_rows)};
  const device::LaunchScope scope(stream);
  while (header.rows > 0 && product.columns > 0) {
    std::int64_t columns = 0;
    with_rows_strip<T, kAligned>(product.columns, [&](auto strip) {
      using Strip = decltype(strip);
      constexpr int kPartColumns = PartStrip<Strip, E>::kColumns;
      columns = std::min<std::int64_t>(product.columns, kPartStripsAtOnce * kPartColumns);
      a.part_strips = blocks(columns, kPartColumns);
      a.blocks_of_rows = blocks(header.rows, kRowsThreads / Strip::kGroup);
      const std::uint32_t strips = blocks(columns, Strip::kColumns);
      DeviceColumns<T> arguments = device_columns(product, columns, Strip::kEach, strips);
      arguments.vector_threads = launches.vector_threads;
      arguments.partials = header.partials;
      const std::int64_t of_parts = std::int64_t{a.blocks_of_blocks} + a.blocks_of_warps;
      const std::int64_t all = of_parts * a.part_strips + std::int64_t{a.blocks_of_rows} * strips;
      const device::LaunchSize size{
          dim3(static_cast<unsigned>(all)), dim3(kRowsThreads),
          static_cast<std::size_t>(of_parts > 0 ? launches.parts_bytes : 0)};
      device::launch_dependent(stream, &spmm_rows_kernel<Strip, T>, size, arguments, a,
                               workspace_of(product));
    });
    product = further(product, columns);
  }
}

/// As many of a product's first columns as a RowsCopy is for, on it: those that are adjacent in a
/// row of X, if they fill more than a word, of which the packed form reads less.
template <class T, class TOut>
std::int64_t run_rows(const Stream& stream, const StripLaunches& launches,
                      const PackedView<T>& packed, const RowsCopy<T>& copy,
                      ColumnsProduct<T, TOut> product) {
  constexpr int kWord = word_columns(sizeof(T));
  const int word_bytes = word_bytes_of(product.x, product.x_strides);
  if (word_bytes == 0 || product.columns <= kWord) return 0;
  if (word_bytes < kWordBytes) {
    run_rows<false>(stream, launches, packed, copy, product);
    return product.columns;
  }
  const bool filled = product.x == product.rows_of_x && product.rows_pitch > 0;
  if (!filled) product.columns -= product.columns % kWord;
  run_rows<true>(stream, launches, packed, copy, product);
  return product.columns;
}

/// A product whose X is by rows, or which nobody makes so.
template <class T, class TOut>
void multiply_columns(const Stream& stream, const Launches& launches, const PackedView<T>& packed,
                      const ColumnsCopy<T>& copy, const ColumnsProduct<T, TOut>& product) {
  std::int64_t done = 0;
  if (copy.rows) done = run_rows(stream, launches.strips, packed, *copy.rows, product);
  run_strips(stream, launches, packed, further(product, done));
}

/// Columns from which on making X row-major takes less than gathers of single elements.
inline constexpr std::int64_t kRowsOfXLeast = 4;

template <class T, class TOut>
void run_columns(const Stream& stream, const Launches& launches, const PackedView<T>& packed,
                 const ColumnsCopy<T>& copy, const ColumnsProduct<T, TOut>& product) {
  const bool apart = product.x_strides.column != 1;
  if (!apart || product.rows_pitch == 0 || product.columns < kRowsOfXLeast)
    return multiply_columns(stream, launches, packed, copy, product);
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
    multiply_columns(stream, launches, packed, copy, part);
  }
}

}  // namespace lanky::sparse::cuda

/// The kernels of plans for T with results of TOut...
#define LANKY_INSTANTIATE_SPMM(T)                                                 \
  namespace lanky::sparse::cuda {                                                 \
  template void load_strips<T>(const Stream&, const StripLaunches&);              \
  template void load_rows<T>(const Stream&, int);                                 \
  template void run_columns(const Stream&, const Launches&, const PackedView<T>&, \
                            const ColumnsCopy<T>&, const ColumnsProduct<T, T>&);  \
  }
/// ... and, of halves, with results of float.
#define LANKY_INSTANTIATE_WIDENED_SPMM(T)                                            \
  namespace lanky::sparse::cuda {                                                    \
  template void run_columns(const Stream&, const Launches&, const PackedView<T>&,    \
                            const ColumnsCopy<T>&, const ColumnsProduct<T, float>&); \
  }
