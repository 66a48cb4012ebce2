#include "core/cuda_check.hpp"
#include "core/pinned.hpp"

namespace lanky::runtime {

void* allocate_pinned(std::size_t bytes, int device) {
  const DeviceGuard guard(device);
  void* data = nullptr;
  check_cuda(cudaMallocHost(&data, bytes), "cudaMallocHost");
  return data;
}

void deallocate_pinned(void* data) noexcept {
  cudaFreeHost(data);
}

}  // namespace lanky::runtime
