// By the CUDA runtime itself.
#include <cuda_runtime_api.h>

#include <cstring>
#include <lanky/error.hpp>
#include <string>

#include "random/device_work.hpp"

namespace lanky::random_cases {

namespace {
void check(cudaError_t status) {
  if (status != cudaSuccess) throw Error(ErrorCode::device, cudaGetErrorString(status));
}
}  // namespace

void upload(const Stream& stream, void* device, const void* host, std::size_t bytes) {
  if (bytes == 0) return;
  if (!stream.device().is_cuda()) {
    std::memcpy(device, host, bytes);
  } else {
    // Pageable memory has been read when the call returns.
    check(cudaMemcpyAsync(device, host, bytes, cudaMemcpyHostToDevice, stream.native()));
  }
}

void download(const Stream& stream, void* host, const void* device, std::size_t bytes) {
  if (bytes > 0 && !stream.device().is_cuda()) std::memcpy(host, device, bytes);
  if (!stream.device().is_cuda()) return;
  if (bytes > 0)
    check(cudaMemcpyAsync(host, device, bytes, cudaMemcpyDeviceToHost, stream.native()));
  check(cudaStreamSynchronize(stream.native()));
}

Captured::Captured(const Stream& stream, const std::function<void()>& work) {
  // Other threads may do what they like meanwhile.
  check(cudaStreamBeginCapture(stream.native(), cudaStreamCaptureModeThreadLocal));
  cudaGraph_t graph = nullptr;
  try {
    work();
  } catch (...) {
    cudaStreamEndCapture(stream.native(), &graph);
    if (graph != nullptr) cudaGraphDestroy(graph);
    throw;
  }
  check(cudaStreamEndCapture(stream.native(), &graph));
  const cudaError_t status = cudaGraphInstantiate(&executable_, graph, 0);
  cudaGraphDestroy(graph);
  check(status);
}

Captured::~Captured() {
  if (executable_ != nullptr) cudaGraphExecDestroy(executable_);
}

void Captured::launch(const Stream& stream) const {
  check(cudaGraphLaunch(executable_, stream.native()));
}

}  // namespace lanky::random_cases
