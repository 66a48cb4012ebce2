// What the kernels of a plan's types are, and operands in the form that they take.
#pragma once

#include <algorithm>
#include <cstdint>
#include <lanky/dtype.hpp>
#include <lanky/operation.hpp>
#include <type_traits>

#include "core/ceil_div.hpp"
#include "core/for_each.hpp"
#include "sparse/cpu/chunk_kernels.hpp"

namespace lanky::sparse::cpu {

/// The kernels for a plan's types.
template <class T, class TOut>
const ChunkKernel& kernel_of(const ChunkKernels& kernels) {
  constexpr bool kWidens = !std::is_same_v<T, TOut>;
  if constexpr (kDType<T> == DType::f64) return kernels.f64;
  if constexpr (kDType<T> == DType::f32) return kernels.f32;
  if constexpr (kDType<T> == DType::f16) return kWidens ? kernels.f16_f32 : kernels.f16;
  if constexpr (kDType<T> == DType::bf16) return kWidens ? kernels.bf16_f32 : kernels.bf16;
  if constexpr (kDType<T> == DType::c64) return kernels.c64;
  if constexpr (kDType<T> == DType::c128) return kernels.c128;
}

template <class Sum>
Sum load(const Scalar<Sum>& scalar) {
  return scalar.pointer() != nullptr ? *scalar.pointer() : scalar.value();
}

/// X [rows, columns] from lines of columns to lines of rows, some rows at a time, whose lines stay
/// in the first cache.
template <class T>
void set_by_rows(const T* x, std::int64_t pitch, std::int64_t rows, std::int64_t columns,
                 bool threads, T* to) {
  constexpr std::int64_t kBlock = 64;
  for_each(ceil_div(rows, kBlock), threads, [=](std::int64_t block) {
    const std::int64_t first = block * kBlock;
    const std::int64_t end = std::min(rows, first + kBlock);
    for (std::int64_t j = 0; j < columns; ++j) {
      for (std::int64_t i = first; i < end; ++i)
        to[i * columns + j] = x[i + j * pitch];
    }
  });
}

}  // namespace lanky::sparse::cpu
