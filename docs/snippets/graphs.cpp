// A captured CUDA graph, for docs/guide/graphs_and_streams.md. Needs CUDA's headers and a GPU:
// without a GPU it ends with status 77, which the test counts as skipped.
#include "expect.hpp"

#include <cuda_runtime_api.h>

#include <cstdio>
#include <lanky/cuda.hpp>
#include <lanky/lanky.hpp>
#include <vector>

int main() {
  if (lanky::Device::cuda_count() == 0) {
    std::printf("no GPU: %s\n", lanky::Device::cuda_absence().c_str());
    return 77;
  }
  const auto A = lanky::io::generate<double>("stencil7:20,values=int");
  // begin capture
  cudaStream_t native = nullptr;
  cudaStreamCreate(&native);
  {
    const lanky::Stream stream = lanky::wrap(native);  // of the current device
    const lanky::SparsePlan<double> plan(stream, A.view());
    const auto x = lanky::Buffer<double>::from(stream, std::vector<double>(8000, 1.0));
    const auto alpha = lanky::Buffer<double>::from(stream, std::vector<double>{1.0});
    const auto beta = lanky::Buffer<double>::from(stream, std::vector<double>{1.0});
    lanky::Buffer<double> y(stream, 8000);
    y.fill_zero();

    cudaGraph_t graph = nullptr;
    cudaStreamBeginCapture(native, cudaStreamCaptureModeThreadLocal);
    using Scalar = lanky::Scalar<double>;
    plan.run(stream, Scalar::on_device(alpha.data()), x, Scalar::on_device(beta.data()), y);
    cudaStreamEndCapture(native, &graph);

    cudaGraphExec_t replay = nullptr;
    cudaGraphInstantiate(&replay, graph, 0);
    for (int i = 0; i < 3; ++i)
      cudaGraphLaunch(replay, native);  // y = A x + y, three times
    // end capture
    lanky::Buffer<double> once(stream, 8000);
    plan.run(stream, 3.0, x, 0.0, once);
    expect(once.to_host() == y.to_host());
    cudaGraphExecDestroy(replay);
    cudaGraphDestroy(graph);
  }
  cudaStreamDestroy(native);
}
