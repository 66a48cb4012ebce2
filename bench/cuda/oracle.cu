// The judgement of a dense product where its operands are: references at sampled places, the
// results there, and a count of what was left unwritten. Compiled without contraction to fused
// multiply-adds, which InnerProduct does not allow.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <algorithm>
#include <lanky/buffer.hpp>

#include "bench/harness/gpu.hpp"
#include "core/cuda_check.hpp"
#include "device/element.cuh"

namespace lanky::bench::gpu {

namespace {

constexpr int kThreads = 512;

/// `width` neighbouring threads (a divisor of kThreads) sum the terms of one place, each every
/// width-th; the first of them adds their sums in order. sums: [kThreads] in shared memory.
__global__ void __launch_bounds__(kThreads)
    reference_kernel(DenseData data, const Place* places, std::int64_t count, int width,
                     Reference* references) {
  __shared__ __align__(16) unsigned char raw[kThreads * sizeof(InnerProduct)];
  auto* sums = reinterpret_cast<InnerProduct*>(raw);
  const int member = static_cast<int>(threadIdx.x) % width;
  const std::int64_t p =
      blockIdx.x * std::int64_t{kThreads / width} + static_cast<int>(threadIdx.x) / width;
  InnerProduct sum;
  if (p < count) {
    for (std::int64_t t = member; t < data.terms(); t += width)
      data.add_term(sum, places[p], t);
  }
  sums[threadIdx.x] = sum;
  __syncthreads();  // before the sums of other threads are read
  if (p >= count || member != 0) return;
  for (int other = 1; other < width; ++other)
    sum.add(sums[threadIdx.x + other]);
  references[p] = data.finish(sum, places[p]);
}

template <class E>
__global__ void gather_kernel(const E* data, const std::int64_t* offsets, std::int64_t count,
                              double* values) {
  const std::int64_t p = blockIdx.x * std::int64_t{kThreads} + threadIdx.x;
  if (p < count) values[p] = device::widen(data[offsets[p]]);
}

/// One block strides over whole vectors of the array, all threads along the contiguous direction
/// where that is long, over several vectors at once where it is short. `pitch`: threads on one
/// vector, a divisor of kThreads.
template <class E>
__global__ void __launch_bounds__(kThreads)
    count_nan_kernel(const E* data, StoredArray array, int parts, int pitch, bool lower,
                     unsigned long long* total) {
  const std::int64_t vectors = kThreads / pitch;
  const int lane = static_cast<int>(threadIdx.x) % pitch;
  unsigned long long found = 0;
  for (std::int64_t j = blockIdx.x * vectors + threadIdx.x / pitch; j < array.cols;
       j += gridDim.x * vectors) {
    for (std::int64_t i = lane + blockIdx.y * std::int64_t{pitch}; i < array.rows;
         i += std::int64_t{pitch} * gridDim.y) {
      if (lower && (array.transposed ? i > j : j > i)) continue;
      bool nan = false;
      for (int part = 0; part < parts; ++part) {
        const double value = device::widen(data[(i + j * array.ld) * parts + part]);
        nan = nan || value != value;
      }
      found += nan ? 1 : 0;
    }
  }
  if (found > 0) atomicAdd(total, found);
}

/// f(data) with the array's data as E*, E the real type behind its elements.
template <class F>
void with_reals(const StoredArray& array, F f) {
  switch (component_type(array.dtype)) {
    case DType::f64:
      return f(static_cast<const double*>(array.data));
    case DType::f32:
      return f(static_cast<const float*>(array.data));
    case DType::f16:
      return f(static_cast<const __half*>(array.data));
    default:
      return f(static_cast<const __nv_bfloat16*>(array.data));
  }
}

unsigned blocks_for(std::int64_t count, std::int64_t per_block) {
  return static_cast<unsigned>((count + per_block - 1) / per_block);
}

}  // namespace

std::vector<Reference> references(const Stream& stream, const DenseData& data,
                                  std::span<const Place> places) {
  if (places.empty()) return {};
  constexpr std::int64_t kLong = 4096;  // terms; 24 places of them must not run on 24 warps
  const DeviceGuard device(stream.device().index());
  const auto count = static_cast<std::int64_t>(places.size());
  const int width = data.terms() > kLong ? kThreads : data.terms() > 32 ? 32 : 1;
  const Buffer<Place> where = Buffer<Place>::from(stream, places);
  Buffer<Reference> references(stream, count);
  reference_kernel<<<blocks_for(count, kThreads / width), kThreads, 0, stream.native()>>>(
      data, where.data(), count, width, references.data());
  check_cuda(cudaGetLastError(), "reference_kernel");
  return references.to_host();
}

std::vector<double> gather(const Stream& stream, const StoredArray& array,
                           std::span<const std::int64_t> offsets) {
  if (offsets.empty()) return {};
  const DeviceGuard device(stream.device().index());
  const auto count = static_cast<std::int64_t>(offsets.size());
  const Buffer<std::int64_t> where = Buffer<std::int64_t>::from(stream, offsets);
  Buffer<double> values(stream, count);
  with_reals(array, [&](const auto* data) {
    gather_kernel<<<blocks_for(count, kThreads), kThreads, 0, stream.native()>>>(
        data, where.data(), count, values.data());
  });
  check_cuda(cudaGetLastError(), "gather_kernel");
  return values.to_host();
}

std::int64_t count_nan(const Stream& stream, const StoredArray& array, bool lower) {
  if (array.rows == 0 || array.cols == 0) return 0;
  const DeviceGuard device(stream.device().index());
  Buffer<unsigned long long> total(stream, 1);
  total.fill_zero();
  int pitch = 1;
  while (pitch < kThreads && pitch < array.rows)
    pitch *= 2;
  const dim3 grid(std::min(blocks_for(array.cols, kThreads / pitch), 4096U),
                  std::min(blocks_for(array.rows, pitch * 16LL), 256U));
  with_reals(array, [&](const auto* data) {
    count_nan_kernel<<<grid, kThreads, 0, stream.native()>>>(data, array, components(array.dtype),
                                                             pitch, lower, total.data());
  });
  check_cuda(cudaGetLastError(), "count_nan_kernel");
  return static_cast<std::int64_t>(total.to_host()[0]);
}

}  // namespace lanky::bench::gpu
