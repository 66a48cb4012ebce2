// Launching kernels: the device of a stream is current, every launch is checked.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <lanky/stream.hpp>
#include <mutex>

#include "core/cuda_check.hpp"

namespace lanky::device {

/// Makes the stream's device current; check() reports launches that failed.
class LaunchScope {
 public:
  explicit LaunchScope(const Stream& stream) : guard_(stream.device().index()) {
    cudaGetLastError();  // an error that the caller left behind is not that of our launch
  }
  /// Throws what the launches of this scope reported; `what` names the kernel.
  void check(const char* what) const { check_cuda(cudaGetLastError(), what); }

 private:
  DeviceGuard guard_;
};

/// Loads the code of kernels onto the stream's device. CUDA does so at a kernel's first launch
/// otherwise, and may allocate and wait for it: a plan's constructor loads, so that run does not.
template <class... Kernels>
void load_kernels(const Stream& stream, Kernels*... kernels) {
  const DeviceGuard guard(stream.device().index());
  cudaFuncAttributes attributes{};
  (check_cuda(cudaFuncGetAttributes(&attributes, reinterpret_cast<const void*>(kernels)),
              "cudaFuncGetAttributes"),
   ...);
}

/// Lets blocks of a kernel have `bytes` of dynamic shared memory, which beyond 48 KiB with what it
/// declares must be allowed. What it was allowed before it keeps: plans that need more share it.
template <class Kernel>
void allow_shared_memory(const Stream& stream, Kernel* kernel, int bytes) {
  constexpr int kOfEveryKernel = 4 << 10;  // none declares more than 44 KiB
  if (bytes <= kOfEveryKernel) return;
  static std::mutex one_at_a_time;  // none lowers what another has raised since it looked
  const std::lock_guard lock(one_at_a_time);
  const DeviceGuard guard(stream.device().index());
  cudaFuncAttributes attributes{};
  check_cuda(cudaFuncGetAttributes(&attributes, reinterpret_cast<const void*>(kernel)),
             "cudaFuncGetAttributes");
  if (attributes.maxDynamicSharedSizeBytes >= bytes) return;
  check_cuda(cudaFuncSetAttribute(reinterpret_cast<const void*>(kernel),
                                  cudaFuncAttributeMaxDynamicSharedMemorySize, bytes),
             "cudaFuncSetAttribute");
}

template <class Integer>
__host__ __device__ constexpr Integer ceil_div(Integer a, Integer b) {
  return (a + b - 1) / b;
}

}  // namespace lanky::device
