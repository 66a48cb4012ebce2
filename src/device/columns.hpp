// A few adjacent columns of a row of X, or their sums, that one lane has: they are loaded, added up
// and stored as one word.
#pragma once

#include "core/host_device.hpp"

namespace lanky::device {

template <class E, int kCount>
struct alignas(kCount * sizeof(E) < 16 ? kCount * sizeof(E) : 16) Columns {
  E of[kCount];

  LANKY_HOST_DEVICE friend Columns operator+(Columns a, Columns b) {
    for (int i = 0; i < kCount; ++i)
      a.of[i] = a.of[i] + b.of[i];
    return a;
  }
};

/// The element of a matrix that multiplies an F: F itself, or each of its columns.
template <class F>
struct MatrixElementOf {
  using Type = F;
};
template <class E, int kCount>
struct MatrixElementOf<Columns<E, kCount>> {
  using Type = E;
};
template <class F>
using MatrixElement = typename MatrixElementOf<F>::Type;

/// Columns that a factor has.
template <class F>
inline constexpr int kColumnsOf = 1;
template <class E, int kCount>
inline constexpr int kColumnsOf<Columns<E, kCount>> = kCount;

}  // namespace lanky::device
