#include "examples/solvers/replay.hpp"

#include <exception>

#include "examples/support/cuda_status.hpp"

namespace lanky::examples::solvers {

namespace {

class GraphReplay final : public Replay {
 public:
  explicit GraphReplay(cudaGraph_t graph) {
    const cudaError_t status = cudaGraphInstantiate(&executable_, graph, 0);
    cudaGraphDestroy(graph);
    check_cuda(status, "cudaGraphInstantiate");
  }
  GraphReplay(const GraphReplay&) = delete;
  GraphReplay& operator=(const GraphReplay&) = delete;
  ~GraphReplay() override { cudaGraphExecDestroy(executable_); }

  void launch(const Stream& stream) const override {
    check_cuda(cudaGraphLaunch(executable_, stream.native()), "cudaGraphLaunch");
  }

 private:
  cudaGraphExec_t executable_ = nullptr;
};

}  // namespace

std::unique_ptr<Replay> cuda_capture(const Stream& stream, const std::function<void()>& work) {
  check_cuda(cudaSetDevice(stream.device().index()), "cudaSetDevice");
  check_cuda(cudaStreamBeginCapture(stream.native(), cudaStreamCaptureModeThreadLocal),
             "cudaStreamBeginCapture");
  std::exception_ptr failure;  // the stream leaves capture mode whatever happens
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
  return std::make_unique<GraphReplay>(graph);
}

}  // namespace lanky::examples::solvers
