// Launches a sampled product on its kernels. Included by one .cu file for each element type.
#pragma once

#include <algorithm>
#include <cstdint>
#include <lanky/error.hpp>
#include <limits>
#include <type_traits>

#include "core/text.hpp"
#include "device/grid_dependency.cuh"
#include "device/launch.cuh"
#include "sparse/cuda/columns/launch_operands.cuh"
#include "sparse/cuda/sddmm/sddmm_quads.cuh"
#include "sparse/cuda/sddmm/steps.hpp"

namespace lanky::sparse::cuda {

/// f(strip) with the strip that rows of so many columns are read by, in words (kAligned) or element
/// by element. The widest is for any number, none included.
template <class T, bool kAligned, class F>
void with_quad_strip(std::int64_t columns, F f) {
  constexpr int kWord = word_columns(sizeof(T));
  if (columns == 0 || columns > 32 * kWord) return f(StripOf<kQuadGroupMost, 2, kWord, kAligned>{});
  if (columns <= kWord) return f(StripOf<1, 1, kWord, kAligned>{});
  if (columns <= 2 * kWord) return f(StripOf<2, 1, kWord, kAligned>{});
  if (columns <= 4 * kWord) return f(StripOf<4, 1, kWord, kAligned>{});
  if (columns <= 8 * kWord) return f(StripOf<8, 1, kWord, kAligned>{});
  if (columns <= 16 * kWord) return f(StripOf<8, 2, kWord, kAligned>{});
  f(StripOf<16, 2, kWord, kAligned>{});
}

/// to[i, j] = from[i, j], i < rows, j < columns; 0 for columns <= j < pitch. A thread an element.
template <class E>
__global__ void __launch_bounds__(kQuadThreads)
    pad_rows_kernel(const E* __restrict__ from, std::int64_t row, std::int64_t rows, int columns,
                    E* __restrict__ to, int pitch) {
  device::let_next_kernel_start();
  device::wait_for_kernel_ahead();
  const std::int64_t all = rows * pitch;
  const std::int64_t threads = std::int64_t{gridDim.x} * kQuadThreads;
  for (std::int64_t k = std::int64_t{blockIdx.x} * kQuadThreads + threadIdx.x; k < all;
       k += threads) {
    const std::int64_t i = k / pitch;
    const auto j = static_cast<int>(k - i * pitch);
    to[k] = j < columns ? from[i * row + j] : E{};
  }
}

template <class T>
void load_sddmm(const Stream& stream) {
  using E = device::DeviceElement<T>;
  device::load_kernels(stream, rows_of_x<E>(false), rows_of_x<E>(true), &pad_rows_kernel<E>);
  for (int words = 1; words <= 64; words *= 2) {
    const auto load = [&](auto strip) {
      device::load_kernels(stream, &sddmm_quads_kernel<decltype(strip), T>);
    };
    with_quad_strip<T, true>(words * word_columns(sizeof(T)), load);
    with_quad_strip<T, false>(words * word_columns(sizeof(T)), load);
  }
}

/// X or Y of a product.
template <class T>
struct SampledOperand {
  const T* data;
  Strides strides;
  std::int64_t rows;
  std::int64_t columns;

  /// Whether rows are whole words of 16 bytes, where such words begin.
  bool in_words() const {
    return word_bytes_of(data, strides) == kWordBytes && columns % word_columns(sizeof(T)) == 0;
  }

