// By the CUDA runtime itself: lanky's public API has no graphs.
#include <cuda_runtime_api.h>

#include <lanky/error.hpp>
#include <string>

#include "random/capture.hpp"

namespace lanky::random_cases {

namespace {
void check(cudaError_t status) {
  if (status != cudaSuccess)
    throw Error(ErrorCode::device, std::string("a graph: ") + cudaGetErrorString(status));
}
}  // namespace

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
