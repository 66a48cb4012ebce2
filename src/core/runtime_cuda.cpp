// The GPU runtime on CUDA. Memory comes from the device's default pool, in stream order.
#include <cuda_runtime_api.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <lanky/error.hpp>
#include <map>
#include <mutex>
#include <new>
#include <vector>

#include "core/code_fault.hpp"
#include "core/contexts.hpp"
#include "core/cuda_check.hpp"
#include "core/forked.hpp"
#include "core/launches.hpp"
#include "core/runtime.hpp"

namespace lanky::runtime {

namespace {

DeviceCount counted_devices() {
  int devices = 0;
  const cudaError_t status = cudaGetDeviceCount(&devices);
  cudaGetLastError();
  if (status == cudaErrorInsufficientDriver) {
    int driver = 0;
    cudaDriverGetVersion(&driver);
    if (driver == 0) return {0, "no CUDA driver is installed"};
    return {0, concat("the driver is for CUDA ", cuda_version(driver),
                      ", and this lanky was built with CUDA ", cuda_version(CUDART_VERSION),
                      ": update the driver, or build lanky with a toolkit as old")};
  }
  if (status == cudaErrorInitializationError)
    return {0, concat(cudaGetErrorString(status), ", as where ", kForked)};
  if (is_lasting(status)) {
    try {
      throw_cuda(status, "cudaGetDeviceCount");
    } catch (const Error& error) {
      return {0, error.what()};
    }
  }
  if (status != cudaSuccess) return {0, cudaGetErrorString(status)};
  if (devices == 0) return {0, "no CUDA-capable device is detected"};
  watch_forks();
  return {devices, ""};
}

/// As where work given to the stream is captured; the legacy default one never is, and asking is an
/// error while another stream is.
bool captures(CUstream_st* stream) noexcept {
  if (stream == nullptr || stream == cudaStreamLegacy) return false;
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  if (cudaStreamIsCapturing(stream, &status) != cudaSuccess) cudaGetLastError();
  return status != cudaStreamCaptureStatusNone;
}

/// Never destroyed: objects that are static may go later.
template <class T>
T& everlasting() noexcept {
  alignas(T) static std::byte place[sizeof(T)];
  static auto* const object = new (place) T;
  return *object;
}

/// Memory whose stream is captured where it comes or goes, which CUDA frees in other ways.
class MemoryOfCaptures {
 public:
  struct Block {
    void* data;
    CUstream_st* stream;
  };

  /// Allocated in a capture: it is the graph's, whose nodes allocate and free it.
  void add_of_graph(void* data) { add(of_graphs_, {data, nullptr}); }
  /// Whether it was, once.
  bool take_of_graph(void* data) noexcept {
    return take(of_graphs_, [data](const Block& block) { return block.data == data; }).data !=
           nullptr;
  }
  /// Allocated before a capture that its stream is in: to be freed behind it.
  void add_waiting(void* data, CUstream_st* stream) { add(waiting_, {data, stream}); }
  /// One that waits for this stream, which is not captured any more; null where there is none.
  void* take_waiting(CUstream_st* stream) noexcept {
    return take(waiting_, [stream](const Block& block) { return block.stream == stream; }).data;
  }

 private:
  void add(std::vector<Block>& blocks, Block block) {
    const std::lock_guard lock(mutex_);
    blocks.push_back(block);
    count_.fetch_add(1);
  }
  template <class Wanted>
  Block take(std::vector<Block>& blocks, const Wanted& wanted) noexcept {
    if (count_.load() == 0) return {nullptr, nullptr};  // nearly always
    const std::lock_guard lock(mutex_);
    const auto found = std::find_if(blocks.begin(), blocks.end(), wanted);
    if (found == blocks.end()) return {nullptr, nullptr};
    const Block block = *found;
    blocks.erase(found);
    count_.fetch_sub(1);
    return block;
  }

