#include <exception>
#include <fstream>
#include <utility>

#include "bench/gpu.hpp"
#include "core/cuda_check.hpp"

namespace lanky::bench::gpu {

namespace {

/// Captures `work`; the stream leaves capture mode whatever happens.
cudaGraph_t capture(const Stream& stream, const std::function<void()>& work) {
  check_cuda(cudaStreamBeginCapture(stream.native(), cudaStreamCaptureModeThreadLocal),
             "cudaStreamBeginCapture");
  std::exception_ptr failure;
  try {
    work();
  } catch (...) {
    failure = std::current_exception();
  }
  cudaGraph_t graph = nullptr;
  const cudaError_t status = cudaStreamEndCapture(stream.native(), &graph);
  if (failure) {
    if (graph != nullptr) cudaGraphDestroy(graph);
    cudaGetLastError();
    std::rethrow_exception(failure);
  }
  check_cuda(status, "cudaStreamEndCapture");
  return graph;
}

}  // namespace

Graph::Graph(const Stream& stream, const std::function<void()>& work) {
  const DeviceGuard device(stream.device().index());
  cudaGraph_t graph = capture(stream, work);
  const cudaError_t status = cudaGraphInstantiate(&executable_, graph, 0);
  cudaGraphDestroy(graph);
  check_cuda(status, "cudaGraphInstantiate");
}

Graph::Graph(Graph&& other) noexcept : executable_(std::exchange(other.executable_, nullptr)) {}

Graph& Graph::operator=(Graph&& other) noexcept {
  std::swap(executable_, other.executable_);
  return *this;
}

Graph::~Graph() {
  if (executable_ != nullptr) cudaGraphExecDestroy(executable_);
}

void Graph::launch(const Stream& stream) const {
  check_cuda(cudaGraphLaunch(executable_, stream.native()), "cudaGraphLaunch");
}

std::string runtime_version() {
  int version = 0;
  check_cuda(cudaRuntimeGetVersion(&version), "cudaRuntimeGetVersion");
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

std::string driver_version() {
  // "NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.95.05  Tue ..." (or "... for x86_64 ...")
  std::ifstream file("/proc/driver/nvidia/version");
  for (std::string word; file >> word;) {
    if (!word.empty() && word[0] >= '0' && word[0] <= '9' && word.find('.') != std::string::npos)
      return word;
  }
  int version = 0;
  cudaDriverGetVersion(&version);
  return "for CUDA " + std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

}  // namespace lanky::bench::gpu
