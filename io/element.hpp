// Element types as the files see them: one number or two, and in which type they are added.
#pragma once

#include <complex>
#include <lanky/dtype.hpp>
#include <type_traits>

namespace lanky::inline v1::io {

template <class T>
inline constexpr bool kIsComplex = is_complex(kDType<T>);

/// The type in which entries are kept until they are in place, and duplicates are added.
template <class T>
using Wide = std::conditional_t<kIsComplex<T>, std::complex<double>, double>;

}  // namespace lanky::inline v1::io
