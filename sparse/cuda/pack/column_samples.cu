// Samples of rows after another, a block a sample: the sectors of x that their entries read set
// bits of a table in shared memory, whose unset ones tell their number.
#include "sparse/column_samples.hpp"

#include <lanky/buffer.hpp>
#include <limits>

#include "sparse/cuda/pack/grid.cuh"
#include "sparse/cuda/steps.hpp"

namespace lanky::sparse::cuda {

namespace {

constexpr int kWords = kSampleBits / 32;

/// samples: [kAllSamples]
__global__ void __launch_bounds__(kThreads)
    sample_columns_kernel(CsrPattern a, int element_bytes, ColumnSample* samples) {
  __shared__ unsigned bits[kWords];
  __shared__ int least;
  __shared__ int most;
  __shared__ int set;
  const auto thread = static_cast<int>(threadIdx.x);
  for (int word = thread; word < kWords; word += kThreads)
    bits[word] = 0;
  if (thread == 0) {
    least = std::numeric_limits<int>::max();
    most = set = 0;
  }
  __syncthreads();  // the table is empty
  const auto [begin, end] = sampled_entries(a, static_cast<int>(blockIdx.x));
  int own_least = std::numeric_limits<int>::max();
  int own_most = 0;
  for (std::int64_t entry = begin + thread; entry < end; entry += kThreads) {
    const std::int32_t column = a.columns[entry] - a.index_base;
    own_least = min(own_least, column);
    own_most = max(own_most, column);
    const int bit = sector_bit(column, element_bytes);
    atomicOr(&bits[bit / 32], 1U << (bit % 32));
  }
  atomicMin(&least, own_least);
  atomicMax(&most, own_most);
  __syncthreads();  // all bits are set
  int own_set = 0;
  for (int word = thread; word < kWords; word += kThreads)
    own_set += __popc(bits[word]);
  atomicAdd(&set, own_set);
  __syncthreads();  // all words are counted
  if (thread != 0) return;
  samples[blockIdx.x] =
      begin == end
          ? ColumnSample{}
          : ColumnSample{least, most, static_cast<std::int32_t>(end - begin), kSampleBits - set};
}

}  // namespace

std::vector<ColumnSample> column_samples(const Stream& stream, const CsrPattern& a,
                                         int element_bytes) {
  if (a.nnz == 0) return std::vector<ColumnSample>(kAllSamples);
  Buffer<ColumnSample> samples(stream, kAllSamples);
  launch(stream, "sample_columns_kernel", sample_columns_kernel, kAllSamples, a, element_bytes,
         samples.data());
  return samples.to_host();
}

}  // namespace lanky::sparse::cuda
