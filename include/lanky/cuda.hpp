// CUDA's element types beside lanky's, for programs that have CUDA's headers. Opt-in: no other
// header of lanky includes one of CUDA, and lanky/lanky.hpp does not include this one.
#pragma once

#include <cuComplex.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime_api.h>

#include <complex>
#include <lanky/device.hpp>
#include <lanky/error.hpp>
#include <lanky/half.hpp>
#include <lanky/stream.hpp>
#include <string>

namespace lanky::inline v1 {

/// The same elements as lanky's type, whose bits are those of CUDA's:
///
///     plan.run(stream, VectorView<const half>(elements(x), n), VectorView<half>(elements(y), m));
inline half* elements(__half* data) noexcept {
  return reinterpret_cast<half*>(data);
}
inline const half* elements(const __half* data) noexcept {
  return reinterpret_cast<const half*>(data);
}
inline bfloat16* elements(__nv_bfloat16* data) noexcept {
  return reinterpret_cast<bfloat16*>(data);
}
inline const bfloat16* elements(const __nv_bfloat16* data) noexcept {
  return reinterpret_cast<const bfloat16*>(data);
}
inline std::complex<float>* elements(cuComplex* data) noexcept {
  return reinterpret_cast<std::complex<float>*>(data);
}
inline const std::complex<float>* elements(const cuComplex* data) noexcept {
  return reinterpret_cast<const std::complex<float>*>(data);
}
inline std::complex<double>* elements(cuDoubleComplex* data) noexcept {
  return reinterpret_cast<std::complex<double>*>(data);
}
inline const std::complex<double>* elements(const cuDoubleComplex* data) noexcept {
  return reinterpret_cast<const std::complex<double>*>(data);
}

/// The caller's stream, of the current device. Throws Error: device (CUDA tells no current device),
/// no_device.
inline Stream wrap(cudaStream_t stream) {
  int device = 0;
  const cudaError_t status = cudaGetDevice(&device);
  if (status != cudaSuccess) {
    throw Error(ErrorCode::device, std::string("cudaGetDevice: ") + cudaGetErrorString(status));
  }
  return Stream::wrap(stream, Device::cuda(device));
}

}  // namespace lanky::inline v1
