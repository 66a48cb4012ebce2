#include "memory.hpp"

#include <map>
#include <new>

namespace lanky_petsc {

#if defined(PETSC_HAVE_CUDA)
void check(cudaError_t status, const char* call) {
  if (status == cudaSuccess) return;
  throw lanky::Error(status == cudaErrorMemoryAllocation ? lanky::ErrorCode::out_of_memory
                                                         : lanky::ErrorCode::device,
                     std::string(call) + ": " + cudaGetErrorString(status));
}
#endif

Element* Memory::at_least(std::int64_t count) {
  if (count > count_) {
    release();
    const std::size_t bytes = static_cast<std::size_t>(count) * sizeof(Element);
#if defined(PETSC_HAVE_CUDA)
    if (kind_ == Kind::pinned) check(cudaMallocHost(&data_, bytes), "cudaMallocHost");
    if (kind_ == Kind::device) check(cudaMalloc(&data_, bytes), "cudaMalloc");
#endif
    if (data_ == nullptr) data_ = ::operator new(bytes);
    count_ = count;
  }
  return static_cast<Element*>(data_);
}

void Memory::release() noexcept {
#if defined(PETSC_HAVE_CUDA)
  if (kind_ == Kind::pinned && data_ != nullptr) cudaFreeHost(data_);
  if (kind_ == Kind::device && data_ != nullptr) cudaFree(data_);
  if (kind_ != Kind::host) data_ = nullptr;
#endif
  ::operator delete(data_);
  data_ = nullptr;
  count_ = 0;
}

#if defined(PETSC_HAVE_CUDA)
Mark::~Mark() {
  if (event_ != nullptr) cudaEventDestroy(event_);
}

void Mark::record(const lanky::Stream& stream) {
  if (event_ == nullptr) {
    check(cudaEventCreateWithFlags(&event_, cudaEventDisableTiming), "cudaEventCreateWithFlags");
  }
  check(cudaEventRecord(event_, stream.native()), "cudaEventRecord");
}

void Mark::synchronize() const {
  check(cudaEventSynchronize(event_), "cudaEventSynchronize");
}

void Mark::hold(const lanky::Stream& stream) const {
  check(cudaStreamWaitEvent(stream.native(), event_, 0), "cudaStreamWaitEvent");
}
#else
void Mark::record(const lanky::Stream&) {}
void Mark::synchronize() const {}
void Mark::hold(const lanky::Stream&) const {}
#endif

const lanky::Stream& own_stream(lanky::Device device, Urgency urgency) {
  // For as long as the process, since plans hold them.
  static std::map<std::pair<int, Urgency>, lanky::Stream> streams;
  const std::pair key(device.index(), urgency);
  const auto found = streams.find(key);
  if (found != streams.end()) return found->second;
  lanky::Stream stream(device);
#if defined(PETSC_HAVE_CUDA)
  if (urgency == Urgency::urgent) {
    int least = 0, greatest = 0;
    cudaStream_t native = nullptr;
    check(cudaDeviceGetStreamPriorityRange(&least, &greatest), "cudaDeviceGetStreamPriorityRange");
    check(cudaStreamCreateWithPriority(&native, cudaStreamNonBlocking, greatest),
          "cudaStreamCreateWithPriority");
    stream = lanky::Stream::wrap(native, device);
  }
#endif
  return streams.emplace(key, stream).first->second;
}

void order(const lanky::Stream& first, const lanky::Stream& then) {
  static Mark& mark = *new Mark;  // never destroyed: CUDA may be gone by then
  if (first == then) return;
  mark.record(first);
  mark.hold(then);
}

void copy_across(const lanky::Stream& stream, const Element* from, std::int64_t count,
                 Element* to) {
#if defined(PETSC_HAVE_CUDA)
  check(cudaMemcpyAsync(to, from, static_cast<std::size_t>(count) * sizeof(Element),
                        cudaMemcpyDefault, stream.native()),
        "cudaMemcpyAsync");
#else
  (void)stream;
  std::copy_n(from, count, to);
#endif
}

}  // namespace lanky_petsc
