// The GPU runtime on CUDA. Memory comes from the device's default pool, in stream order.
#include <cuda_runtime_api.h>

#include <lanky/error.hpp>
#include <map>
#include <mutex>

#include "core/code_fault.hpp"
#include "core/cuda_check.hpp"
#include "core/runtime.hpp"

namespace lanky::runtime {

const DeviceCount& device_count() noexcept {
  static const DeviceCount count = [] {
    int devices = 0;
    const cudaError_t status = cudaGetDeviceCount(&devices);
    cudaGetLastError();
    if (status == cudaErrorInsufficientDriver) {
      int driver = 0;
      cudaDriverGetVersion(&driver);
      if (driver == 0) return DeviceCount{0, "no CUDA driver is installed"};
      return DeviceCount{
          0, concat("the driver is for CUDA ", cuda_version(driver),
                    ", and this lanky was built with CUDA ", cuda_version(CUDART_VERSION),
                    ": update the driver, or build lanky with a toolkit as old")};
    }
    if (status != cudaSuccess) return DeviceCount{0, cudaGetErrorString(status)};
    if (devices == 0) return DeviceCount{0, "no CUDA-capable device is detected"};
    return DeviceCount{devices, ""};
  }();
  return count;
}

DeviceProperties properties(int device) {
  static std::mutex mutex;
  static std::map<int, DeviceProperties> known;  // every plan asks, and the driver takes its time
  const std::lock_guard lock(mutex);
  const auto found = known.find(device);
  if (found != known.end()) return found->second;
  cudaDeviceProp p{};
  check_cuda(cudaGetDeviceProperties(&p, device), "cudaGetDeviceProperties");
  const auto attribute = [&](cudaDeviceAttr which) {
    int value = 0;
    check_cuda(cudaDeviceGetAttribute(&value, which, device), "cudaDeviceGetAttribute");
    return static_cast<double>(value);
  };
  constexpr double kKilohertz = 1e3;
  constexpr double kBytesOfBits = 2.0 / 8;  // a transfer at each edge of the clock
  return known[device] = {.name = p.name,
                          .multiprocessors = p.multiProcessorCount,
                          .compute_capability = p.major * 10 + p.minor,
                          .memory_bytes = p.totalGlobalMem,
                          .l2_bytes = static_cast<std::size_t>(p.l2CacheSize),
                          .shared_bytes_per_block = p.sharedMemPerBlockOptin,
                          .shared_bytes_per_multiprocessor = p.sharedMemPerMultiprocessor,
                          .clock = kKilohertz * attribute(cudaDevAttrClockRate),
                          .memory_bandwidth = kKilohertz * attribute(cudaDevAttrMemoryClockRate) *
                                              kBytesOfBits *
                                              attribute(cudaDevAttrGlobalMemoryBusWidth)};
}

CUstream_st* create_stream(int device) {
  const DeviceGuard guard(device);
  cudaStream_t stream = nullptr;
  check_cuda(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreate");
  return stream;
}

void destroy_stream(CUstream_st* stream) noexcept {
  cudaStreamDestroy(stream);
}

void synchronize(CUstream_st* stream, int device) {
  const DeviceGuard guard(device);
  check_cuda(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
}

bool is_capturing(CUstream_st* stream) {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  check_cuda(cudaStreamIsCapturing(stream, &status), "cudaStreamIsCapturing");
  return status != cudaStreamCaptureStatusNone;
}

CUevent_st* create_event(int device) {
  const DeviceGuard guard(device);
  cudaEvent_t event = nullptr;
  check_cuda(cudaEventCreate(&event), "cudaEventCreate");
  return event;
}

void destroy_event(CUevent_st* event) noexcept {
  cudaEventDestroy(event);
}

void record(CUevent_st* event, CUstream_st* stream, int device) {
  const DeviceGuard guard(device);  // a null stream is that of the current device
  check_cuda(cudaEventRecord(event, stream), "cudaEventRecord");
}

void wait(CUstream_st* stream, CUevent_st* event, int device) {
  const DeviceGuard guard(device);
  check_cuda(cudaStreamWaitEvent(stream, event, 0), "cudaStreamWaitEvent");
}

void synchronize(CUevent_st* event) {
  check_cuda(cudaEventSynchronize(event), "cudaEventSynchronize");
}

bool done(CUevent_st* event) {
  const cudaError_t status = cudaEventQuery(event);
  if (status == cudaErrorNotReady) {
    cudaGetLastError();
    return false;
  }
  check_cuda(status, "cudaEventQuery");
  return true;
}

double elapsed_ms(CUevent_st* start, CUevent_st* end) {
  float ms = 0;
  check_cuda(cudaEventElapsedTime(&ms, start, end), "cudaEventElapsedTime");
  return static_cast<double>(ms);
}

void* allocate(std::size_t bytes, CUstream_st* stream, int device) {
  const DeviceGuard guard(device);
  void* data = nullptr;
  const cudaError_t status = cudaMallocAsync(&data, bytes, stream);
  if (status == cudaErrorMemoryAllocation) {
    cudaGetLastError();
    std::size_t free_bytes = 0;
    std::size_t total_bytes = 0;
    cudaMemGetInfo(&free_bytes, &total_bytes);
    throw Error(ErrorCode::out_of_memory,
                concat("cannot allocate ", bytes, " bytes on cuda:", device, ", of whose ",
                       total_bytes, " bytes ", free_bytes, " are free"));
  }
  check_cuda(status, "cudaMallocAsync");
  return data;
}

void deallocate(void* data, CUstream_st* stream, int device) noexcept {
  int previous = 0;
  cudaGetDevice(&previous);
  cudaSetDevice(device);
  cudaFreeAsync(data, stream);
  cudaSetDevice(previous);
}

void copy(void* target, const void* source, std::size_t bytes, CUstream_st* stream, int device) {
  const DeviceGuard guard(device);
  check_cuda(cudaMemcpyAsync(target, source, bytes, cudaMemcpyDefault, stream), "cudaMemcpyAsync");
}

void zero(void* target, std::size_t bytes, CUstream_st* stream, int device) {
  const DeviceGuard guard(device);
  check_cuda(cudaMemsetAsync(target, 0, bytes, stream), "cudaMemsetAsync");
}

PointerSide where(const void* pointer) {
  if (device_count().devices == 0) return {};
  cudaPointerAttributes attributes{};
  const cudaError_t status = cudaPointerGetAttributes(&attributes, pointer);
  if (status == cudaErrorInitializationError) {  // the child of a process that had used CUDA
    cudaGetLastError();
    return {};
  }
  check_cuda(status, "cudaPointerGetAttributes");
  switch (attributes.type) {
    case cudaMemoryTypeDevice:
      return {false, true, attributes.device};
    case cudaMemoryTypeHost:
    case cudaMemoryTypeManaged:
      return {true, true, -1};
    case cudaMemoryTypeUnregistered:
      break;
  }
  return {};
}

}  // namespace lanky::runtime
