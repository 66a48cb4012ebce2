// The arithmetic peak: products on registers alone, nothing loaded in between.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>

#include <algorithm>
#include <lanky/buffer.hpp>

#include "bench/harness/gpu.hpp"
#include "core/cuda_check.hpp"
#include "device/mma.cuh"

namespace lanky::bench::gpu {

namespace {

namespace wmma = nvcuda::wmma;

constexpr int kThreads = 512;
constexpr int kChains = 8;  // independent sums of a thread or warp: they hide the latency

/// Fused multiply-adds of CUDA cores; 2 kChains flops per thread and repeat. factor is 0 at run
/// time, which the compiler does not know; nobody writes a sum.
template <class E>
__global__ void __launch_bounds__(kThreads) fma_peak_kernel(int repeats, E factor, E* never) {
  E sums[kChains];
#pragma unroll
  for (int c = 0; c < kChains; ++c)
    sums[c] = static_cast<E>(threadIdx.x + c);
#pragma unroll 16
  for (int repeat = 0; repeat < repeats; ++repeat) {
#pragma unroll
    for (int c = 0; c < kChains; ++c)
      sums[c] = sums[c] * factor + factor;
  }
  E sum = 0;
#pragma unroll
  for (int c = 0; c < kChains; ++c)
    sum += sums[c];
  if (sum == E(-1)) *never = sum;
}

/// One tensor-core product per warp: its element types and extents.
template <class Operand, class Sum, int kM, int kN, int kK>
struct Tile {
  static constexpr double kFlops = 2.0 * kM * kN * kK;
  using A = wmma::fragment<wmma::matrix_a, kM, kN, kK, Operand, wmma::row_major>;
  using B = wmma::fragment<wmma::matrix_b, kM, kN, kK, Operand, wmma::col_major>;
  using C = wmma::fragment<wmma::accumulator, kM, kN, kK, Sum>;
};

/// kChains products of a tile per warp and repeat.
template <class Product>
__global__ void __launch_bounds__(kThreads)
    mma_peak_kernel(int repeats, float factor, float* never) {
  typename Product::A a;
  typename Product::B b;
  typename Product::C sums[kChains];
  wmma::fill_fragment(a, static_cast<typename Product::A::storage_element_type>(factor));
  wmma::fill_fragment(b, static_cast<typename Product::B::storage_element_type>(factor));
#pragma unroll
  for (int c = 0; c < kChains; ++c) {
    // All different: equal sums, or equal halves of a tile, would be computed once.
    for (int i = 0; i < sums[c].num_elements; ++i)
      sums[c].x[i] = static_cast<float>(c * sums[c].num_elements + i);
  }
#pragma unroll 4
  for (int repeat = 0; repeat < repeats; ++repeat) {
#pragma unroll
    for (auto& sum : sums)
      wmma::mma_sync(sum, a, b, sum);
  }
  float total = 0;
#pragma unroll
  for (auto& sum : sums) {
    for (int i = 0; i < sum.num_elements; ++i)
      total += static_cast<float>(sum.x[i]);
  }
  if (total == -1) *never = total;
}

/// kChains products m16n8k16 of doubles per warp and repeat. factor as above.
__global__ void __launch_bounds__(kThreads)
    f64_peak_kernel(int repeats, double factor, double* never) {
  const double a[8] = {factor, factor, factor, factor, factor, factor, factor, factor};
  const double b[4] = {factor, factor, factor, factor};
  double sums[kChains][4] = {};
  for (int repeat = 0; repeat < repeats; ++repeat) {
#pragma unroll
    for (auto& sum : sums)
      device::mma_m16n8k16(sum, a, b);
  }
  double total = 0;
#pragma unroll
  for (const auto& sum : sums)
    total += sum[0] + sum[1] + sum[2] + sum[3];
  if (total == -1) *never = total;
}

unsigned resident_blocks(const Stream& stream) {
  return static_cast<unsigned>(2 * stream.device().properties().multiprocessors);
}

/// Flops per second of launch(repeats), which computes `flops` per repeat, the best of a few.
template <class Launch>
double best_rate(const Stream& stream, double flops, Launch launch) {
  constexpr double kEnough = 1.5e-3;  // seconds
  int repeats = 256;
  double best = 0;
  for (int attempt = 0; attempt < 6; ++attempt) {
    Event start(stream.device());
    Event end(stream.device());
    start.record(stream);
    launch(repeats);
    check_cuda(cudaGetLastError(), "a kernel of peak.cu");
    end.record(stream);
    end.synchronize();
    const double seconds = Event::elapsed_ms(start, end) * 1e-3;
    if (attempt > 0)
      best = std::max(best, repeats * flops / seconds);  // the first loads the kernel
    if (seconds < kEnough / 2)
      repeats = static_cast<int>(std::clamp(repeats * kEnough / seconds, 256.0, 1e6));
  }
  return best;
}

template <class E>
double fma_rate(const Stream& stream, unsigned blocks) {
  Buffer<E> never(stream, 1);
  return best_rate(stream, 2.0 * kChains * kThreads * blocks, [&](int repeats) {
    fma_peak_kernel<<<blocks, kThreads, 0, stream.native()>>>(repeats, E(0), never.data());
  });
}

template <class Product>
double mma_rate(const Stream& stream, unsigned blocks) {
  Buffer<float> never(stream, 1);
  constexpr double kWarps = kThreads / 32.0;
  return best_rate(stream, Product::kFlops * kChains * kWarps * blocks, [&](int repeats) {
    mma_peak_kernel<Product><<<blocks, kThreads, 0, stream.native()>>>(repeats, 0.0F, never.data());
  });
}

double f64_rate(const Stream& stream, unsigned blocks) {
  constexpr double kFlops = 2.0 * 16 * 8 * 16 * kChains * (kThreads / 32.0);
  const double narrow = std::max(fma_rate<double>(stream, blocks),
                                 mma_rate<Tile<double, double, 8, 8, 4>>(stream, blocks));
  Buffer<double> never(stream, 1);
  const double wide = best_rate(stream, kFlops * blocks, [&](int repeats) {
    f64_peak_kernel<<<blocks, kThreads, 0, stream.native()>>>(repeats, 0.0, never.data());
  });
  return std::max(narrow, wide);
}

}  // namespace

double cuda_core_flops(const Stream& stream, DType dtype) {
  const DeviceGuard device(stream.device().index());
  const unsigned blocks = resident_blocks(stream);
  return dtype == DType::f64 ? fma_rate<double>(stream, blocks) : fma_rate<float>(stream, blocks);
}

double peak_flops(const Stream& stream, const GemmType& type) {
  const DeviceGuard device(stream.device().index());
  const unsigned blocks = resident_blocks(stream);
  switch (type.in) {
    case DType::f64:
    case DType::c128:
      return f64_rate(stream, blocks);
    case DType::f32:
    case DType::c64: {
      if (type.math == Math::ieee) return fma_rate<float>(stream, blocks);
      const double rate = mma_rate<Tile<wmma::precision::tf32, float, 16, 16, 8>>(stream, blocks);
      return type.math == Math::tf32 ? rate : rate / 3;
    }
    case DType::f16:
      return mma_rate<Tile<__half, float, 16, 16, 16>>(stream, blocks);
    case DType::bf16:
      return mma_rate<Tile<__nv_bfloat16, float, 16, 16, 16>>(stream, blocks);
  }
  return 0;
}

}  // namespace lanky::bench::gpu
