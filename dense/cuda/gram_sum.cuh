// The end of a gram product: C[m, n] = alpha (sum of partials[walker][n][m] over the walkers) +
// beta C, by a kernel of its own or by the last block of the one before. Either way an element's 32
// slices (every 32nd walker each) are summed first, then added in order: equal bits.
#pragma once

#include <type_traits>

#include "dense/cuda/gram_arguments.cuh"
#include "device/grid_dependency.cuh"

namespace lanky::dense::cuda {

inline constexpr int kGramSumSlices = 32;
inline constexpr int kGramSumThreads = 256;
inline constexpr int kGramSumElements = 8;  // of C, per block of gram_sum_kernel

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

__device__ inline double total_of(float sum) {
  return sum;
}
__device__ inline double total_of(double sum) {
  return sum;
}
template <class Real>
__device__ device::Complex<double> total_of(device::Complex<Real> sum) {
  return {sum.re, sum.im};
}

template <class Acc, class Total>
__device__ Acc rounded_total(Total total) {
  if constexpr (std::is_same_v<Acc, device::Complex<float>>) {
    return {static_cast<float>(total.re), static_cast<float>(total.im)};
  } else {
    return static_cast<Acc>(total);
  }
}

/// C(i, j) = alpha sum + beta C(i, j) for element = j * m + i; what has the factor zero is not
/// looked at.
template <class T>
__device__ void store_element(const GramArguments<T>& g, int element,
                              device::DeviceAccumulator<T> sum) {
  using Acc = device::DeviceAccumulator<T>;
  using E = device::DeviceElement<T>;
  const Acc alpha = g.alpha.load();
  const Acc beta = g.beta.load();
  const std::int64_t at = element % g.m * g.c_strides.row + element / g.m * g.c_strides.col;
  Acc* const wide = static_cast<Acc*>(g.c) + at;
  E* const narrow = static_cast<E*>(g.c) + at;
  Acc value = alpha == Acc(0) ? Acc(0) : alpha * sum;
  if (beta != Acc(0)) value += beta * (g.c_is_wide ? *wide : device::widen(*narrow));
  if (g.c_is_wide) {
    *wide = value;
  } else {
    *narrow = device::narrow<E>(value);
  }
}

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

/// The elements first + {0 .. kElements - 1} by 256 threads. Thread: one element, every
/// (256 / kElements)-th slice. Shared memory: one sum for each slice and element.
template <int kElements, class T>
__device__ void sum_walkers(const GramArguments<T>& g, int first,
                            GramTotal<T> (&slices)[kGramSumSlices][kElements]) {
  using Acc = device::DeviceAccumulator<T>;
  constexpr int kStep = kGramSumThreads / kElements;  // threads of an element
  constexpr int kOwn = kGramSumSlices / kStep;        // slices of a thread
  constexpr int kBatch = kOwn < 3 ? 9 : 3;            // of its loads in flight: one wait for most
  const int thread = static_cast<int>(threadIdx.x);
  const int column = thread % kElements;
  const int element = first + column;
  const int elements = g.m * g.n;
  const bool takes_part = thread < kGramSumThreads && element < elements;
  if (takes_part) {
    GramTotal<T> sums[kOwn] = {};
    const Acc* const own = g.partials + element;
    for (int walker = thread / kElements; walker < g.walkers; walker += kBatch * kGramSumSlices) {
      Acc terms[kBatch][kOwn];
#pragma unroll
      for (int t = 0; t < kBatch; ++t) {
#pragma unroll
        for (int s = 0; s < kOwn; ++s) {
          const int w = walker + t * kGramSumSlices + s * kStep;
          terms[t][s] = load_partial(own + std::int64_t{w} * elements, w < g.walkers);
        }
      }
#pragma unroll
      for (int t = 0; t < kBatch; ++t) {
#pragma unroll
        for (int s = 0; s < kOwn; ++s)
          sums[s] += total_of(terms[t][s]);
      }
    }
#pragma unroll
    for (int s = 0; s < kOwn; ++s)
      slices[thread / kElements + s * kStep][column] = sums[s];
  }
  __syncthreads();  // all slices are written before they are added
  if (!takes_part || thread >= kElements) return;
  constexpr int kChains = 4;  // one alone would wait 32 times for the sum before
  GramTotal<T> sums[kChains] = {};
#pragma unroll
  for (int s = 0; s < kGramSumSlices; ++s)
    sums[s % kChains] += slices[s][column];
  store_element(g, element, rounded_total<Acc>((sums[0] + sums[1]) + (sums[2] + sums[3])));
}

/// Block: 8 neighbouring elements of [n][m].
template <class T>
__global__ __launch_bounds__(kGramSumThreads) void gram_sum_kernel(GramArguments<T> g) {
  __shared__ GramTotal<T> slices[kGramSumSlices][kGramSumElements];
  device::let_next_kernel_start();
  device::wait_for_kernel_ahead();
  sum_walkers(g, static_cast<int>(blockIdx.x) * kGramSumElements, slices);
}

/// True in the block that comes last. What all blocks wrote before is visible to it; `arrivals` is
/// zero again.
__device__ inline bool is_last_block(unsigned* arrivals) {
  __shared__ bool last;
  __syncthreads();  // every thread's partials are written
  if (threadIdx.x == 0) {
    __threadfence();  // and visible to the device before the block arrives
    last = atomicInc(arrivals, gridDim.x - 1) == gridDim.x - 1;
    __threadfence();  // no partial is read before the block arrived
  }
  __syncthreads();  // `last` is written before it is read
  return last;
}

}  // namespace lanky::dense::cuda
