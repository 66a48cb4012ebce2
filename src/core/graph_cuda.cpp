#include <exception>
#include <utility>

#include "core/cuda_check.hpp"
#include "core/graph.hpp"

namespace lanky::runtime {

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

}  // namespace lanky::runtime
