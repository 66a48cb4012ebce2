#include <exception>

#include "core/cuda_check.hpp"
#include "core/forked.hpp"
#include "core/graph.hpp"
#include "core/launches.hpp"

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

void destroy(cudaGraphExec_t executable) {
  if (is_forked()) return;
  if (cudaGraphExecDestroy(executable) != cudaSuccess) cudaGetLastError();
}

}  // namespace

Graph::Graph(const Stream& stream, const std::function<void()>& work)
    : executable_(nullptr, destroy) {
  const DeviceGuard device(stream.device().index());
  cudaGraph_t graph = capture(stream, work);
  cudaGraphExec_t executable = nullptr;
  const cudaError_t status = cudaGraphInstantiate(&executable, graph, 0);
  cudaGraphDestroy(graph);
  check_cuda(status, "cudaGraphInstantiate");
  executable_.reset(executable);
}

void Graph::launch(const Stream& stream) const {
  note_launch(stream.native());
  check_cuda(cudaGraphLaunch(executable_.get(), stream.native()), "cudaGraphLaunch");
}

}  // namespace lanky::runtime
