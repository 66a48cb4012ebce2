// For sources that speak to CUDA: errors become lanky::Error, the current device is restored.
#pragma once

#include <cuda_runtime_api.h>

#include <lanky/device.hpp>
#include <lanky/error.hpp>
#include <string>

namespace lanky::examples {

/// Throws what `status` says of the call `what`.
inline void check_cuda(cudaError_t status, const char* what) {
  if (status == cudaSuccess) return;
  cudaGetLastError();
  const ErrorCode code =
      status == cudaErrorMemoryAllocation ? ErrorCode::out_of_memory : ErrorCode::device;
  throw Error(code, std::string(what) + ": " + cudaGetErrorString(status));
}

/// The same for a library of NVIDIA's, whose statuses are 0 where all is well.
template <class Status>
void check_vendor(Status status, const char* what) {
  if (static_cast<int>(status) == 0) return;
  throw Error(ErrorCode::device,
              std::string(what) + ": status " + std::to_string(static_cast<int>(status)));
}

/// Makes the device current for a scope.
class CurrentDevice {
 public:
  explicit CurrentDevice(const Device& device) {
    check_cuda(cudaGetDevice(&previous_), "cudaGetDevice");
    check_cuda(cudaSetDevice(device.index()), "cudaSetDevice");
  }
  CurrentDevice(const CurrentDevice&) = delete;
  CurrentDevice& operator=(const CurrentDevice&) = delete;
  ~CurrentDevice() { cudaSetDevice(previous_); }

 private:
  int previous_ = 0;
};

}  // namespace lanky::examples
