// Launches a product whose rows of X are one word. Included by one .cu file for each element type.
#pragma once

#include "device/grid_dependency.cuh"
#include "device/launch.cuh"
#include "sparse/cuda/columns/launch_operands.cuh"
#include "sparse/cuda/columns/launch_rows.cuh"
#include "sparse/cuda/columns/spmm_word.cuh"
#include "sparse/cuda/columns/steps.hpp"
#include "sparse/cuda/multiply/device_matrix.cuh"

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

/// f(constant, launch) for each number of columns that there are kernels for.
template <class T, class F>
void for_each_word_launch(const StripLaunches& launches, F f) {
  f(std::integral_constant<int, kWordColumns[0]>{}, launches.of_words[0]);
  if constexpr (kWordColumns[1] * sizeof(T) <= kWordBytes)
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

template <class T, class TOut>
bool run_word(const Stream& stream, const Launches& launches, const PackedView<T>& packed,
              const ColumnsProduct<T, TOut>& product) {
  bool done = false;
  for_each_word_launch<T>(launches.strips, [&](auto columns, const WordLaunch& launch) {
    constexpr int kColumns = columns.value;
    if (product.columns != kColumns || launch.threads == 0) return;
    const int word_bytes = word_bytes_of(product.x, product.x_strides);
    // Where entries are scattered, each column would be a gather of its own.
    const bool makes_rows = launches.strips.scattered && product.rows_pitch > 0;
    if (word_bytes >= kColumns * static_cast<int>(sizeof(T))) {
      launch_word<kColumns, false>(stream, launches, launch, packed, product);
      done = true;
    } else if (product.x_strides.row == 1 && !makes_rows) {
      launch_word<kColumns, true>(stream, launches, launch, packed, product);
      done = true;
    }
  });
  return done;
}

}  // namespace lanky::sparse::cuda

#define LANKY_INSTANTIATE_WORD(T, TOut)                                        \
  namespace lanky::sparse::cuda {                                              \
  template void load_words<T, TOut>(const Stream&, const StripLaunches&);      \
  template bool run_word(const Stream&, const Launches&, const PackedView<T>&, \
                         const ColumnsProduct<T, TOut>&);                      \
  }
