// The end of a gram product: C[m, n] = alpha (sum of partials[walker][n][m] over the walkers) +
// beta C, by a kernel of its own or by the last block of the one before, in the same order.
#pragma once

#include <type_traits>

#include "dense/cuda/epilogue.cuh"
#include "dense/cuda/gram/arguments.cuh"
#include "device/arrival.cuh"
#include "device/grid_dependency.cuh"

namespace lanky::dense::cuda {

inline constexpr int kGramSumThreads = 256;

/// What partial sums are added in: floats in double, for those of all walkers make the largest
/// errors (k = 1e7, 4 columns, zero-mean: 1.3e-10 in float, where pairwise summation has 0.8e-10).
template <class Acc>
struct GramTotalOf {
  using Type = Acc;
};
template <>
struct GramTotalOf<float> {
  using Type = double;
};
template <>
struct GramTotalOf<device::Complex<float>> {
  using Type = device::Complex<double>;
};
template <class T>
using GramTotal = typename GramTotalOf<device::DeviceAccumulator<T>>::Type;
/// One of each thread that adds partial sums.
template <class T>
using GramWarpTotals = GramTotal<T>[kGramSumThreads / 32][32];

/// A partial sum, past the first cache, which may hold what stood there before; 0 where there is
/// none.
template <class Acc>
__device__ Acc load_partial(const Acc* source, bool exists) {
  Acc sum = 0;
  if (exists) sum = __ldcg(source);
  return sum;
}
template <class Real>
__device__ device::Complex<Real> load_partial(const device::Complex<Real>* source, bool exists) {
  using Word = std::conditional_t<sizeof(Real) == 4, float2, double2>;
  Word word{};
  if (exists) word = __ldcg(reinterpret_cast<const Word*>(source));
  return {word.x, word.y};
}

/// What a thread adds of a block's 2^g.sum_columns_log2 neighbouring elements of [n][m]: of one
/// element every parts-th partial sum. All that does not depend on them is computed before they are
/// waited for, and the code after that is kept short, for it is fetched when it is needed (H200:
/// 200 instructions more took .4 us).
template <class T>
class PartialSums {
 public:
  using Acc = device::DeviceAccumulator<T>;

  __device__ PartialSums(const GramArguments<T>& g, unsigned first)
      : columns_(1 << g.sum_columns_log2), parts_(kGramSumThreads >> g.sum_columns_log2) {
    const unsigned thread = threadIdx.x;
    const unsigned element = first + (thread & static_cast<unsigned>(columns_ - 1));
    const unsigned elements = static_cast<unsigned>(g.m * g.n);
    exists_ = thread < kGramSumThreads && element < elements;
    const unsigned j = element / static_cast<unsigned>(g.m);
    at_ = (element - j * g.m) * g.c_strides.row + j * g.c_strides.col;
    walker_ = exists_ ? static_cast<int>(thread >> g.sum_columns_log2) : g.walkers;
    stride_ = std::int64_t{parts_} * elements;
    source_ = g.partials + std::int64_t{walker_} * elements + element;
  }

  __device__ void add(const GramArguments<T>& g, GramWarpTotals<T>& shared) {
    constexpr int kBatch = 9;  // loads in flight: one wait for most
    const int thread = static_cast<int>(threadIdx.x);
    GramTotal<T> sum = 0;
#pragma unroll 1
    for (int w = walker_; w < g.walkers; w += kBatch * parts_) {
      Acc terms[kBatch];
#pragma unroll
      for (int t = 0; t < kBatch; ++t) {
        terms[t] = load_partial(source_, w + t * parts_ < g.walkers);
        source_ += stride_;
      }
#pragma unroll
      for (const Acc& term : terms)
        sum += static_cast<GramTotal<T>>(term);
    }
#pragma unroll 1
    for (int offset = columns_; offset < 32; offset *= 2)
      sum += device::shuffle_xor(sum, offset);
    if (thread < kGramSumThreads) shared[thread / 32][thread % 32] = sum;
    __syncthreads();  // the warps' sums are written before they are added
    if (!exists_ || thread >= columns_) return;
    sum = 0;
#pragma unroll 1
    for (int warp = thread / 32; warp < kGramSumThreads / 32; warp += (columns_ + 31) / 32)
      sum += shared[warp][thread % 32];
    const Epilogue<Acc> epilogue(1, g.alpha, g.beta);  // the sums are 0 where k is
    epilogue.template store<device::DeviceElement<T>>(g.c, g.c_is_wide, at_, static_cast<Acc>(sum));
  }

 private:
  int columns_;
  int parts_;
  bool exists_;
  int walker_;
  std::int64_t stride_;
  std::int64_t at_;  // of the element in C
  const Acc* source_;
};

template <class T>
__global__ __launch_bounds__(kGramSumThreads) void gram_sum_kernel(GramArguments<T> g) {
  __shared__ GramWarpTotals<T> shared;
  device::let_next_kernel_start();
  PartialSums<T> sums(g, blockIdx.x << g.sum_columns_log2);
  device::wait_for_kernel_ahead();
  sums.add(g, shared);
}

/// True in the block that comes last. What all blocks wrote before is visible to it; `arrivals` is
/// zero again.
__device__ inline bool is_last_block(unsigned* arrivals) {
  __shared__ bool last;
  __syncthreads();  // every thread's partials are written
  if (threadIdx.x == 0) last = device::arrive_at(arrivals, gridDim.x);
  __syncthreads();  // `last` is written before it is read
  return last;
}

/// The end of a block that has left its partial sums.
template <class T>
__device__ void sum_in_last_block(const GramArguments<T>& g, GramWarpTotals<T>& shared) {
  if (g.arrivals == nullptr) return;
  PartialSums<T> sums(g, 0);
  if (is_last_block(g.arrivals)) sums.add(g, shared);
}

}  // namespace lanky::dense::cuda