  SampledRows<device::DeviceElement<T>> on_device(std::string_view what) const {
    const std::int64_t bytes = strides.row * static_cast<std::int64_t>(sizeof(T));
    if (bytes > std::numeric_limits<std::uint32_t>::max()) {
      throw Error(ErrorCode::unsupported, concat("rows of ", what, " are ", bytes,
                                                 " bytes apart; kernels take up to 4294967295"));
    }
    return {device::device_pointer(data), strides.column, static_cast<std::uint32_t>(bytes)};
  }
};

/// The operand in words: as it is, or copied `to` rows that are `pitch` elements apart.
template <class T>
SampledOperand<T> copied(const Stream& stream, const SampledOperand<T>& given, std::int64_t pitch,
                         T* to) {
  if (given.in_words()) return given;
  if (given.strides.column == 1) {
    constexpr std::int64_t kBlocksMost = 1 << 16;
    const std::int64_t blocks = device::ceil_div<std::int64_t>(given.rows * pitch, kQuadThreads);
    const device::LaunchSize size{dim3(static_cast<unsigned>(std::min(blocks, kBlocksMost))),
                                  dim3(kQuadThreads)};
    device::launch_dependent(stream, &pad_rows_kernel<device::DeviceElement<T>>, size,
                             device::device_pointer(given.data), given.strides.row, given.rows,
                             static_cast<int>(given.columns), device::device_pointer(to),
                             static_cast<int>(pitch));
  } else {
    make_rows(stream, given.data, given.strides.column, given.rows, given.columns, to, pitch);
  }
  return {to, {.row = pitch, .column = 1}, given.rows, given.columns};
}

template <class T, bool kAligned>
void launch_quads(const Stream& stream, const DeviceSample<T>& sample, DeviceQuads pattern) {
  // Where groups take several quads, each multiprocessor has blocks enough all the same.
  constexpr std::int64_t kBlocksLeast = 16;
  constexpr std::int64_t kStepsMost = 8;
  with_quad_strip<T, kAligned>(sample.columns, [&](auto strip) {
    constexpr std::int64_t kGroups = kQuadThreads / decltype(strip)::kGroup;
    const std::int64_t least = kBlocksLeast * machine_of(stream.device()).multiprocessors;
    pattern.steps = static_cast<std::int32_t>(
        std::clamp<std::int64_t>(pattern.quads / (kGroups * least), 1, kStepsMost));
    const std::int64_t blocks = device::ceil_div(pattern.quads, kGroups * pattern.steps);
    device::launch_dependent(stream, &sddmm_quads_kernel<decltype(strip), T>,
                             {dim3(static_cast<unsigned>(blocks)), dim3(kQuadThreads)}, sample,
                             pattern);
  });
}

template <class T, class TOut>
void run_sddmm(const Stream& stream, const Quads& pattern, const CopiesRoom& room,
               const SampleOperands<T, TOut>& operands, bool conjugates, T* workspace) {
  constexpr std::int64_t kColumnsMost = std::numeric_limits<std::int32_t>::max() - kWordBytes;
  constexpr std::int64_t kCopiedMost =
      std::int64_t{65535} * kTileColumnsMany;  // by blocks of a grid
  if (operands.columns > kColumnsMost) {
    throw Error(ErrorCode::unsupported, concat("X and Y have ", operands.columns,
                                               " columns; kernels take up to ", kColumnsMost));
  }
  SampledOperand<T> x{operands.x, operands.x_strides, room.rows, operands.columns};
  SampledOperand<T> y{operands.y, operands.y_strides, room.cols, operands.columns};
  const std::int64_t pitch = room.pitch(operands.columns);
  const device::LaunchScope scope(stream);
  if (operands.columns >= kRowsOfXLeast && pitch > 0 && pitch <= kCopiedMost) {
    x = copied(stream, x, pitch, workspace);
    y = copied(stream, y, pitch, workspace + room.rows * pitch);
  }
  // Copies are in words, the last of which ends with zeros.
  const auto is_ready = [&](const SampledOperand<T>& operand, const T* given) {
    return operand.data != given || operand.in_words();
  };
  const bool aligned = is_ready(x, operands.x) && is_ready(y, operands.y);
  const DeviceSample<T> sample{
      .x = x.on_device("X"),
      .y = y.on_device("Y"),
      .columns = static_cast<std::int32_t>(operands.columns),
      .conjugates = conjugates,
      .words = reinterpret_cast<std::uintptr_t>(operands.values) % kWordBytes == 0,
      .sums = !std::is_same_v<T, TOut>,
      .values = operands.values,
      .alpha = device::DeviceScalar<Accumulator<T>>(operands.alpha),
      .beta = device::DeviceScalar<Accumulator<T>>(operands.beta)};
  const DeviceQuads quads{.columns = pattern.columns.data(),
                          .first = pattern.first.data(),
                          .filled = pattern.filled.size() > 0 ? pattern.filled.data() : nullptr,
                          .entries = pattern.entries,
                          .quads = pattern.first.size(),
                          .steps = 1};
  if (aligned) {
    launch_quads<T, true>(stream, sample, quads);
  } else {
    launch_quads<T, false>(stream, sample, quads);
  }
}

}  // namespace lanky::sparse::cuda

/// The kernels of plans for T with values of TOut...
#define LANKY_INSTANTIATE_SDDMM(T)                                        \
  namespace lanky::sparse::cuda {                                         \
  template void load_sddmm<T>(const Stream&);                             \
  template void run_sddmm(const Stream&, const Quads&, const CopiesRoom&, \
                          const SampleOperands<T, T>&, bool, T*);         \
  }
/// ... and, of halves, with values of float.
#define LANKY_INSTANTIATE_WIDENED_SDDMM(T)                                \
  namespace lanky::sparse::cuda {                                         \
  template void run_sddmm(const Stream&, const Quads&, const CopiesRoom&, \
                          const SampleOperands<T, float>&, bool, T*);     \
  }