  std::mutex mutex_;
  std::atomic<int> count_{0};
  std::vector<Block> of_graphs_;
  std::vector<Block> waiting_;
};

MemoryOfCaptures& memory_of_captures() noexcept {
  return everlasting<MemoryOfCaptures>();
}

Contexts& contexts() noexcept {
  return everlasting<Contexts>();
}

void free_in_order(void* data, CUstream_st* stream) noexcept {
  const cudaError_t status = cudaFreeAsync(data, stream);
  if (status == cudaSuccess) return;
  cudaGetLastError();  // not the caller's, who reads it next
  if (status != cudaErrorInvalidResourceHandle) return;
  // The stream is gone before its memory, whose work may still run.
  if (cudaDeviceSynchronize() == cudaSuccess) cudaFree(data);
  cudaGetLastError();
}

/// What went while the stream was captured, which it is no more.
void free_waiting(CUstream_st* stream) noexcept {
  while (void* const data = memory_of_captures().take_waiting(stream))
    free_in_order(data, stream);
}

}  // namespace

const DeviceCount& device_count() noexcept {
  try {
    static const DeviceCount count = counted_devices();
    if (count.devices == 0 || !is_forked()) return count;
    static const DeviceCount none{0, kForked};
    return none;
  } catch (const std::bad_alloc&) {                    // asked again next time
    static const DeviceCount unknown{0, "no memory"};  // so short that it takes none
    return unknown;
  }
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
  check_not_forked();
  const DeviceGuard guard(device);
  cudaStream_t stream = nullptr;
  check_cuda(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreate");
  try {
    contexts().add(stream);
  } catch (...) {
    cudaStreamDestroy(stream);
    throw;
  }
  return stream;
}

void destroy_stream(CUstream_st* stream) noexcept {
  if (is_forked()) return;
  const bool alive = contexts().is_alive(stream);
  contexts().remove(stream);
  forget_stream(stream);
  if (!alive) return;
  free_waiting(stream);
  if (cudaStreamDestroy(stream) != cudaSuccess) cudaGetLastError();
}

void synchronize(CUstream_st* stream, int device) {
  check_not_forked();
  const DeviceGuard guard(device);
  const Launched before = launched(stream);
  check_cuda(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
  note_ended(before);
}

bool is_capturing(CUstream_st* stream) {
  check_not_forked();
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  check_cuda(cudaStreamIsCapturing(stream, &status), "cudaStreamIsCapturing");
  return status != cudaStreamCaptureStatusNone;
}

CUevent_st* create_event(int device) {
  check_not_forked();
  const DeviceGuard guard(device);
  cudaEvent_t event = nullptr;
  check_cuda(cudaEventCreate(&event), "cudaEventCreate");
  try {
    contexts().add(event);
  } catch (...) {
    cudaEventDestroy(event);
    throw;
  }
  return event;
}

void destroy_event(CUevent_st* event) noexcept {
  if (is_forked()) return;
  const bool alive = contexts().is_alive(event);
  contexts().remove(event);
  if (!alive) return;
  if (cudaEventDestroy(event) != cudaSuccess) cudaGetLastError();
}

void record(CUevent_st* event, CUstream_st* stream, int device) {
  check_not_forked();
  const DeviceGuard guard(device);  // a null stream is that of the current device
  check_cuda(cudaEventRecord(event, stream), "cudaEventRecord");
}

void wait(CUstream_st* stream, CUevent_st* event, int device) {
  check_not_forked();
  const DeviceGuard guard(device);
  check_cuda(cudaStreamWaitEvent(stream, event, 0), "cudaStreamWaitEvent");
}

void synchronize(CUevent_st* event) {
  check_not_forked();
  check_cuda(cudaEventSynchronize(event), "cudaEventSynchronize");
}

bool done(CUevent_st* event) {
  check_not_forked();
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
  check_not_forked();
  const DeviceGuard guard(device);
  contexts().add(stream);  // a caller's own may be new here
  const bool of_graph = captures(stream);
  if (!of_graph) free_waiting(stream);
  void* data = nullptr;
  const cudaError_t status = cudaMallocAsync(&data, bytes, stream);
  if (status == cudaErrorMemoryAllocation) {
    cudaGetLastError();
    std::size_t free_bytes = 0;
    std::size_t total_bytes = 0;
    if (cudaMemGetInfo(&free_bytes, &total_bytes) != cudaSuccess) cudaGetLastError();
    throw Error(ErrorCode::out_of_memory,
                concat("cannot allocate ", bytes, " bytes on cuda:", device, ", of whose ",
                       total_bytes, " bytes ", free_bytes, " are free"));
  }
  check_cuda(status, "cudaMallocAsync");
  if (!of_graph) return data;
  try {
    memory_of_captures().add_of_graph(data);
  } catch (...) {
    free_in_order(data, stream);
    throw;
  }
  return data;
}

void deallocate(void* data, CUstream_st* stream, int device) noexcept {
  if (is_forked() || !contexts().is_alive(stream)) return;
  int previous = device;  // as DeviceGuard, which throws
  if (cudaGetDevice(&previous) != cudaSuccess) cudaGetLastError();
  CUctx_st* const context = previous == device ? nullptr : current_context();
  if (previous != device) cudaSetDevice(device);
  const bool of_graph = memory_of_captures().take_of_graph(data);
  if (of_graph || !captures(stream)) {
    free_in_order(data, stream);  // of a graph: after its launch, which has allocated it
  } else {
    try {
      memory_of_captures().add_waiting(data, stream);
    } catch (const std::bad_alloc&) {  // kept until the process ends
    }
  }
  if (previous != device) restore_context(context, previous);
}

void copy(void* target, const void* source, std::size_t bytes, CUstream_st* stream, int device) {
  check_not_forked();
  const DeviceGuard guard(device);
  check_cuda(cudaMemcpyAsync(target, source, bytes, cudaMemcpyDefault, stream), "cudaMemcpyAsync");
}

void zero(void* target, std::size_t bytes, CUstream_st* stream, int device) {
  check_not_forked();
  const DeviceGuard guard(device);
  check_cuda(cudaMemsetAsync(target, 0, bytes, stream), "cudaMemsetAsync");
}

PointerSide where(const void* pointer) {
  if (device_count().devices == 0) return {};
  cudaPointerAttributes attributes{};
  const cudaError_t status = cudaPointerGetAttributes(&attributes, pointer);
  // The child of a process that had used CUDA, and one whose context is lost, compute on the CPU.
  if (status == cudaErrorInitializationError || is_lasting(status)) {
    cudaGetLastError();
    return {.known = false};
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
