// Launches a product of several columns on a RowsCopy.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "device/grid_dependency.cuh"
#include "device/launch.cuh"
#include "sparse/columns_copy.hpp"
#include "sparse/cuda/columns/launch_operands.cuh"
#include "sparse/cuda/columns/spmm_rows.cuh"

namespace lanky::sparse::cuda {

/// The workspace of a product.
template <class T, class TOut>
DeviceWorkspace<T> workspace_of(const ColumnsProduct<T, TOut>& product) {
  return {reinterpret_cast<Cell<device::DeviceElement<T>>*>(product.partials), product.arrivals};
}

/// f(strip) with the least strip of a RowsCopy that has so many columns, or the widest; of words,
/// to which X is aligned, or of single columns. Lanes have two words of many, or one, where rows
/// are too `few` to fill the device.
template <class T, bool kAligned, class F>
void with_rows_strip(std::int64_t columns, bool few, F f) {
  if constexpr (kAligned) {
    constexpr int kWord = word_columns(sizeof(T));
    if (columns <= 2 * kWord) return f(StripOf<2, 1, kWord, true>{});
    if (columns <= 4 * kWord) return f(StripOf<4, 1, kWord, true>{});
    if (columns <= 8 * kWord) return f(StripOf<8, 1, kWord, true>{});
    if (columns <= 16 * kWord) {
      if (few) return f(StripOf<16, 1, kWord, true>{});
      return f(StripOf<8, 2, kWord, true>{});
    }
    if (few) return f(StripOf<32, 1, kWord, true>{});
    return f(StripOf<16, 2, kWord, true>{});
  } else {
    if (columns <= 4) return f(StripOf<4, 1, 1, false>{});
    if (columns <= 8) return f(StripOf<8, 1, 1, false>{});
    if (columns <= 16) return f(StripOf<16, 1, 1, false>{});
    f(StripOf<32, 1, 1, false>{});
  }
}

/// The number among kRowCounts of so many columns.
template <class T>
int count_for(std::int64_t columns) {
  constexpr std::int64_t kLeast = 4 * kWordBytes;
  const std::int64_t bytes = columns * static_cast<std::int64_t>(sizeof(T));
  const auto times = static_cast<std::uint64_t>(device::ceil_div(bytes, kLeast));
  return std::min(static_cast<int>(std::bit_width(times - 1)), kRowCounts - 1);
}

template <class T, bool kAligned>
void load_rows(const Stream& stream, int parts_bytes) {
  const auto load = [&](auto strip) {
    const auto kernel = &spmm_rows_kernel<decltype(strip), T>;
    device::load_kernels(stream, kernel);
    device::allow_shared_memory(stream, kernel, parts_bytes);
  };
  for (int columns = 1; columns <= strip_columns_most(sizeof(T)) * 2; columns *= 2) {
    for (const bool few : {false, true})
      with_rows_strip<T, kAligned>(columns, few, load);
  }
}
template <class T>
void load_rows(const Stream& stream, int parts_bytes) {
  load_rows<T, true>(stream, parts_bytes);
  load_rows<T, false>(stream, parts_bytes);
}

/// The columns below `end`, which are adjacent, on a RowsCopy; in whole words, if kAligned.
template <bool kAligned, class T, class TOut>
void run_rows(const Stream& stream, const StripLaunches& launches, const PackedView<T>& packed,
              const RowsCopy<T>& copy, const ColumnsProduct<T, TOut>& product, std::int64_t end) {
  using E = device::DeviceElement<T>;
  const PackedHeader& header = packed.header;
  const auto blocks = [](std::int64_t count, int of_block) {
    return static_cast<std::uint32_t>(device::ceil_div<std::int64_t>(count, of_block));
  };
  // Y by rows takes uneven rows longest first; by columns it takes rows in their own order.
  const bool staged = product.y_strides.row == 1 && end > 1;
  const bool sorted = copy.order.size() > 0 && !staged;
  DeviceRows<E> a{.spans = sorted ? copy.sorted.data() : copy.spans.data(),
                  .order = sorted ? copy.order.data() : nullptr,
                  .first = 0,
                  .of_group_most = 0,
                  .staged = staged,
                  .sorted = copy.sorted.data(),
                  .sorted_order = copy.order.data(),
                  .columns = copy.columns.data(),
                  .values = device::device_pointer(copy.values.data()),
                  .rows = static_cast<std::uint32_t>(header.rows),
                  .piece_most = header.shape.piece_most,
                  .of_blocks = copy.of_blocks.data(),
                  .pieces_most = copy.pieces_most,
                  .by_blocks = copy.by_blocks,
                  .by_warps = 0,
                  .blocks_of_blocks = blocks(copy.parts, 1),
                  .blocks_of_warps = 0,
                  .blocks_of_rows = 0,
                  .part_strips = 0,
                  .split_starts = packed.split_starts,
                  .split_rows = static_cast<std::int32_t>(header.split_rows)};
  constexpr std::int64_t kLanesOfRow = 8;
  constexpr std::int64_t kLanesAtOnce = 1024;  // of a multiprocessor, whose lanes have two words
  const bool few =
      header.rows * kLanesOfRow < kLanesAtOnce * machine_of(stream.device()).multiprocessors;
  const device::LaunchScope scope(stream);
  for (std::int64_t done = 0; header.rows > 0 && done < end;) {
    with_rows_strip<T, kAligned>(end - done, few, [&](auto strip) {
      using Strip = decltype(strip);
      constexpr int kPartColumns = PartStrip<Strip, E>::kColumns;
      const std::int64_t columns =
          std::min<std::int64_t>(end - done, kPartStripsAtOnce * kPartColumns);
      a.part_strips = blocks(columns, kPartColumns);
      a.by_warps = copy.by_warps[count_for<T>(columns)];
      a.of_group_most = copy.of_group_most[count_for<T>(columns)];
      a.first = sorted ? a.by_warps : 0;
      a.blocks_of_warps = blocks(a.by_warps - copy.by_blocks, kRowsThreads / kLanes);
      a.blocks_of_rows = blocks(header.rows - a.first, kRowsThreads / Strip::kGroup);
      const std::uint32_t strips = blocks(columns, Strip::kColumns);
      DeviceColumns<T> arguments = device_columns(product, done, columns, strips, Strip::kEach);
      arguments.vector_threads = launches.vector_threads;
      arguments.partials = header.partials;
      const std::int64_t of_parts = std::int64_t{a.blocks_of_blocks} + a.blocks_of_warps;
      const std::int64_t all = of_parts * a.part_strips + std::int64_t{a.blocks_of_rows} * strips;
      constexpr int kStagedBytes =
          Strip::kColumns * staged_pitch<Strip>() * static_cast<int>(sizeof(Cell<E>));
      const int bytes =
          std::max(of_parts > 0 ? launches.parts_bytes : 0, staged ? kStagedBytes : 0);
      const device::LaunchSize size{dim3(static_cast<unsigned>(all)), dim3(kRowsThreads),
                                    static_cast<std::size_t>(bytes)};
      device::launch_dependent(stream, &spmm_rows_kernel<Strip, T>, size, arguments, a,
                               workspace_of(product));
      done += columns;
    });
  }
}

/// As many of a product's first columns as a RowsCopy is for, on it: those that are adjacent in a
/// row of X, if they fill more than a word, of which the packed form reads less.
template <class T, class TOut>
std::int64_t run_rows(const Stream& stream, const StripLaunches& launches,
                      const PackedView<T>& packed, const RowsCopy<T>& copy,
                      const ColumnsProduct<T, TOut>& product) {
  constexpr int kWord = word_columns(sizeof(T));
  const int word_bytes = word_bytes_of(product.x, product.x_strides);
  if (word_bytes == 0 || product.columns <= kWord) return 0;
  if (word_bytes < kWordBytes) {
    run_rows<false>(stream, launches, packed, copy, product, product.columns);
    return product.columns;
  }
  const std::int64_t words = readable_columns(product, 0) / kWord;
  const std::int64_t end = std::min(words * kWord, product.columns);
  run_rows<true>(stream, launches, packed, copy, product, end);
  return end;
}

}  // namespace lanky::sparse::cuda
