// For the code that speaks to CUDA: errors become lanky::Error, the current context is restored.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <lanky/error.hpp>

#include "core/text.hpp"

struct CUctx_st;

namespace lanky {

/// Throws what `status`, no success, says of the call `what`. The last error is cleared; one that
/// ruined the context stays, and is told to be that of an earlier kernel: not lanky's, where all
/// that lanky launched has ended well.
[[noreturn]] void throw_cuda(cudaError_t status, const char* what);

/// Whether a kernel ruined the context, in which every call fails from then on.
bool is_lasting(cudaError_t status) noexcept;

inline void check_cuda(cudaError_t status, const char* what) {
  if (status != cudaSuccess) throw_cuda(status, what);
}

namespace runtime {

/// The calling thread's context; null where there is none, or no driver.
CUctx_st* current_context() noexcept;
/// Makes it current again; a null one was that of `device`, as CUDA's runtime takes it.
void restore_context(CUctx_st* context, int device) noexcept;
/// A number of the context in which calls for the current device are done, which is another one
/// after cudaDeviceReset and in a context of the caller's own. 0 where the driver tells none.
std::uint64_t context_number() noexcept;

}  // namespace runtime

/// Makes `device` current for a scope: in the caller's own context, where that is of the device.
/// Nothing is done where nothing changes, since each launch would pay 0.1 us for it.
class DeviceGuard {
 public:
  explicit DeviceGuard(int device) : device_(device) {
    check_cuda(cudaGetDevice(&previous_), "cudaGetDevice");
    if (device_ == previous_) return;
    context_ = runtime::current_context();
    check_cuda(cudaSetDevice(device_), "cudaSetDevice");
  }
  DeviceGuard(const DeviceGuard&) = delete;
  DeviceGuard& operator=(const DeviceGuard&) = delete;
  ~DeviceGuard() {
    if (device_ != previous_) runtime::restore_context(context_, previous_);
  }

 private:
  int device_;
  int previous_ = 0;
  CUctx_st* context_ = nullptr;
};

}  // namespace lanky
