#include <cuda_runtime_api.h>

#include <memory>
#include <stdexcept>
#include <string>

#include "endurance/device_side.hpp"

namespace lanky::endurance {

namespace {

void check(cudaError_t status, const char* what) {
  if (status != cudaSuccess)
    throw std::runtime_error(std::string(what) + ": " + cudaGetErrorString(status));
}

}  // namespace

std::function<void()> replayed(const Stream& stream, const std::function<void()>& work) {
  if (!stream.device().is_cuda()) return work;
  cudaGraph_t graph = nullptr;
  check(cudaStreamBeginCapture(stream.native(), cudaStreamCaptureModeThreadLocal),
        "cudaStreamBeginCapture");
  work();
  check(cudaStreamEndCapture(stream.native(), &graph), "cudaStreamEndCapture");
  cudaGraphExec_t executable = nullptr;
  check(cudaGraphInstantiate(&executable, graph, 0), "cudaGraphInstantiate");
  cudaGraphDestroy(graph);
  const std::shared_ptr<CUgraphExec_st> owner(executable, cudaGraphExecDestroy);
  return
      [owner, stream] { check(cudaGraphLaunch(owner.get(), stream.native()), "cudaGraphLaunch"); };
}

std::int64_t device_bytes(const Stream& stream) {
  if (!stream.device().is_cuda()) return 0;
  stream.synchronize();
  cudaMemPool_t pool = nullptr;
  check(cudaDeviceGetDefaultMemPool(&pool, stream.device().index()), "cudaDeviceGetDefaultMemPool");
  check(cudaMemPoolTrimTo(pool, 0), "cudaMemPoolTrimTo");
  std::size_t free_bytes = 0;
  std::size_t total_bytes = 0;
  check(cudaMemGetInfo(&free_bytes, &total_bytes), "cudaMemGetInfo");
  return static_cast<std::int64_t>(total_bytes - free_bytes);
}

}  // namespace lanky::endurance
