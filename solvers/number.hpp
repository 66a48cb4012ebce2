// Numbers of the small matrices of solvers: double or complex, in double whatever the vectors are,
// alike on the host and in kernels.
#pragma once

#include <cmath>
#include <complex>
#include <cstdint>
#include <type_traits>

#include "core/host_device.hpp"

namespace lanky::solvers {

/// The bits of std::complex<double>.
struct ComplexNumber {
  double re;
  double im;

  LANKY_HOST_DEVICE friend ComplexNumber operator+(ComplexNumber a, ComplexNumber b) {
    return {a.re + b.re, a.im + b.im};
  }
  LANKY_HOST_DEVICE friend ComplexNumber operator-(ComplexNumber a, ComplexNumber b) {
    return {a.re - b.re, a.im - b.im};
  }
  LANKY_HOST_DEVICE friend ComplexNumber operator*(ComplexNumber a, ComplexNumber b) {
    return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
  }
  LANKY_HOST_DEVICE friend ComplexNumber operator*(double a, ComplexNumber b) {
    return {a * b.re, a * b.im};
  }
};

LANKY_HOST_DEVICE inline double conjugate(double x) {
  return x;
}
LANKY_HOST_DEVICE inline ComplexNumber conjugate(ComplexNumber x) {
  return {x.re, -x.im};
}
inline std::complex<double> conjugate(std::complex<double> x) {
  return std::conj(x);
}
LANKY_HOST_DEVICE inline double real_part(double x) {
  return x;
}
LANKY_HOST_DEVICE inline double real_part(ComplexNumber x) {
  return x.re;
}
LANKY_HOST_DEVICE inline double squared(double x) {
  return x * x;
}
LANKY_HOST_DEVICE inline double squared(ComplexNumber x) {
  return x.re * x.re + x.im * x.im;
}

/// A real number as a Number.
template <class Number>
LANKY_HOST_DEVICE Number number_of(double real) {
  if constexpr (std::is_same_v<Number, double>) {
    return real;
  } else {
    return {real, 0};
  }
}
template <class Number>
inline constexpr int kNumberParts = sizeof(Number) / sizeof(double);

/// Element `place` of a matrix whose parts are of type Real.
template <class Number, class Real>
LANKY_HOST_DEVICE Number load_number(const Real* parts, std::int64_t place) {
  if constexpr (std::is_same_v<Number, double>) {
    return static_cast<double>(parts[place]);
  } else {
    return {static_cast<double>(parts[2 * place]), static_cast<double>(parts[2 * place + 1])};
  }
}
template <class Real>
LANKY_HOST_DEVICE void store_number(double x, Real* parts, std::int64_t place) {
  parts[place] = static_cast<Real>(x);
}
template <class Real>
LANKY_HOST_DEVICE void store_number(ComplexNumber x, Real* parts, std::int64_t place) {
  parts[2 * place] = static_cast<Real>(x.re);
  parts[2 * place + 1] = static_cast<Real>(x.im);
}

template <class T>
struct NumberOf {
  using Real = T;
  using Wide = double;    // on the host
  using Number = double;  // in code for both
  static constexpr int kParts = 1;
};
template <class R>
struct NumberOf<std::complex<R>> {
  using Real = R;
  using Wide = std::complex<double>;
  using Number = ComplexNumber;
  static constexpr int kParts = 2;
};

/// An element's type of parts, its type in double, and how many parts it has.
template <class T>
using RealOf = typename NumberOf<T>::Real;
template <class T>
using Wide = typename NumberOf<T>::Wide;
template <class T>
inline constexpr int kParts = NumberOf<T>::kParts;

/// Elements as their parts.
template <class T>
RealOf<T>* parts_of(T* elements) {
  return reinterpret_cast<RealOf<T>*>(elements);
}
template <class T>
const RealOf<T>* parts_of(const T* elements) {
  return reinterpret_cast<const RealOf<T>*>(elements);
}

}  // namespace lanky::solvers
