// Launching kernels: the device of a stream is current, every launch is checked.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <lanky/stream.hpp>
#include <mutex>
#include <set>
#include <utility>

#include "core/cuda_check.hpp"
#include "core/launches.hpp"
#include "core/machine.hpp"

namespace lanky::device {

/// Makes the stream's device current; check() reports launches that failed.
class LaunchScope {
 public:
  explicit LaunchScope(const Stream& stream)
      : guard_(stream.device().index()), stream_(stream.native()) {
    cudaGetLastError();  // an error that the caller left behind is not that of our launch
  }
  LaunchScope(const LaunchScope&) = delete;
  LaunchScope& operator=(const LaunchScope&) = delete;
  ~LaunchScope() { runtime::note_launch(stream_); }
  /// Throws what the launches of this scope reported; `what` names the kernel.
  void check(const char* what) const { check_cuda(cudaGetLastError(), what); }

 private:
  DeviceGuard guard_;
  CUstream_st* stream_;
};

/// Loads a kernel's code onto the stream's device, which is current, where no plan has done so.
/// Kernels are picked by what machine_of() says the code is for, so that all must be for the same:
/// Error(device) otherwise.
inline void load_kernel(const Stream& stream, const void* kernel) {
  static std::mutex one_at_a_time;
  static std::set<std::pair<const void*, std::uint64_t>> loaded;  // and into which context
  const std::lock_guard lock(one_at_a_time);
  const std::pair key(kernel, runtime::context_number());
  if (loaded.contains(key)) return;
  cudaFuncAttributes attributes{};
  check_cuda(cudaFuncGetAttributes(&attributes, kernel), "cudaFuncGetAttributes");
  const int target = machine_of(stream.device()).code.capability;
  if (attributes.ptxVersion != target) {
    throw Error(ErrorCode::device,
                concat("a kernel was compiled for compute_", attributes.ptxVersion,
                       ", and lanky's others for compute_", target, ": build all of lanky anew"));
  }
  loaded.insert(key);
}

/// Loads the code of kernels onto the stream's device. CUDA does so at a kernel's first launch
/// otherwise, and may allocate and wait for it: a plan's constructor loads, so that run does not.
template <class... Kernels>
void load_kernels(const Stream& stream, Kernels*... kernels) {
  const DeviceGuard guard(stream.device().index());
  (load_kernel(stream, reinterpret_cast<const void*>(kernels)), ...);
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
  const auto* const code = reinterpret_cast<const void*>(kernel);
  cudaFuncAttributes attributes{};  // asked for anew: each context has its own
  check_cuda(cudaFuncGetAttributes(&attributes, code), "cudaFuncGetAttributes");
  if (attributes.maxDynamicSharedSizeBytes >= bytes) return;
  check_cuda(cudaFuncSetAttribute(code, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes),
             "cudaFuncSetAttribute");
}

template <class Integer>
__host__ __device__ constexpr Integer ceil_div(Integer a, Integer b) {
  return (a + b - 1) / b;
}

}  // namespace lanky::device
