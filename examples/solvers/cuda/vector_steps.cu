// The vector passes on a GPU: grids whose size depends on n alone, 16 bytes a load, and sums by the
// block that arrives last. All are launched as programmatic dependents, so that a launch costs no
// time between two kernels.
#include <cuda_runtime.h>

#include "examples/solvers/vector_steps.hpp"
#include "examples/support/cuda_status.hpp"

namespace lanky::examples::solvers {

namespace {

constexpr int kThreads = 256;     // of a block
constexpr int kMostBlocks = 528;  // four on each multiprocessor of an H200
constexpr int kWarps = kThreads / 32;
constexpr int kMostSums = 2;

/// 16 bytes of a vector.
template <class T>
struct alignas(16) Pack {
  static constexpr int kCount = 16 / sizeof(T);
  T at[kCount];
};

template <class T>
__device__ Pack<T> load(const T* vector, std::int64_t pack) {
  return reinterpret_cast<const Pack<T>*>(vector)[pack];
}

template <class T>
__device__ void store(T* vector, std::int64_t pack, const Pack<T>& value) {
  reinterpret_cast<Pack<T>*>(vector)[pack] = value;
}

/// Where the blocks of a grid meet.
struct Meeting {
  double* partials;    // [kMostSums, kMostBlocks]
  unsigned* arrivals;  // one, zero between kernels
};

/// Calls f(pack) for all packs of n elements, a thread's in ascending order.
template <class T, class F>
__device__ void for_each_pack(std::int64_t n, const F& f) {
  const std::int64_t packs = (n + Pack<T>::kCount - 1) / Pack<T>::kCount;
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * kThreads;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x; i < packs;
       i += stride) {
    f(i);
  }
}

/// Waits for the kernel ahead, after which the next may start; true where there is work to do. All
/// threads of all blocks read the state before any block arrives, and the last to arrive sets it.
template <class Scalars>
__device__ bool begin(const Scalars* scalars) {
#if __CUDA_ARCH__ >= 900
  cudaGridDependencySynchronize();
  cudaTriggerProgrammaticLaunchCompletion();
#endif
  return scalars->state == State::running;
}

/// Sums over a block, in its thread 0. Shared: a sum of each warp.
template <int kSums>
__device__ void sum_over_block(double (&sums)[kSums]) {
  __shared__ double of_warps[kSums][kWarps];
#pragma unroll
  for (int s = 0; s < kSums; ++s) {
    for (int offset = 16; offset > 0; offset /= 2)
      sums[s] += __shfl_down_sync(~0U, sums[s], offset);
    if (threadIdx.x % 32 == 0) of_warps[s][threadIdx.x / 32] = sums[s];
  }
  __syncthreads();  // thread 0 reads what the warps wrote
  if (threadIdx.x == 0) {
    for (int s = 0; s < kSums; ++s) {
      sums[s] = 0;
      for (int w = 0; w < kWarps; ++w)
        sums[s] += of_warps[s][w];
    }
  }
  __syncthreads();  // a second call writes what thread 0 has read
}

/// Sums over the grid; true in thread 0 of the block that arrives last, which alone has them. It
/// adds the blocks' sums in the order of their numbers, whichever block it is.
template <int kSums>
__device__ bool sum_over_grid(double (&sums)[kSums], const Meeting& meeting) {
  static_assert(kSums <= kMostSums);
  __shared__ bool last;
  sum_over_block(sums);
  if (threadIdx.x == 0) {
    for (int s = 0; s < kSums; ++s)
      __stcg(meeting.partials + s * kMostBlocks + blockIdx.x, sums[s]);
    __threadfence();  // who sees the arrival sees the sums
    last = atomicAdd(meeting.arrivals, 1U) == gridDim.x - 1;
    __threadfence();  // and reads them after it
  }
  __syncthreads();  // all threads read what thread 0 found, and follow its fence
  if (!last) return false;
  for (int s = 0; s < kSums; ++s) {
    sums[s] = 0;
    for (unsigned b = threadIdx.x; b < gridDim.x; b += kThreads)
      sums[s] += __ldcg(meeting.partials + s * kMostBlocks + b);
  }
  sum_over_block(sums);
  if (threadIdx.x != 0) return false;
  *meeting.arrivals = 0;  // for the next kernel
  return true;
}

template <class T>
__device__ Pack<T> preconditioned(const CgVectors<T>& v, std::int64_t pack, Pack<T> r) {
  if (v.inverse_diagonal != nullptr) {
    const Pack<T> inverse = load(v.inverse_diagonal, pack);
    for (int e = 0; e < Pack<T>::kCount; ++e)
      r.at[e] *= inverse.at[e];
  }
  return r;
}

// Work of all kernels below: a thread takes every (blocks * 256)-th pack of 16 bytes, a warp 512
// bytes at a time. Shared memory: that of the sums, at most 136 bytes.

template <class T>
__global__ void __launch_bounds__(kThreads) cg_dot_kernel(CgVectors<T> v, Meeting meeting) {
  if (!begin(v.scalars)) return;
  double sums[1] = {0};
  for_each_pack<T>(v.size, [&](std::int64_t i) {
    const Pack<T> p = load(v.p, i);
    const Pack<T> q = load(v.q, i);
    for (int e = 0; e < Pack<T>::kCount; ++e)
      sums[0] += static_cast<double>(p.at[e]) * static_cast<double>(q.at[e]);
  });
  if (sum_over_grid(sums, meeting)) v.scalars->after_dot(sums[0]);
}

template <class T>
__global__ void __launch_bounds__(kThreads) cg_step_kernel(CgVectors<T> v, Meeting meeting) {
  if (!begin(v.scalars)) return;
  const T alpha = static_cast<T>(v.scalars->alpha);
  double sums[2] = {0, 0};
  for_each_pack<T>(v.size, [&](std::int64_t i) {
    Pack<T> x = load<T>(v.x, i);
    Pack<T> r = load<T>(v.r, i);
    const Pack<T> p = load<T>(v.p, i);
    const Pack<T> q = load(v.q, i);
    for (int e = 0; e < Pack<T>::kCount; ++e) {
      x.at[e] += alpha * p.at[e];
      r.at[e] -= alpha * q.at[e];
    }
    store(v.x, i, x);
    store(v.r, i, r);
    const Pack<T> z = preconditioned(v, i, r);
    for (int e = 0; e < Pack<T>::kCount; ++e) {
      const auto value = static_cast<double>(r.at[e]);
      sums[0] += value * value;
      sums[1] += value * static_cast<double>(z.at[e]);
    }
  });
  if (sum_over_grid(sums, meeting)) v.scalars->after_step(sums[0], sums[1]);
}

template <class T>
__global__ void __launch_bounds__(kThreads) cg_direction_kernel(CgVectors<T> v) {
  if (!begin(v.scalars)) return;
  const T beta = static_cast<T>(v.scalars->beta);
  for_each_pack<T>(v.size, [&](std::int64_t i) {
    Pack<T> p = load<T>(v.p, i);
    const Pack<T> z = preconditioned(v, i, load<T>(v.r, i));
    for (int e = 0; e < Pack<T>::kCount; ++e)
      p.at[e] = z.at[e] + beta * p.at[e];
    store(v.p, i, p);
  });
}

template <class T>
__global__ void __launch_bounds__(kThreads)
    pagerank_step_kernel(PageRankVectors<T> v, Meeting meeting) {
  if (!begin(v.scalars)) return;
  const T base = static_cast<T>(v.scalars->base);
  double sums[2] = {0, 0};
  for_each_pack<T>(v.size, [&](std::int64_t i) {
    Pack<T> x = load<T>(v.x, i);
    const Pack<T> y = load(v.y, i);
    for (int e = 0; e < Pack<T>::kCount; ++e) {
      const std::int64_t node = i * Pack<T>::kCount + e;
      if (node >= v.size) break;  // what is past the end stays zero
      const T rank = y.at[e] + base;
      sums[0] += fabs(static_cast<double>(rank) - static_cast<double>(x.at[e]));
      if (v.dangling[node] != 0) sums[1] += static_cast<double>(rank);
      x.at[e] = rank;
    }
    store(v.x, i, x);
  });
  if (sum_over_grid(sums, meeting)) v.scalars->after_step(sums[0], sums[1]);
}

template <class T>
__global__ void __launch_bounds__(kThreads)
    eigen_product_kernel(EigenVectors<T> v, Meeting meeting) {
  if (!begin(v.scalars)) return;
  double sums[2] = {0, 0};
  for_each_pack<T>(v.size, [&](std::int64_t i) {
    const Pack<T> x = load<T>(v.x, i);
    const Pack<T> y = load(v.y, i);
    for (int e = 0; e < Pack<T>::kCount; ++e) {
      const auto value = static_cast<double>(y.at[e]);
      sums[0] += static_cast<double>(x.at[e]) * value;
      sums[1] += value * value;
    }
  });
  if (sum_over_grid(sums, meeting)) v.scalars->after_product(sums[0], sqrt(sums[1]));
}

template <class T>
__global__ void __launch_bounds__(kThreads) eigen_step_kernel(EigenVectors<T> v, Meeting meeting) {
  if (!begin(v.scalars)) return;
  const double lambda = v.scalars->lambda;
  const double scale = 1 / v.scalars->norm;
  double sums[1] = {0};
  for_each_pack<T>(v.size, [&](std::int64_t i) {
    Pack<T> x = load<T>(v.x, i);
    const Pack<T> y = load(v.y, i);
    for (int e = 0; e < Pack<T>::kCount; ++e) {
      const auto value = static_cast<double>(y.at[e]);
      const double off = value - lambda * static_cast<double>(x.at[e]);
      sums[0] += off * off;
      x.at[e] = static_cast<T>(value * scale);
    }
    store(v.x, i, x);
  });
  if (sum_over_grid(sums, meeting)) v.scalars->after_step(sqrt(sums[0]));
}

template <class T>
class CudaVectorSteps final : public VectorSteps<T> {
 public:
  explicit CudaVectorSteps(const Stream& stream)
      : stream_(stream),
        partials_(stream, kMostSums * static_cast<std::int64_t>(kMostBlocks)),
        arrivals_(stream, 1),
        meeting_{partials_.data(), arrivals_.data()} {
    arrivals_.fill_zero();
    load_kernels(cg_dot_kernel<T>, cg_step_kernel<T>, cg_direction_kernel<T>,
                 pagerank_step_kernel<T>, eigen_product_kernel<T>, eigen_step_kernel<T>);
  }

