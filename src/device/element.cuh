// Elements in device code: the storage types of the host (lanky::half, std::complex) as the
// device's
// (__half, Complex), sums in the accumulator type, alpha and beta from the host or from device
// memory. Real and complex elements take the same functions, so that one kernel serves both.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <bit>
#include <lanky/dtype.hpp>
#include <lanky/operation.hpp>

#include "core/widened.hpp"

namespace lanky::device {

/// The bits of std::complex<Real>, in one load. Products are BLAS's plain formula: an Inf times a
/// finite number may have a NaN part, and no part is looked at twice.
template <class Real>
struct alignas(2 * sizeof(Real)) Complex {
  Real re;
  Real im;

  Complex() = default;
  __host__ __device__ constexpr Complex(Real real, Real imaginary = 0) : re(real), im(imaginary) {}
  template <class Other>
  __device__ explicit Complex(Complex<Other> other)
      : re(static_cast<Real>(other.re)), im(static_cast<Real>(other.im)) {}
  __device__ Complex& operator+=(Complex other) { return *this = *this + other; }
  __device__ friend Complex operator+(Complex a, Complex b) { return {a.re + b.re, a.im + b.im}; }
  __device__ friend Complex operator*(Complex a, Complex b) {
    return {::fma(a.re, b.re, -a.im * b.im), ::fma(a.re, b.im, a.im * b.re)};
  }
  __device__ friend bool operator==(Complex a, Complex b) { return a.re == b.re && a.im == b.im; }
};

/// a b + c.
template <class Real>
__device__ Complex<Real> fma(Complex<Real> a, Complex<Real> b, Complex<Real> c) {
  return {::fma(-a.im, b.im, ::fma(a.re, b.re, c.re)), ::fma(a.im, b.re, ::fma(a.re, b.im, c.im))};
}

template <class T>
struct DeviceElementOf {
  using Type = T;
};
template <>
struct DeviceElementOf<half> {
  using Type = __half;
};
template <>
struct DeviceElementOf<bfloat16> {
  using Type = __nv_bfloat16;
};
template <class Real>
struct DeviceElementOf<std::complex<Real>> {
  using Type = Complex<Real>;
};
template <class T>
struct DeviceElementOf<Widened<T>> {
  using Type = typename DeviceElementOf<T>::Type;
};

/// Of a complex element, the type of its parts; E itself otherwise.
template <class E>
struct RealPartOf {
  using Type = E;
};
template <class Real>
struct RealPartOf<Complex<Real>> {
  using Type = Real;
};
template <class E>
using RealPart = typename RealPartOf<E>::Type;

/// __half for lanky::half, __nv_bfloat16 for lanky::bfloat16, Complex for std::complex, T itself
/// otherwise; same bits.
template <class T>
using DeviceElement = typename DeviceElementOf<T>::Type;
/// What products of T are summed in.
template <class T>
using DeviceAccumulator = DeviceElement<Accumulator<T>>;

template <class T>
const DeviceElement<T>* device_pointer(const T* pointer) {
  return reinterpret_cast<const DeviceElement<T>*>(pointer);
}
template <class T>
DeviceElement<T>* device_pointer(T* pointer) {
  return reinterpret_cast<DeviceElement<T>*>(pointer);
}

__device__ inline double widen(double value) {
  return value;
}
__device__ inline float widen(float value) {
  return value;
}
__device__ inline float widen(__half value) {
  return __half2float(value);
}
__device__ inline float widen(__nv_bfloat16 value) {
  return __bfloat162float(value);
}
template <class Real>
__device__ Complex<Real> widen(Complex<Real> value) {
  return value;
}

/// A factor of a sum of Acc: what widen() makes of the element, or a double, which is as exact.
template <class Acc, class E>
__device__ Acc factor(E element) {
  return static_cast<Acc>(widen(element));
}

/// The conjugate of `value` where `conjugated`; a real value itself.
template <class E>
__device__ E conjugate_if(bool /*conjugated*/, E value) {
  return value;
}
template <class Real>
__device__ Complex<Real> conjugate_if(bool conjugated, Complex<Real> value) {
  return {value.re, conjugated ? -value.im : value.im};
}

/// `value` of the lane whose number differs by the bits of `mask`.
template <class E>
__device__ E shuffle_xor(E value, int mask) {
  return __shfl_xor_sync(0xffffffffU, value, mask);
}
template <class Real>
__device__ Complex<Real> shuffle_xor(Complex<Real> value, int mask) {
  return {shuffle_xor(value.re, mask), shuffle_xor(value.im, mask)};
}

/// `value` of lane `lane` of the lane's group, of `width` lanes.
template <class E>
__device__ E shuffle_from(E value, int lane, int width) {
  return __shfl_sync(0xffffffffU, value, lane, width);
}
template <class Real>
__device__ Complex<Real> shuffle_from(Complex<Real> value, int lane, int width) {
  return {shuffle_from(value.re, lane, width), shuffle_from(value.im, lane, width)};
}

/// Rounds an accumulated value to the storage type, to nearest even.
template <class E>
__device__ E narrow(double value) {
  return static_cast<E>(value);
}
template <class E>
__device__ E narrow(float value) {
  return static_cast<E>(value);
}
template <>
__device__ inline __half narrow<__half>(float value) {
  return __float2half_rn(value);
}
template <>
__device__ inline __nv_bfloat16 narrow<__nv_bfloat16>(float value) {
  return __float2bfloat16_rn(value);
}
template <class E, class Real>
__device__ E narrow(Complex<Real> value) {
  return value;
}

/// A lanky::Scalar as a kernel argument.
template <class T>
struct DeviceScalar {
  using Element = DeviceElement<T>;

  Element value;
  const Element* pointer;  // device memory; null where `value` holds

  explicit DeviceScalar(const Scalar<T>& scalar)
      : value(std::bit_cast<Element>(scalar.value())), pointer(device_pointer(scalar.pointer())) {}
  __device__ Element load() const { return pointer != nullptr ? *pointer : value; }
};

}  // namespace lanky::device
