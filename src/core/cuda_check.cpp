// What CUDA's errors mean to a caller, and the contexts of the driver.
#include "core/cuda_check.hpp"

#include <cudaTypedefs.h>

#include <atomic>
#include <string>

#include "core/contexts.hpp"
#include "core/forked.hpp"
#include "core/launches.hpp"

namespace lanky {

namespace {

/// Whether the error of this context is another's: all that lanky launched had ended well when it
/// was first told. Launches that failed since then are of no account.
bool is_anothers() noexcept {
  static std::atomic<bool> is_judged{false};
  static std::atomic<std::uint64_t> judged{0};  // the context, 0 where it does not tell any more
  const std::uint64_t context = runtime::context_number();
  if (is_judged.load() && (context == 0 || judged.load() == 0 || context == judged.load()))
    return true;
  if (!runtime::all_launches_ended()) return false;
  judged.store(context);
  is_judged.store(true);
  return true;
}

/// What else there is to say of an error: what it comes from, and what to do.
std::string explanation(cudaError_t status) {
  switch (status) {
    case cudaErrorInitializationError:
      return runtime::is_forked() ? concat("; ", runtime::kForked) : "";
    case cudaErrorStreamCaptureUnsupported:
    case cudaErrorStreamCaptureInvalidated:
    case cudaErrorStreamCaptureImplicit:
      return "; a stream is captured for a CUDA graph, and the capture is lost: do this before it "
             "begins";
    case cudaErrorInvalidResourceHandle:
    case cudaErrorContextIsDestroyed:
      return "; a stream or event was destroyed, or is of another CUDA context than the current "
             "one (another thread's, or one before cudaDeviceReset)";
    case cudaErrorDevicesUnavailable:
      return "; another process has the device for itself (its compute mode), or it fails";
    case cudaErrorMpsConnectionFailed:
    case cudaErrorMpsRpcFailure:
    case cudaErrorMpsServerNotReady:
    case cudaErrorMpsMaxClientsReached:
    case cudaErrorMpsMaxConnectionsReached:
      return "; the daemon of MPS does not serve this process (nvidia-cuda-mps-control)";
    default:
      return "";
  }
}

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

}  // namespace

bool is_lasting(cudaError_t status) noexcept {
  switch (status) {
    case cudaErrorIllegalAddress:
    case cudaErrorLaunchTimeout:
    case cudaErrorAssert:
    case cudaErrorHardwareStackError:
    case cudaErrorIllegalInstruction:
    case cudaErrorMisalignedAddress:
    case cudaErrorInvalidAddressSpace:
    case cudaErrorInvalidPc:
    case cudaErrorLaunchFailure:
    case cudaErrorECCUncorrectable:
    case cudaErrorNvlinkUncorrectable:
      return true;
    default:
      return false;
  }
}

void throw_cuda(cudaError_t status, const char* what) {
  cudaGetLastError();
  const std::string said = concat(cudaGetErrorString(status), " (", cudaGetErrorName(status), ")");
  if (is_lasting(status)) {
    throw Error(
        ErrorCode::device,
        concat(is_anothers()
                   ? "an earlier error of this process's CUDA context, not of lanky, all of whose "
                     "launches had ended well: "
                   : "an error of a kernel that was launched earlier in this process, lanky's or "
                     "the program's own (compute-sanitizer tells which): ",
               said, ", found by ", what,
               "; nothing in this context works any more, a new process does"));
  }
  const ErrorCode code = status == cudaErrorMemoryAllocation      ? ErrorCode::out_of_memory
                         : status == cudaErrorNoDevice            ? ErrorCode::no_device
                         : status == cudaErrorInitializationError ? ErrorCode::no_device
                                                                  : ErrorCode::device;
  throw Error(code, concat(what, ": ", said, explanation(status)));
}

namespace runtime {

CUctx_st* current_context() noexcept {
  static const auto get = driver_function<PFN_cuCtxGetCurrent_v4000>("cuCtxGetCurrent", 4000);
  CUcontext context = nullptr;
  return get != nullptr && get(&context) == CUDA_SUCCESS ? context : nullptr;
}

void restore_context(CUctx_st* context, int device) noexcept {
  static const auto set = driver_function<PFN_cuCtxSetCurrent_v4000>("cuCtxSetCurrent", 4000);
  if (context == nullptr || set == nullptr || set(context) != CUDA_SUCCESS) cudaSetDevice(device);
}

namespace {

PFN_cuCtxGetId_v12000 number_getter() noexcept {
  static const auto get = driver_function<PFN_cuCtxGetId_v12000>("cuCtxGetId", 12000);
  return get;
}

}  // namespace

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

}  // namespace runtime

}  // namespace lanky
