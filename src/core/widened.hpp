// Elements whose products are summed in double, although sums of their type are floats: kernels and
// tiles are templates over one type, which tells them both how operands lie and what sums are.
#pragma once

#include <lanky/dtype.hpp>
#include <type_traits>

namespace lanky {

/// The bits of a T.
template <class T>
struct Widened {
  T value;

  explicit operator double() const { return static_cast<double>(static_cast<float>(value)); }
};

template <class T>
inline constexpr bool kIsWidened = false;
template <class T>
inline constexpr bool kIsWidened<Widened<T>> = true;

/// The type that executors take for products of T with a C of TOut.
template <class T, class TOut>
using Summed = std::conditional_t<has_wide_sums(kDType<T>, kDType<TOut>), Widened<T>, T>;

}  // namespace lanky

namespace lanky::inline v1::detail {

template <class T>
struct ElementTraits<Widened<T>> {
  static constexpr DType kDType = ElementTraits<T>::kDType;
  using Accumulator = double;
};

}  // namespace lanky::inline v1::detail