  void cg_dot(const CgVectors<T>& v) const override { launch(cg_dot_kernel<T>, v, meeting_); }
  void cg_step(const CgVectors<T>& v) const override { launch(cg_step_kernel<T>, v, meeting_); }
  void cg_direction(const CgVectors<T>& v) const override { launch(cg_direction_kernel<T>, v); }
  void pagerank_step(const PageRankVectors<T>& v) const override {
    launch(pagerank_step_kernel<T>, v, meeting_);
  }
  void eigen_product(const EigenVectors<T>& v) const override {
    launch(eigen_product_kernel<T>, v, meeting_);
  }
  void eigen_step(const EigenVectors<T>& v) const override {
    launch(eigen_step_kernel<T>, v, meeting_);
  }

 private:
  /// CUDA would load them at their first launch, which may be captured.
  template <class... Kernels>
  void load_kernels(Kernels*... kernels) {
    check_cuda(cudaSetDevice(stream_.device().index()), "cudaSetDevice");
    cudaFuncAttributes attributes{};
    (check_cuda(cudaFuncGetAttributes(&attributes, reinterpret_cast<const void*>(kernels)),
                "cudaFuncGetAttributes"),
     ...);
    dependent_ = attributes.ptxVersion >= 90;  // begin() waits in such code
  }

