// Programmatic dependent launch: a kernel may start before the one ahead of it in the stream has
// ended, set up, and wait for it where it needs its results (PTX ISA, griddepcontrol; sm_90).
#pragma once

#include <cstdint>
#include <cstring>

#include <cuda_runtime.h>

#include "core/cuda_check.hpp"
#include "core/machine.hpp"
#include "device/code.cuh"
#include "device/delay.cuh"
#include "device/launch.cuh"

namespace lanky::device {

/// Until the kernels ahead have ended and their writes are visible. Before it, a kernel may touch
/// no memory that another one writes or reads.
__device__ inline void wait_for_kernel_ahead() {
  delay();
  if constexpr (kDependentLaunches) asm volatile("griddepcontrol.wait;" ::: "memory");
  delay();
}

/// The next kernel may start as soon as each block has said so (or has ended).
__device__ inline void let_next_kernel_start() {
  delay();
  if constexpr (kDependentLaunches) asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
  delay();
}

/// What a kernel has in registers before it waits for the kernel ahead, by all lanes of a warp.
/// ptxas would compute it, and load arguments, where it is used: behind the wait, which hides what
/// is before it.
class AheadOfWait {
 public:
  /// `zero` is 0, which the compiler does not know.
  __device__ explicit AheadOfWait(std::uint32_t zero) : zero_(zero) {}

  /// `value`, which the wait waits for.
  template <class V>
  __device__ V hold(V value) {
    static_assert(sizeof(V) % 4 == 0);
    std::uint32_t words[sizeof(V) / 4];
    memcpy(words, &value, sizeof(V));
#pragma unroll
    for (std::uint32_t& word : words) {
      word |= zero_;
      held_ |= word;
    }
    memcpy(&value, words, sizeof(V));
    return value;
  }

  /// wait_for_kernel_ahead(), which no load sinks below either.
  __device__ void wait() const {
    __syncwarp(~(held_ & zero_));  // of all lanes
    wait_for_kernel_ahead();
  }

 private:
  std::uint32_t zero_;
  std::uint32_t held_ = 0;
};

struct LaunchSize {
  dim3 blocks;
  dim3 threads;
  std::size_t shared_bytes = 0;
};

/// Launches a kernel that calls wait_for_kernel_ahead() before it touches memory. Code without that
/// wait starts when the kernel ahead has ended, as any other.
template <class... Parameters, class... Arguments>
void launch_dependent(const Stream& stream, void (*kernel)(Parameters...), LaunchSize size,
                      const Arguments&... arguments) {
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = size.blocks;
  config.blockDim = size.threads;
  config.dynamicSmemBytes = size.shared_bytes;
  config.stream = stream.native();
  config.attrs = &attribute;
  config.numAttrs = machine_of(stream.device()).waits_for_kernels() ? 1 : 0;
  check_cuda(cudaLaunchKernelEx(&config, kernel, arguments...), "cudaLaunchKernelEx");
}

}  // namespace lanky::device
