// What the code of this build is on a device, told by a kernel that shows that it ran.
#include <cuda_runtime_api.h>

#include <array>
#include <lanky/error.hpp>
#include <map>
#include <mutex>
#include <optional>
#include <random>

#include "core/code_fault.hpp"
#include "core/code_target_kernel.hpp"
#include "core/cuda_check.hpp"
#include "core/runtime.hpp"

namespace lanky::runtime {

namespace {

/// Why no code is loaded, where a status says so.
std::optional<CodeFault> fault_of(cudaError_t status) {
  switch (status) {
    case cudaErrorNoKernelImageForDevice:
    case cudaErrorInvalidDeviceFunction:
    case cudaErrorInvalidPtx:
      return CodeFault::no_code;
    case cudaErrorUnsupportedPtxVersion:
      return CodeFault::old_driver;
    case cudaErrorJitCompilerNotFound:
    case cudaErrorJitCompilationDisabled:
      return CodeFault::no_translator;
    default:
      return std::nullopt;
  }
}

/// Frees what the kernel writes to.
struct Words {
  explicit Words(CUstream_st* owner) : stream(owner) {
    check_cuda(cudaMallocAsync(&data, kCodeThreads * sizeof(CodeWord), stream), "cudaMallocAsync");
  }
  Words(const Words&) = delete;
  Words& operator=(const Words&) = delete;
  ~Words() {
    if (cudaFreeAsync(data, stream) != cudaSuccess) cudaGetLastError();
  }

  CUstream_st* stream;
  void* data = nullptr;
};

struct OwnStream {
  explicit OwnStream(int device) : stream(create_stream(device)) {}
  OwnStream(const OwnStream&) = delete;
  OwnStream& operator=(const OwnStream&) = delete;
  ~OwnStream() { destroy_stream(stream); }

  CUstream_st* stream;
};

void check_start(cudaError_t status, int device) {
  const std::optional<CodeFault> fault = fault_of(status);
  if (!fault) return check_cuda(status, "the self-test of lanky's code");
  cudaGetLastError();
  int driver = 0;
  check_cuda(cudaDriverGetVersion(&driver), "cudaDriverGetVersion");
  throw Error(ErrorCode::no_device,
              describe_fault(*fault, Device::cuda(device).name(), properties(device),
                             LANKY_CUDA_TARGETS, CUDART_VERSION, driver));
}

CodeTarget ask(int device) {
  const DeviceGuard guard(device);
  cudaGetLastError();  // an error that the caller left behind is not that of our launch
  const OwnStream own(device);
  const Words words(own.stream);
  const std::uint32_t question = std::random_device()();
  check_start(static_cast<cudaError_t>(
                  start_code_kernel(question, static_cast<CodeWord*>(words.data), own.stream)),
              device);
  std::array<CodeWord, kCodeThreads> answers{};
  copy(answers.data(), words.data, sizeof answers, own.stream, device);
  synchronize(own.stream, device);
  for (std::uint32_t thread = 0; thread < kCodeThreads; ++thread) {
    if (answers[thread].answer == code_answer(question, thread)) continue;
    throw Error(ErrorCode::no_device,
                concat("the self-test of lanky's code on ", Device::cuda(device).name(),
                       " gave a wrong result: the device does not compute; use another one, or "
                       "the cpu device"));
  }
  constexpr int kUnit = 10;  // __CUDA_ARCH__ is 900 for compute_90
  return {answers[0].architecture / kUnit, answers[0].warp_groups != 0};
}

}  // namespace

CodeTarget code_target(int device) {
  static std::mutex mutex;
  static std::map<int, CodeTarget> known;
  const std::lock_guard lock(mutex);
  const auto found = known.find(device);
  if (found != known.end()) return found->second;
  return known[device] = ask(device);
}

}  // namespace lanky::runtime
