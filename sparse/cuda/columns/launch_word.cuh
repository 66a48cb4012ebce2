// Launches a product whose rows of X are a word, or whose columns are few. Included by one .cu file
// for each element type.
#pragma once

#include <algorithm>
#include <type_traits>

#include "device/grid_dependency.cuh"
#include "device/launch.cuh"
#include "sparse/cuda/columns/launch_operands.cuh"
#include "sparse/cuda/columns/launch_rows.cuh"
#include "sparse/cuda/columns/policy.hpp"
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

/// f(constant, launch) for each number of columns that there are kernels for.
template <class T, class F>
void for_each_word_launch(const StripLaunches& launches, F f) {
  const auto visit = [&]<int kIndex>(std::integral_constant<int, kIndex>) {
    constexpr int kColumns = kWordColumns[kIndex];
    if constexpr (kColumns <= word_columns_most(sizeof(T)))
      f(std::integral_constant<int, kColumns>{}, launches.of_words[kIndex]);
  };
  visit(std::integral_constant<int, 0>{});
  visit(std::integral_constant<int, 1>{});
  visit(std::integral_constant<int, 2>{});
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
  constexpr int kOfY = std::min(kColumns * static_cast<int>(sizeof(TOut)), kWordBytes);
  const bool overwrites = !may_add(product.beta);
  const DeviceProduct arguments{
      .x = device::device_pointer(product.x),
      .x_column = product.x_strides.column,
      .x_row_bytes = row_bytes_of<T>(product.x_strides),
      .special = overwrites && product.alpha.pointer() == nullptr ? 0U : 1U,
      .y = device::device_pointer(product.y),
      .y_row = product.y_strides.row,
      .y_column = product.y_strides.column,
      .y_words = word_bytes_of(product.y, product.y_strides) >= kOfY,
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
bool run_rows_as_words(const Stream& stream, const Launches& launches, const PackedView<T>& packed,
                       const ColumnsProduct<T, TOut>& product) {
  const int aligned = word_bytes_of(product.x, product.x_strides);
  bool done = false;
  for_each_word_launch<T>(launches.strips, [&](auto columns, const WordLaunch& launch) {
    constexpr int kBytes = columns.value * static_cast<int>(sizeof(T));
    if (product.columns != columns.value || launch.threads == 0) return;
    if (aligned < std::min(kBytes, kWordBytes)) return;
    launch_word<columns.value, false>(stream, launches, launch, packed, product);
    done = true;
  });
  return done;
}

template <class T, class TOut>
bool run_columns_as_words(const Stream& stream, const Launches& launches,
                          const PackedView<T>& packed, const ColumnsProduct<T, TOut>& product) {
  const StripLaunches& strips = launches.strips;
  const bool ends_alone = product.columns % 2 != 0;  // the last column is a vector
  const bool made_by_rows = rows_first(strips, product.columns) && product.rows_pitch > 0;
  if (!in_words_by_columns(strips, product.columns, kDType<T>) || made_by_rows ||
      product.x_strides.row != 1 || (ends_alone && product.y_strides.row != 1))
    return false;
  for (std::int64_t done = 0; done < product.columns;) {
    const std::int64_t left = product.columns - done;
    if (left == 1) {
      const auto part = columns_from(product, done, 1);
      run(stream, launches, packed,
          Product<T, TOut>{{part.x, part.y, part.alpha, part.beta}, part.partials, part.arrivals});
      break;
    }
    const std::int64_t taken = widest_word(strips, left);
    for_each_word_launch<T>(strips, [&](auto columns, const WordLaunch& launch) {
      if (columns.value != taken) return;
      launch_word<columns.value, true>(stream, launches, launch, packed,
                                       columns_from(product, done, taken));
    });
    done += taken;
  }
  return true;
}

}  // namespace lanky::sparse::cuda

#define LANKY_INSTANTIATE_WORD(T, TOut)                                                    \
  namespace lanky::sparse::cuda {                                                          \
  template void load_words<T, TOut>(const Stream&, const StripLaunches&);                  \
  template bool run_rows_as_words(const Stream&, const Launches&, const PackedView<T>&,    \
                                  const ColumnsProduct<T, TOut>&);                         \
  template bool run_columns_as_words(const Stream&, const Launches&, const PackedView<T>&, \
                                     const ColumnsProduct<T, TOut>&);                      \
  }
