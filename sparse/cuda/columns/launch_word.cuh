// Launches a product whose rows of X are a word, or whose columns are few. Included by one .cu file
// for each element type.
#pragma once

#include "device/grid_dependency.cuh"
#include "device/launch.cuh"
#include "sparse/cuda/columns/launch_operands.cuh"
#include "sparse/cuda/columns/launch_rows.cuh"
#include "sparse/cuda/columns/spmm_word.cuh"
#include "sparse/cuda/columns/steps.hpp"
#include "sparse/cuda/multiply/device_matrix.cuh"
#include "sparse/cuda/steps.hpp"

namespace lanky::sparse::cuda {

template <class Product>
using WordKernel = void (*)(Product, DeviceMatrix<device::DeviceElement<typename Product::Element>>,
                            DeviceWorkspace<typename Product::Element>);

/// The kernel that a launch tells.
template <class Product>
WordKernel<Product> word_kernel(const WordLaunch& launch) {
  constexpr int kWide = kLanePiecesMost<typename Product::Element>;
  switch (launch.slices) {
    case Slices::single:
      return &spmm_word_kernel<1, Slices::single, Product>;
    case Slices::deep:
      return &spmm_word_kernel<1, Slices::deep, Product>;
    default:
      return launch.wide ? &spmm_word_kernel<kWide, Slices::any, Product>
                         : &spmm_word_kernel<1, Slices::any, Product>;
  }
}

/// Numbers of columns that there are kernels for, and the greatest.
template <class T>
constexpr int word_counts() {
  return kWordColumns[1] * sizeof(T) <= kWordBytes ? 2 : 1;
}
template <class T>
constexpr int word_columns_most() {
  return kWordColumns[word_counts<T>() - 1];
}

/// f(constant, launch) for each of these numbers.
template <class T, class F>
void for_each_word_launch(const StripLaunches& launches, F f) {
  f(std::integral_constant<int, kWordColumns[0]>{}, launches.of_words[0]);
  if constexpr (word_counts<T>() > 1)
    f(std::integral_constant<int, kWordColumns[1]>{}, launches.of_words[1]);
}

template <class T, class TOut>
void load_words(const Stream& stream, const StripLaunches& launches) {
  for_each_word_launch<T>(launches, [&](auto columns, const WordLaunch& launch) {
    if (launch.threads == 0) return;
    const auto load = [&](auto apart) {
      const auto kernel =
          word_kernel<DeviceWordProduct<T, TOut, columns.value, apart.value>>(launch);
      device::load_kernels(stream, kernel);
      device::allow_shared_memory(stream, kernel, launch.shared_bytes);
    };
    load(std::false_type{});
    load(std::true_type{});
  });
}

/// Columns that are adjacent in rows of X, if not kApart, or rows that are adjacent in columns.
template <int kColumns, bool kApart, class T, class TOut>
void launch_word(const Stream& stream, const Launches& launches, const WordLaunch& launch,
                 const PackedView<T>& packed, const ColumnsProduct<T, TOut>& product) {
  using DeviceProduct = DeviceWordProduct<T, TOut, kColumns, kApart>;
  const bool overwrites =
      product.beta.pointer() == nullptr && product.beta.value() == Accumulator<T>{0};
  const DeviceProduct arguments{
      .x = device::device_pointer(product.x),
      .x_column = product.x_strides.column,
      .x_row_bytes = row_bytes_of<T>(product.x_strides),
      .special = overwrites && product.alpha.pointer() == nullptr ? 0U : 1U,
      .y = device::device_pointer(product.y),
      .y_row = product.y_strides.row,
      .y_column = product.y_strides.column,
      .y_words =
          word_bytes_of(product.y, product.y_strides) >= kColumns * static_cast<int>(sizeof(TOut)),
      .alpha = device::DeviceScalar<Accumulator<T>>(product.alpha),
      .beta = device::DeviceScalar<Accumulator<T>>(product.beta)};
  const Launch& vector = launches.adds;
  const device::LaunchSize size{dim3(static_cast<unsigned>(vector.blocks)),
                                dim3(static_cast<unsigned>(launch.threads)),
                                static_cast<std::size_t>(launch.shared_bytes)};
  const device::LaunchScope scope(stream);
  device::launch_dependent(stream, word_kernel<DeviceProduct>(launch), size, arguments,
                           device_matrix(packed, vector), workspace_of(product));
}

/// The columns from `done` on, `columns` of them.
template <class T, class TOut>
ColumnsProduct<T, TOut> columns_from(const ColumnsProduct<T, TOut>& product, std::int64_t done,
                                     std::int64_t columns) {
  ColumnsProduct<T, TOut> part = product;
  part.x += done * product.x_strides.column;
  part.y += done * product.y_strides.column;
  part.columns = columns;
  return part;
}

template <class T, class TOut>
bool run_words(const Stream& stream, const Launches& launches, const PackedView<T>& packed,
               const ColumnsProduct<T, TOut>& product) {
  constexpr int kWidest = word_columns_most<T>();
  constexpr auto kBytes = static_cast<int>(sizeof(T));
  const StripLaunches& strips = launches.strips;
  const bool apart = product.x_strides.column != 1;
  const int word_columns = apart ? kWidest : word_bytes_of(product.x, product.x_strides) / kBytes;
  const bool single = product.columns % 2 != 0;  // the last column is a vector
  if (product.columns > (apart ? kWordsAtMost : 1) * kWidest || word_columns < 2) return false;
  if (single && (!apart || product.y_strides.row != 1)) return false;
  // Where entries are scattered, each column would be a gather of its own.
  if (apart && (product.x_strides.row != 1 || (strips.scattered && product.rows_pitch > 0)))
    return false;
  bool launchable = true;
  for_each_word_launch<T>(strips, [&](auto /*columns*/, const WordLaunch& launch) {
    launchable = launchable && launch.threads > 0;
  });
  if (!launchable) return false;
  for (std::int64_t done = 0; done < product.columns;) {
    const std::int64_t left = product.columns - done;
    if (left == 1) {
      const auto part = columns_from(product, done, 1);
      run(stream, launches, packed,
          Product<T, TOut>{{part.x, part.y, part.alpha, part.beta}, part.partials, part.arrivals});
      break;
    }
    std::int64_t taken = 0;
    for_each_word_launch<T>(strips, [&](auto columns, const WordLaunch& launch) {
      constexpr int kColumns = columns.value;
      const bool next_fits =
          kColumns < kWidest && 2 * kColumns <= std::min<std::int64_t>(left, word_columns);
      if (taken > 0 || next_fits) return;
      const auto part = columns_from(product, done, kColumns);
      if (apart) {
        launch_word<kColumns, true>(stream, launches, launch, packed, part);
      } else {
        launch_word<kColumns, false>(stream, launches, launch, packed, part);
      }
      taken = kColumns;
    });
    done += taken;
  }
  return true;
}

}  // namespace lanky::sparse::cuda

#define LANKY_INSTANTIATE_WORD(T, TOut)                                         \
  namespace lanky::sparse::cuda {                                               \
  template void load_words<T, TOut>(const Stream&, const StripLaunches&);       \
  template bool run_words(const Stream&, const Launches&, const PackedView<T>&, \
                          const ColumnsProduct<T, TOut>&);                      \
  }
