// The driver's contexts, by functions that are found through the runtime. A part of
// liblanky_vendor, too.
#include <cudaTypedefs.h>

#include "core/contexts.hpp"

namespace lanky::runtime {

namespace {

/// A function of the driver, found through the runtime so that lanky does not link libcuda.
template <class Function>
Function driver_function(const char* name, [[maybe_unused]] unsigned version) noexcept {
  void* function = nullptr;
  cudaDriverEntryPointQueryResult found{};
#if CUDART_VERSION >= 12050
  const cudaError_t status =
      cudaGetDriverEntryPointByVersion(name, &function, version, cudaEnableDefault, &found);
#else
  const cudaError_t status = cudaGetDriverEntryPoint(name, &function, cudaEnableDefault, &found);
#endif
  if (status != cudaSuccess) cudaGetLastError();
  return status == cudaSuccess && found == cudaDriverEntryPointSuccess
             ? reinterpret_cast<Function>(function)
             : nullptr;
}

PFN_cuCtxGetId_v12000 number_getter() noexcept {
  static const auto get = driver_function<PFN_cuCtxGetId_v12000>("cuCtxGetId", 12000);
  return get;
}

}  // namespace

CUctx_st* current_context() noexcept {
  static const auto get = driver_function<PFN_cuCtxGetCurrent_v4000>("cuCtxGetCurrent", 4000);
  CUcontext context = nullptr;
  return get != nullptr && get(&context) == CUDA_SUCCESS ? context : nullptr;
}

void restore_context(CUctx_st* context, int device) noexcept {
  static const auto set = driver_function<PFN_cuCtxSetCurrent_v4000>("cuCtxSetCurrent", 4000);
  if (context == nullptr || set == nullptr || set(context) != CUDA_SUCCESS) cudaSetDevice(device);
}

bool has_number(CUctx_st* context, std::uint64_t number) noexcept {
  const auto get = number_getter();
  unsigned long long found = 0;
  return get == nullptr || (get(context, &found) == CUDA_SUCCESS && found == number);
}

std::uint64_t context_number() noexcept {
  const auto get = number_getter();
  if (get == nullptr) return 0;
  unsigned long long number = 0;
  if (get(nullptr, &number) == CUDA_SUCCESS) return number;
  cudaFree(nullptr);  // a thread that has not called CUDA yet has no context
  return get(nullptr, &number) == CUDA_SUCCESS ? number : 0;
}

}  // namespace lanky::runtime
