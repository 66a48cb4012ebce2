#include "bench/harness/gpu.hpp"
#include "core/cuda_check.hpp"

namespace lanky::bench::gpu {

namespace {

/// The pool that cudaMallocAsync takes memory of the stream's device from.
cudaMemPool_t pool_of(const Stream& stream) {
  cudaMemPool_t pool = nullptr;
  check_cuda(cudaDeviceGetMemPool(&pool, stream.device().index()), "cudaDeviceGetMemPool");
  return pool;
}

std::uint64_t attribute(cudaMemPool_t pool, cudaMemPoolAttr which) {
  std::uint64_t value = 0;
  check_cuda(cudaMemPoolGetAttribute(pool, which, &value), "cudaMemPoolGetAttribute");
  return value;
}

}  // namespace

void watch_memory(const Stream& stream) {
  stream.synchronize();  // what was freed is free
  std::uint64_t reset = 0;
  check_cuda(cudaMemPoolSetAttribute(pool_of(stream), cudaMemPoolAttrUsedMemHigh, &reset),
             "cudaMemPoolSetAttribute");
}

std::int64_t transient_bytes(const Stream& stream) {
  stream.synchronize();
  const cudaMemPool_t pool = pool_of(stream);
  const std::uint64_t now = attribute(pool, cudaMemPoolAttrUsedMemCurrent);
  const std::uint64_t most = attribute(pool, cudaMemPoolAttrUsedMemHigh);
  return most > now ? static_cast<std::int64_t>(most - now) : 0;  // reset to 0, not to `now`
}

}  // namespace lanky::bench::gpu
