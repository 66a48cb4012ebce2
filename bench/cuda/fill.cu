// Benchmark data made in place: each element from its seed and number.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <algorithm>

#include "bench/harness/gpu.hpp"
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

/// The array in real numbers: `parts` of them make an element.
struct RealArray {
  std::int64_t rows;  // elements along the contiguous direction
  std::int64_t cols;
  std::int64_t ld;  // real numbers from one vector to the next
  bool transposed;
  int parts;
};

/// Grid-stride over the ld * cols stored numbers. The coordinates advance with the stride: a
/// 64-bit division for each number would cost more than all the rest.
template <class E>
__global__ void fill_kernel(E* data, RealArray array, Fill fill, std::uint64_t seed, int bits) {
  const std::int64_t size = array.ld * array.cols;
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  const std::int64_t stride_i = stride % array.ld;
  const std::int64_t stride_j = stride / array.ld;
  const std::int64_t first = blockIdx.x * std::int64_t{blockDim.x} + threadIdx.x;
  std::int64_t i = first % array.ld;  // counts real numbers
  std::int64_t j = first / array.ld;
  for (std::int64_t s = first; s < size; s += stride) {
    const std::int64_t row = i / array.parts;
    const std::int64_t number = array.transposed ? j + row * array.cols : row + j * array.rows;
    const Fill here = row < array.rows ? fill : Fill::nan;
    store(data + s, element(here, seed, number * array.parts + i % array.parts, bits));
    i += stride_i;
    j += stride_j;
    if (i >= array.ld) {
      i -= array.ld;
      ++j;
    }
  }
}

template <class E>
void launch(const Stream& stream, const StoredArray& array, Fill fill, std::uint64_t seed) {
  constexpr int kThreads = 256;
  const int parts = components(array.dtype);
  const RealArray real{array.rows, array.cols, array.ld * parts, array.transposed, parts};
  const std::int64_t size = real.ld * real.cols;
  if (size == 0) return;
  const auto blocks =
      static_cast<unsigned>(std::min<std::int64_t>((size + kThreads - 1) / kThreads, 1 << 14));
  fill_kernel<<<blocks, kThreads, 0, stream.native()>>>(
      static_cast<E*>(array.data), real, fill, seed,
      significand_bits(component_type(array.filled_as())));
  check_cuda(cudaGetLastError(), "fill_kernel");
}

}  // namespace

void fill(const Stream& stream, const StoredArray& array, Fill fill, std::uint64_t seed) {
  const DeviceGuard device(stream.device().index());
  switch (array.dtype) {
    case DType::f64:
    case DType::c128:
      return launch<double>(stream, array, fill, seed);
    case DType::f32:
    case DType::c64:
      return launch<float>(stream, array, fill, seed);
    case DType::f16:
      return launch<__half>(stream, array, fill, seed);
    case DType::bf16:
      return launch<__nv_bfloat16>(stream, array, fill, seed);
  }
}

void zero(const Stream& stream, void* data, std::int64_t bytes) {
  const DeviceGuard device(stream.device().index());
  check_cuda(cudaMemsetAsync(data, 0, static_cast<std::size_t>(bytes), stream.native()),
             "cudaMemsetAsync");
}

void copy(const Stream& stream, void* target, const void* source, std::int64_t bytes) {
  const DeviceGuard device(stream.device().index());
  check_cuda(cudaMemcpyAsync(target, source, static_cast<std::size_t>(bytes),
                             cudaMemcpyDeviceToDevice, stream.native()),
             "cudaMemcpyAsync");
}

}  // namespace lanky::bench::gpu