  template <class Vectors, class... More>
  void launch(void (*kernel)(Vectors, More...), const Vectors& v, const More&... more) const {
    constexpr std::int64_t kElements = static_cast<std::int64_t>(kThreads) * Pack<T>::kCount;
    const std::int64_t blocks = (v.size + kElements - 1) / kElements;
    cudaLaunchAttribute attribute{};
    attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attribute.val.programmaticStreamSerializationAllowed = 1;
    cudaLaunchConfig_t config{};
    config.gridDim = dim3(blocks < 1 ? 1 : blocks > kMostBlocks ? kMostBlocks : blocks);
    config.blockDim = dim3(kThreads);
    config.stream = stream_.native();
    config.attrs = &attribute;
    config.numAttrs = dependent_ ? 1 : 0;
    check_cuda(cudaSetDevice(stream_.device().index()), "cudaSetDevice");
    check_cuda(cudaLaunchKernelEx(&config, kernel, v, more...), "cudaLaunchKernelEx");
  }

  Stream stream_;
  Buffer<double> partials_;
  Buffer<unsigned> arrivals_;
  Meeting meeting_;
  bool dependent_ = false;
};

}  // namespace

template <class T>
std::unique_ptr<VectorSteps<T>> cuda_vector_steps(const Stream& stream) {
  return std::make_unique<CudaVectorSteps<T>>(stream);
}

template std::unique_ptr<VectorSteps<double>> cuda_vector_steps(const Stream&);
template std::unique_ptr<VectorSteps<float>> cuda_vector_steps(const Stream&);

}  // namespace lanky::examples::solvers
