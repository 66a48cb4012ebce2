// Errors of CUDA's runtime as lanky::Error.
#pragma once

#include <cuda_runtime_api.h>

#include <lanky/error.hpp>
#include <string>

namespace lanky::examples::solvers {

inline void check_cuda(cudaError_t status, const char* what) {
  if (status == cudaSuccess) return;
  cudaGetLastError();  // the next call is not to report this one
  const bool memory = status == cudaErrorMemoryAllocation;
  throw Error(memory ? ErrorCode::out_of_memory : ErrorCode::device,
              std::string(what) + ": " + cudaGetErrorString(status));
}

}  // namespace lanky::examples::solvers
