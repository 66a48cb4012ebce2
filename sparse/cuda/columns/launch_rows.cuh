// Launches a product of several columns on a RowsCopy.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "device/grid_dependency.cuh"
#include "device/launch.cuh"
#include "sparse/columns_copy.hpp"
#include "sparse/cuda/columns/launch_operands.cuh"
#include "sparse/cuda/columns/row_sharing.hpp"
#include "sparse/cuda/columns/spmm_rows.cuh"

namespace lanky::sparse::cuda {

/// The workspace of a product.
template <class T, class TOut>
DeviceWorkspace<T> workspace_of(const ColumnsProduct<T, TOut>& product) {
  return {reinterpret_cast<Cell<device::DeviceElement<T>>*>(product.partials), product.arrivals};
}

/// The strip of words for rows of X of up to so many.
template <int kWords, int kEach>
using WordsOfRows = StripOf<group_lanes(kWords).lanes, group_lanes(kWords).words, kEach, true>;

/// f(strip) with the least strip of a RowsCopy that has so many columns, or the widest; of words,
/// to which X is aligned, or of single columns. Lanes have two words of many.
template <class T, bool kAligned, class F>
void with_rows_strip(std::int64_t columns, F f) {
  if constexpr (kAligned) {
    constexpr int kWord = word_columns(sizeof(T));
    if (columns <= 2 * kWord) return f(WordsOfRows<2, kWord>{});
    if (columns <= 4 * kWord) return f(WordsOfRows<4, kWord>{});
    if (columns <= 8 * kWord) return f(WordsOfRows<8, kWord>{});
    if (columns <= 16 * kWord) return f(WordsOfRows<16, kWord>{});
    f(WordsOfRows<32, kWord>{});
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
  constexpr std::int64_t kLeast = kRowWordsLeast * kWordBytes;
  const std::int64_t bytes = columns * static_cast<std::int64_t>(sizeof(T));
  const auto times = static_cast<std::uint64_t>(device::ceil_div(bytes, kLeast));
  return std::min(static_cast<int>(std::bit_width(times - 1)), kRowCounts - 1);
}

/// f(strip, launch) with that of the rows in parts for columns of number `count`.
template <class T, bool kAligned, class F>
void with_parts_strip(const RowsCopy<T>& copy, int count, F f) {
  if constexpr (kAligned) {
    constexpr int kWord = word_columns(sizeof(T));
    const PartsLaunch& launch = copy.shares[count].parts;
    if (launch.words == kPartsWords[1]) return f(StripOf<kPartsWords[1], 1, kWord, true>{}, launch);
    f(StripOf<kPartsWords[0], 1, kWord, true>{}, launch);
  } else {
    f(StripOf<4, 1, 1, false>{}, copy.shares[0].parts);
  }
}

template <bool kAligned, class T>
void load_rows(const Stream& stream, const RowsCopy<T>& copy) {
  constexpr std::int64_t kEach = kAligned ? word_columns(sizeof(T)) : 1;
  constexpr std::int64_t kMost = 32 * kEach;
  for (std::int64_t columns = (kAligned ? 2 : 4) * kEach; columns <= kMost; columns *= 2) {
    with_rows_strip<T, kAligned>(columns, [&](auto strip) {
      device::load_kernels(stream, &spmm_rows_kernel<decltype(strip), T>);
    });
  }
  constexpr int kCounts = kAligned ? kRowCounts : 1;  // single columns have one kernel
  for (int count = 0; count < kCounts; ++count) {
    with_parts_strip<T, kAligned>(copy, count, [&](auto strip, const PartsLaunch& launch) {
      const auto kernel = &spmm_parts_kernel<decltype(strip), T>;
      device::load_kernels(stream, kernel);
      device::allow_shared_memory(stream, kernel, launch.shared_bytes);
    });
  }
}
template <class T>
void load_rows(const Stream& stream, const RowsCopy<T>& copy) {
  load_rows<true>(stream, copy);
  load_rows<false>(stream, copy);
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
                  .team_bits = 0,
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
                  .warp_bits = 0,
                  .blocks_of_blocks = blocks(copy.parts, 1),
                  .blocks_of_warps = 0,
                  .blocks_of_rows = 0,
                  .beside_parts = false,
                  .split_starts = packed.split_starts,
                  .split_rows = static_cast<std::int32_t>(header.split_rows)};
  const device::LaunchScope scope(stream);
  const std::int64_t most =
      std::min<std::int64_t>(product.columns_at_once, kPartStripsAtOnce * kPartsWords[0] *
                                                          (kAligned ? word_columns(sizeof(T)) : 1));
  for (std::int64_t done = 0; header.rows > 0 && done < end;) {
    const std::int64_t columns = std::min(end - done, most);
    const int count = count_for<T>(columns);
    const RowShares& shares = copy.shares[count];
    a.by_warps = shares.by_warps;
    a.warp_bits = shares.warp_bits;
    a.of_group_most = shares.of_group_most;
    a.first = sorted ? a.by_warps : 0;
    a.beside_parts = a.blocks_of_blocks > 0 || a.by_warps > copy.by_blocks;
    if (a.beside_parts) {
      with_parts_strip<T, kAligned>(copy, count, [&](auto strip, const PartsLaunch& launch) {
        using Strip = decltype(strip);
        a.blocks_of_warps =
            blocks(a.by_warps - copy.by_blocks, launch.threads / kLanes >> a.warp_bits);
        const std::uint32_t strips = blocks(columns, Strip::kColumns);
        DeviceColumns<T> arguments = device_columns(product, done, columns, strips, Strip::kEach);
        arguments.vector_threads = launches.vector_threads;
        arguments.partials = header.partials;
        const device::LaunchSize size{dim3((a.blocks_of_blocks + a.blocks_of_warps) * strips),
                                      dim3(static_cast<unsigned>(launch.threads)),
                                      static_cast<std::size_t>(launch.shared_bytes)};
        device::launch_dependent(stream, &spmm_parts_kernel<Strip, T>, size, arguments, a,
                                 workspace_of(product));
      });
    }
    with_rows_strip<T, kAligned>(columns, [&](auto strip) {
      using Strip = decltype(strip);
      constexpr int kTeamMost = std::countr_zero(static_cast<unsigned>(Strip::kPieces));
      a.team_bits = staged ? 0 : std::min<std::uint32_t>(shares.team_bits, kTeamMost);
      a.blocks_of_rows = blocks(header.rows - a.first, kRowsThreads / Strip::kGroup >> a.team_bits);
      if (a.blocks_of_rows == 0) return;
      const std::uint32_t strips = blocks(columns, Strip::kColumns);
      constexpr std::size_t kStagedBytes =
          sizeof(Cell<E>) * Strip::kColumns * staged_pitch<Strip>();
      const device::LaunchSize size{dim3(a.blocks_of_rows * strips), dim3(kRowsThreads),
                                    staged ? kStagedBytes : 0};
      device::launch_dependent(stream, &spmm_rows_kernel<Strip, T>, size,
                               device_columns(product, done, columns, strips, Strip::kEach), a);
    });
    done += columns;
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
