#include "core/cuda_check.hpp"
#include "core/forked.hpp"
#include "core/pinned.hpp"

namespace lanky::runtime {

void* allocate_pinned(std::size_t bytes, int device) {
  const DeviceGuard guard(device);
  void* data = nullptr;
  const cudaError_t status = cudaMallocHost(&data, bytes);
  if (status == cudaErrorMemoryAllocation) {
    cudaGetLastError();
    throw Error(ErrorCode::out_of_memory,
                concat("cannot allocate ", bytes, " bytes of pinned host memory"));
  }
  check_cuda(status, "cudaMallocHost");
  return data;
}

void deallocate_pinned(void* data) noexcept {
  if (is_forked()) return;
  if (cudaFreeHost(data) != cudaSuccess) cudaGetLastError();
}

}  // namespace lanky::runtime
