// Elements in device code: the storage types of the host (lanky::half) as CUDA's (__half), sums in
// the accumulator type, alpha and beta from the host or from device memory.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <lanky/dtype.hpp>
#include <lanky/operation.hpp>

namespace lanky::device {

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

/// __half for lanky::half, __nv_bfloat16 for lanky::bfloat16, T itself otherwise; same bits.
template <class T>
using DeviceElement = typename DeviceElementOf<T>::Type;

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

/// A lanky::Scalar as a kernel argument.
template <class T>
struct DeviceScalar {
  T value;
  const T* pointer;  // device memory; null where `value` holds

  explicit DeviceScalar(const Scalar<T>& scalar)
      : value(scalar.value()), pointer(scalar.pointer()) {}
  __device__ T load() const { return pointer != nullptr ? *pointer : value; }
};

}  // namespace lanky::device
