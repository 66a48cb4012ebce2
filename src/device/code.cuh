// What the code being compiled may use. The host asks the code that is loaded (Machine::code), so
// that a kernel without a body for its target is never picked; it traps if it is.
#pragma once

namespace lanky::device {

// Device code alone may ask: on the host these say nothing.
#ifdef __CUDA_ARCH__
inline constexpr int kCapability = __CUDA_ARCH__ / 10;  // 90 for compute_90
#else
inline constexpr int kCapability = 0;
#endif

/// Bulk copies, tensor maps and barriers that count bytes.
inline constexpr bool kBulkCopies = kCapability >= 90;

/// Kernels that wait for the one ahead of them (grid_dependency.cuh).
inline constexpr bool kDependentLaunches = kCapability >= 90;

/// Products of warp groups: sm_90a alone.
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
inline constexpr bool kWarpGroups = true;
#else
inline constexpr bool kWarpGroups = false;
#endif

/// The body of a kernel where it has none.
__device__ inline void fail_without_body() {
  __trap();
}

}  // namespace lanky::device
