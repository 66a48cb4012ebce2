#include "core/code_target_kernel.hpp"

#include <cuda_runtime.h>

namespace lanky::runtime {

namespace {

/// One warp; each thread leaves a word.
__global__ void code_target_kernel(std::uint32_t question, CodeWord* words) {
  CodeWord word{code_answer(question, threadIdx.x), 0, 0};
#ifdef __CUDA_ARCH__
  word.architecture = __CUDA_ARCH__;
#endif
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  word.warp_groups = 1;
#endif
  words[threadIdx.x] = word;
}

}  // namespace

int start_code_kernel(std::uint32_t question, CodeWord* words, CUstream_st* stream) noexcept {
  code_target_kernel<<<1, kCodeThreads, 0, stream>>>(question, words);
  return cudaGetLastError();
}

}  // namespace lanky::runtime
