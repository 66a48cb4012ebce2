// X and Y of products of several columns as launches take them: how they are aligned, and X by
// columns made row-major first.
#pragma once

#include <algorithm>
#include <cstdint>
#include <lanky/error.hpp>
#include <limits>
#include <type_traits>

#include "core/text.hpp"
#include "device/grid_dependency.cuh"
#include "device/launch.cuh"
#include "sparse/cuda/columns/arguments.cuh"
#include "sparse/cuda/columns/rows_of_x.cuh"
#include "sparse/cuda/multiply/block.hpp"
#include "sparse/launch.hpp"
#include "sparse/packed.hpp"
#include "sparse/product.hpp"

namespace lanky::sparse::cuda {

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

/// Columns of each row of X that may be read from column `done` on: those that are left or, where
/// rows were made here, what ends their last word as well.
template <class T, class TOut>
std::int64_t readable_columns(const ColumnsProduct<T, TOut>& product, std::int64_t done) {
  const bool filled = product.x == product.rows_of_x && product.rows_pitch > 0;
  return (filled ? round_up(product.columns, word_columns(sizeof(T))) : product.columns) - done;
}

/// `columns` of them, from column `done` on, in `strips`; lanes write `y_run` adjacent columns of
/// Y.
template <class T, class TOut>
DeviceColumns<T> device_columns(const ColumnsProduct<T, TOut>& product, std::int64_t done,
                                std::int64_t columns, std::int64_t strips, int y_run) {
  TOut* const y = product.y + done * product.y_strides.column;
  const auto y_word = std::min<int>(y_run * sizeof(TOut), kWordBytes);
  return {.x = device::device_pointer(product.x + done * product.x_strides.column),
          .x_column = product.x_strides.column,
          .x_row_bytes = row_bytes_of<T>(product.x_strides),
          .columns = static_cast<std::int32_t>(columns),
          .y = y,
          .y_row = product.y_strides.row,
          .y_column = product.y_strides.column,
          .y_words = word_bytes_of(y, product.y_strides) >= y_word,
          .y_adjacent = product.y_strides.row == 1,
          .y_sums = !std::is_same_v<T, TOut>,
          .alpha = device::DeviceScalar<Accumulator<T>>(product.alpha),
          .beta = device::DeviceScalar<Accumulator<T>>(product.beta),
          .strips = static_cast<std::uint32_t>(strips)};
}

/// The kernel for rows of `few` columns, or of more.
template <class E>
auto rows_of_x(bool few) {
  return few ? &rows_of_x_kernel<kTileColumnsFew, E> : &rows_of_x_kernel<kTileColumnsMany, E>;
}

/// Makes `columns` columns of X, `stride` elements apart, rows of `pitch` elements.
template <class T>
void make_rows(const Stream& stream, const T* x, std::int64_t stride, std::int64_t row_count,
               std::int64_t columns, T* rows, std::int64_t pitch) {
  using E = device::DeviceElement<T>;
  if (row_count == 0) return;
  const bool few = pitch <= kTileColumnsFew;
  const int tile_columns = few ? kTileColumnsFew : kTileColumnsMany;
  const auto blocks = [](std::int64_t count, int of_block) {
    return static_cast<unsigned>(device::ceil_div<std::int64_t>(count, of_block));
  };
  const device::LaunchSize size{
      dim3(blocks(row_count, tile_rows<E>(tile_columns)), blocks(pitch, tile_columns)),
      dim3(kTileThreads)};
  const device::LaunchScope scope(stream);
  device::launch_dependent(stream, rows_of_x<E>(few), size, device::device_pointer(x), stride,
                           row_count, static_cast<int>(columns), device::device_pointer(rows),
                           static_cast<int>(pitch));
}

/// Columns from which on making X row-major takes less than gathers of single elements.
inline constexpr std::int64_t kRowsOfXLeast = 2;

/// run(product), or where X stands by columns and there is memory for its `rows` rows, run(part)
/// for as many columns at a time as have room there.
template <class T, class TOut, class Run>
void by_rows_of_x(const Stream& stream, std::int64_t rows, const ColumnsProduct<T, TOut>& product,
                  Run run) {
  const bool apart = product.x_strides.column != 1;
  if (!apart || product.rows_pitch == 0 || product.columns < kRowsOfXLeast) return run(product);
  for (std::int64_t done = 0; done < product.columns; done += product.rows_pitch) {
    ColumnsProduct<T, TOut> part = product;
    part.columns = std::min(product.columns - done, product.rows_pitch);
    part.y += done * product.y_strides.column;
    part.x_strides = {.row = round_up(part.columns, word_columns(sizeof(T))), .column = 1};
    part.x = product.rows_of_x;
    make_rows(stream, product.x + done * product.x_strides.column, product.x_strides.column, rows,
              part.columns, product.rows_of_x, part.x_strides.row);
    run(part);
  }
}

}  // namespace lanky::sparse::cuda
