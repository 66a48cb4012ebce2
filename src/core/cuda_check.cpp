// What CUDA's errors mean to a caller.
#include "core/cuda_check.hpp"

#include <atomic>
#include <string>

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

}  // namespace lanky
