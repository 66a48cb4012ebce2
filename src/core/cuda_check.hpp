// For the code that speaks to CUDA: errors become lanky::Error, the current device is restored.
#pragma once

#include <cuda_runtime_api.h>

#include <lanky/error.hpp>

#include "core/text.hpp"

namespace lanky {

/// Throws what `status` says of the call `what`; the sticky last error is cleared.
inline void check_cuda(cudaError_t status, const char* what) {
  if (status == cudaSuccess) return;
  cudaGetLastError();
  const ErrorCode code = status == cudaErrorMemoryAllocation ? ErrorCode::out_of_memory
                         : status == cudaErrorNoDevice       ? ErrorCode::no_device
                                                             : ErrorCode::device;
  throw Error(code,
              concat(what, ": ", cudaGetErrorString(status), " (", cudaGetErrorName(status), ")"));
}

/// Makes `device` current for a scope. Restoring cannot fail for a device that was current; it is
/// left out where nothing changed, since each launch would pay 0.1 us for it.
class DeviceGuard {
 public:
  explicit DeviceGuard(int device) : device_(device) {
    check_cuda(cudaGetDevice(&previous_), "cudaGetDevice");
    if (device_ != previous_) check_cuda(cudaSetDevice(device_), "cudaSetDevice");
  }
  DeviceGuard(const DeviceGuard&) = delete;
  DeviceGuard& operator=(const DeviceGuard&) = delete;
  ~DeviceGuard() {
    if (device_ != previous_) cudaSetDevice(previous_);
  }

 private:
  int device_;
  int previous_ = 0;
};

}  // namespace lanky
