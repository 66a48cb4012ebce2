#include "sparse/cpu/chunk_kernels.hpp"

namespace lanky::sparse::cpu {

namespace {

const ChunkKernels& kernels_of_this_processor() {
#if LANKY_X86_64
  const bool has_avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  if (has_avx2 && __builtin_cpu_supports("avx512f")) return avx512::chunk_kernels;
  if (has_avx2) return avx2::chunk_kernels;
#endif
  return baseline::chunk_kernels;
}

}  // namespace

const ChunkKernels& chunk_kernels() {
  static const ChunkKernels& instance = kernels_of_this_processor();
  return instance;
}

}  // namespace lanky::sparse::cpu
