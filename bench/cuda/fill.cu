// Benchmark data made in place: each element from its seed and index.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <algorithm>

#include "bench/gpu.hpp"
#include "core/cuda_check.hpp"

namespace lanky::bench::gpu {

namespace {

__device__ void store(double* target, double value) {
  *target = value;
}
template <class E>
__device__ void store(E* target, double value) {
  *target = static_cast<E>(static_cast<float>(value));  // exact: see element()
}

/// Grid-stride over the ld * cols stored elements.
template <class E>
__global__ void fill_kernel(E* data, FillExtent extent, Fill fill, std::uint64_t seed, int bits) {
  const std::int64_t size = extent.ld * extent.cols;
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t s = blockIdx.x * std::int64_t{blockDim.x} + threadIdx.x; s < size;
       s += stride) {
    const std::int64_t i = s % extent.ld;
    const std::int64_t j = s / extent.ld;
    const std::int64_t place = extent.transposed ? j + i * extent.cols : i + j * extent.rows;
    store(data + s, element(i < extent.rows ? fill : Fill::nan, seed, place, bits));
  }
}

template <class E>
void launch(const Stream& stream, DType dtype, void* data, const FillExtent& extent, Fill fill,
            std::uint64_t seed) {
  constexpr int kThreads = 256;
  const std::int64_t size = extent.ld * extent.cols;
  if (size == 0) return;
  const auto blocks =
      static_cast<unsigned>(std::min<std::int64_t>((size + kThreads - 1) / kThreads, 1 << 15));
  fill_kernel<<<blocks, kThreads, 0, stream.native()>>>(static_cast<E*>(data), extent, fill, seed,
                                                        significand_bits(dtype));
  check_cuda(cudaGetLastError(), "fill_kernel");
}

}  // namespace

void fill(const Stream& stream, DType dtype, void* data, const FillExtent& extent, Fill fill,
          std::uint64_t seed) {
  const DeviceGuard device(stream.device().index());
  switch (dtype) {
    case DType::f64:
      return launch<double>(stream, dtype, data, extent, fill, seed);
    case DType::f32:
      return launch<float>(stream, dtype, data, extent, fill, seed);
    case DType::f16:
      return launch<__half>(stream, dtype, data, extent, fill, seed);
    case DType::bf16:
      return launch<__nv_bfloat16>(stream, dtype, data, extent, fill, seed);
    case DType::c64:
    case DType::c128:
      throw Error(ErrorCode::unsupported, "complex operands cannot be filled yet");
  }
}

}  // namespace lanky::bench::gpu
