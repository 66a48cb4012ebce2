#include <fstream>

#include "bench/harness/gpu.hpp"
#include "core/cuda_check.hpp"

namespace lanky::bench::gpu {

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
