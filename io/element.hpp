// Element types as the files see them: one number or two, and in which type they are added.
#pragma once

#include <complex>
#include <lanky/dtype.hpp>
#include <type_traits>

namespace lanky::io {

template <class T>
inline constexpr bool kIsComplex = is_complex(kDType<T>);

/// The type in which entries are kept until they are in place, and duplicates are added.
template <class T>
using Wide = std::conditional_t<kIsComplex<T>, std::complex<double>, double>;

/// What a decimal is rounded to when it is read. A float is read as one, since by way of double it
/// would be rounded twice; the half types round from double when they are put in place.
template <class T>
using Part = std::conditional_t<kDType<T> == DType::f32 || kDType<T> == DType::c64, float, double>;

}  // namespace lanky::io
