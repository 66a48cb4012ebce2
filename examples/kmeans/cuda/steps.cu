// The steps of Lloyd's algorithm on a GPU. The points are read once a pass, in words of 16 bytes;
// no sum of floats depends on the order in which blocks run.
#include <cuda_runtime.h>

#include <algorithm>
#include <lanky/buffer.hpp>

#include "examples/kmeans/steps.hpp"
#include "examples/support/cuda_status.hpp"

namespace lanky::examples {

namespace {

constexpr int kThreads = 128;        // of most blocks
constexpr int kAssignRows = 256;     // of a block of assign_kernel, a thread each
constexpr int kFinishThreads = 512;  // of the one block of finish_kernel
constexpr int kGroup = 16;           // clusters whose sums a block of sum_rows_kernel holds
constexpr int kMostSummed = 4096;    // rows added up in T, before double takes over

/// 16 bytes of a row.
template <class T>
struct alignas(16) Word {
  static constexpr int kSize = 16 / sizeof(T);
  T values[kSize];
};

/// The sum over a block of `value` of each of its kCount threads (a power of two), in a fixed
/// order, for thread 0. `sums` is shared memory.
template <int kCount>
__device__ double block_sum(double value, double (&sums)[kCount]) {
  sums[threadIdx.x] = value;
  for (int half = kCount / 2; half > 0; half /= 2) {
    __syncthreads();  // the sums of the round before are written
    if (threadIdx.x < half) {
      value += sums[threadIdx.x + half];
      sums[threadIdx.x] = value;
    }
  }
  return threadIdx.x == 0 ? value : 0;
}

/// A row a block, its columns dealt to the threads. No shared memory.
template <class T>
__global__ void __launch_bounds__(kThreads) make_blobs_kernel(Blobs blobs, MatrixView<T> x) {
  const std::int64_t row = blockIdx.x;
  const std::int64_t blob = blob_of(blobs, row);
  for (std::int64_t j = threadIdx.x; j < x.cols; j += kThreads) {
    x.data[row * x.ld + j] =
        j < blobs.cols ? static_cast<T>(blob_value(blobs, blob, row, j)) : T{0};
  }
}

/// A row a block, its columns dealt to the threads. No shared memory.
template <class T>
__global__ void __launch_bounds__(kThreads) shift_kernel(MatrixView<T> x, const T* offset) {
  T* row = x.data + blockIdx.x * x.ld;
  for (std::int64_t j = threadIdx.x; j < x.cols; j += kThreads)
    row[j] -= offset[j];
}

/// distances[row] = |row of x - center|^2, or |row of x|^2 without a center; with kNearer only
/// where that is less than what stands there. A row a block, its words dealt to the threads. Shared
/// memory: the threads' sums.
template <class T, bool kNearer>
__global__ void __launch_bounds__(kThreads)
    distance_kernel(MatrixView<const T> x, const T* center, double* distances) {
  __shared__ double sums[kThreads];
  const auto* row = reinterpret_cast<const Word<T>*>(x.data + blockIdx.x * x.ld);
  const auto* origin = reinterpret_cast<const Word<T>*>(center);
  const int words = static_cast<int>(x.cols / Word<T>::kSize);
  double sum = 0;
#pragma unroll 4
  for (int w = threadIdx.x; w < words; w += kThreads) {
    const Word<T> word = row[w];
    Word<T> from{};
    if (center != nullptr) from = origin[w];
#pragma unroll
    for (int e = 0; e < Word<T>::kSize; ++e) {
      const double difference =
          static_cast<double>(word.values[e]) - static_cast<double>(from.values[e]);
      sum += difference * difference;
    }
  }
  sum = block_sum(sum, sums);
  if (threadIdx.x != 0) return;
  if (!kNearer || sum < distances[blockIdx.x]) distances[blockIdx.x] = sum;
}

/// A row of products a thread; a block leaves its part of the inertia. Shared memory: the part's
/// sums, and the block's counts [clusters]. Counts are integers, whose order does not matter.
template <class T>
__global__ void __launch_bounds__(kAssignRows) assign_kernel(Assignment<T> a, double* inertias) {
  extern __shared__ int block_counts[];
  __shared__ double sums[kAssignRows];
  const int clusters = static_cast<int>(a.products.cols);
  for (int c = threadIdx.x; c < clusters; c += kAssignRows)
    block_counts[c] = 0;
  __syncthreads();  // all counts are 0 before one is raised
  const std::int64_t row = std::int64_t{blockIdx.x} * kAssignRows + threadIdx.x;
  double distance = 0;
  if (row < a.products.rows) {
    const T* products = a.products.data + row * a.products.ld;
    int best = 0;
    double least = static_cast<double>(products[0]) + a.center_lengths[0];
#pragma unroll 8
    for (int c = 1; c < clusters; ++c) {
      const double score = static_cast<double>(products[c]) + a.center_lengths[c];
      if (score < least) {
        least = score;
        best = c;
      }
    }
    distance = fmax(0.0, least + a.point_lengths[row]);  // rounding may go below zero
    a.labels[row] = best;
    a.distances[row] = distance;
    atomicAdd(&block_counts[best], 1);
  }
  distance = block_sum(distance, sums);
  if (threadIdx.x == 0) inertias[blockIdx.x] = distance;
  __syncthreads();  // all of the block's rows are counted
  for (int c = threadIdx.x; c < clusters; c += kAssignRows) {
    if (block_counts[c] > 0) atomicAdd(&a.counts[c], block_counts[c]);
  }
}

/// One block: adds up the parts [blocks] of the inertia, then gives each empty cluster the farthest
/// point (the first of equals) that is not alone in its own.
template <class T>
__global__ void __launch_bounds__(kFinishThreads)
    finish_kernel(Assignment<T> a, const double* inertias, int blocks) {
  __shared__ double sums[kFinishThreads];
  __shared__ std::int64_t farthest[kFinishThreads];
  double inertia = 0;
  for (int b = threadIdx.x; b < blocks; b += kFinishThreads)
    inertia += inertias[b];
  inertia = block_sum(inertia, sums);
  if (threadIdx.x == 0) *a.inertia = inertia;
  const int clusters = static_cast<int>(a.products.cols);
  int empty = 0;
  for (int c = threadIdx.x; c < clusters; c += kFinishThreads)
    empty |= static_cast<int>(a.counts[c] == 0);
  if (!a.relocate || __syncthreads_or(empty) == 0) return;
  for (int c = 0; c < clusters; ++c) {
    if (a.counts[c] != 0) continue;  // alike in all threads
    std::int64_t mine = -1;
    for (std::int64_t i = threadIdx.x; i < a.products.rows; i += kFinishThreads) {
      if (a.counts[a.labels[i]] > 1 && (mine < 0 || a.distances[i] > a.distances[mine])) mine = i;
    }
    farthest[threadIdx.x] = mine;
    for (int half = kFinishThreads / 2; half > 0; half /= 2) {
      __syncthreads();  // the candidates of the round before are written
      if (threadIdx.x < half) {
        const std::int64_t other = farthest[threadIdx.x + half];
        const bool take =
            mine < 0 || (other >= 0 && (a.distances[other] > a.distances[mine] ||
                                        (a.distances[other] == a.distances[mine] && other < mine)));
        if (take) mine = other;
        farthest[threadIdx.x] = mine;
      }
    }
    if (threadIdx.x == 0) {
      --a.counts[a.labels[mine]];
      a.counts[c] = 1;
      a.labels[mine] = c;
      a.distances[mine] = 0;
    }
    __syncthreads();  // the move is seen before the next cluster is looked at
  }
}

/// partial[chunk][cluster][col] = sum over the rows of a chunk that bear the cluster's label. A
/// block: a strip of columns, a chunk of rows, a group of clusters; a thread: one word of columns
/// and all rows, so that no thread waits for another. Shared memory: the sums [kGroup][threads],
/// where a thread reads and writes words of its own alone.
template <class T>
__global__ void __launch_bounds__(kThreads)
    sum_rows_kernel(MatrixView<const T> x, const std::int32_t* labels, std::int64_t clusters,
                    std::int64_t chunk_rows, T* partial) {
  constexpr int kAhead = 8;  // rows whose words a thread has on their way
  extern __shared__ __align__(16) unsigned char shared[];
  const std::int64_t col = (std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x) * Word<T>::kSize;
  if (col >= x.cols) return;
  Word<T>* sums = reinterpret_cast<Word<T>*>(shared) + threadIdx.x;
  const int threads = static_cast<int>(blockDim.x);
  const int first_cluster = static_cast<int>(blockIdx.z) * kGroup;
  const int group = min(kGroup, static_cast<int>(clusters) - first_cluster);
  for (int c = 0; c < group; ++c)
    sums[c * threads] = Word<T>{};

  const std::int64_t first = blockIdx.y * chunk_rows;
  const std::int64_t end = min(x.rows, first + chunk_rows);
  for (std::int64_t row = first; row < end; row += kAhead) {
    int cluster[kAhead];  // within the group; another where the row has none of it
#pragma unroll
    for (int u = 0; u < kAhead; ++u)
      cluster[u] = row + u < end ? labels[row + u] - first_cluster : -1;
    Word<T> words[kAhead];
#pragma unroll
    for (int u = 0; u < kAhead; ++u) {
      if (cluster[u] >= 0 && cluster[u] < group)
        words[u] = *reinterpret_cast<const Word<T>*>(x.data + (row + u) * x.ld + col);
    }
#pragma unroll
    for (int u = 0; u < kAhead; ++u) {
      if (cluster[u] < 0 || cluster[u] >= group) continue;
      Word<T> sum = sums[cluster[u] * threads];
#pragma unroll
      for (int e = 0; e < Word<T>::kSize; ++e)
        sum.values[e] += words[u].values[e];
      sums[cluster[u] * threads] = sum;
    }
  }
  for (int c = 0; c < group; ++c) {
    const std::int64_t at = (blockIdx.y * clusters + first_cluster + c) * x.cols + col;
    *reinterpret_cast<Word<T>*>(partial + at) = sums[c * threads];
  }
}

/// centers[c][col] = the chunks' sums, added in order, / counts[c]. A cluster a row of blocks, a
/// column a thread. No shared memory.
template <class T>
__global__ void __launch_bounds__(kThreads)
    centers_kernel(const T* partial, std::int64_t chunks, const std::int32_t* counts,
                   MatrixView<T> centers) {
  const std::int64_t col = std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (col >= centers.cols) return;
  const std::int64_t cluster = blockIdx.y;
  const T* part = partial + cluster * centers.cols + col;
  double sum = 0;
#pragma unroll 8
  for (std::int64_t chunk = 0; chunk < chunks; ++chunk)
    sum += static_cast<double>(part[chunk * centers.rows * centers.cols]);
  centers.data[cluster * centers.ld + col] = static_cast<T>(sum / counts[cluster]);
}

std::int64_t ceil_div(std::int64_t a, std::int64_t b) {
  return (a + b - 1) / b;
}

template <class T>
class CudaSteps final : public Steps<T> {
 public:
  CudaSteps(const Stream& stream, std::int64_t rows, std::int64_t cols, std::int64_t clusters)
      : stream_(stream), inertias_(stream, ceil_div(rows, kAssignRows)), partial_(stream, 0) {
    check_cuda(cudaSetDevice(stream.device().index()), "cudaSetDevice");
    // Chunks of rows: as many as make the blocks that run at once, since all take as long, or a
    // multiple of that.
    const std::int64_t words = cols / Word<T>::kSize;
    sum_threads_ = static_cast<int>(std::min<std::int64_t>(kThreads, ceil_div(words, 32) * 32));
    strips_ = ceil_div(words, sum_threads_);
    shared_bytes_ = kGroup * sum_threads_ * sizeof(Word<T>);
    int resident = 0;
    check_cuda(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, sum_rows_kernel<T>,
                                                             sum_threads_, shared_bytes_),
               "cudaOccupancyMaxActiveBlocksPerMultiprocessor");
    const std::int64_t at_once =
        std::int64_t{resident} * stream.device().properties().multiprocessors;
    const std::int64_t side_by_side = std::max<std::int64_t>(1, at_once / strips_);
    const std::int64_t rounds = ceil_div(rows, side_by_side * kMostSummed);
    constexpr std::int64_t kLeastSummed = 64;    // a chunk's sums are as large as `clusters` rows
    constexpr std::int64_t kMostChunks = 65535;  // of a grid's y
    chunk_rows_ = std::max(
        {ceil_div(rows, side_by_side * rounds), kLeastSummed, ceil_div(rows, kMostChunks)});
    partial_ = Buffer<T>(stream, ceil_div(rows, chunk_rows_) * clusters * cols);
  }

  void make_blobs(const Blobs& blobs, MatrixView<T> x) override {
    make_blobs_kernel<<<blocks(x.rows), kThreads, 0, stream_.native()>>>(blobs, x);
    check_cuda(cudaGetLastError(), "make_blobs_kernel");
  }

  void shift(MatrixView<T> x, const T* offset) override {
    shift_kernel<<<blocks(x.rows), kThreads, 0, stream_.native()>>>(x, offset);
    check_cuda(cudaGetLastError(), "shift_kernel");
  }

  void copy_row(MatrixView<const T> x, std::int64_t row, T* target) override {
    check_cuda(
        cudaMemcpyAsync(target, x.data + row * x.ld, static_cast<std::size_t>(x.cols) * sizeof(T),
                        cudaMemcpyDeviceToDevice, stream_.native()),
        "cudaMemcpyAsync of a row");
  }

  void measure(MatrixView<const T> x, double* lengths) override {
    distance_kernel<T, false>
        <<<blocks(x.rows), kThreads, 0, stream_.native()>>>(x, nullptr, lengths);
    check_cuda(cudaGetLastError(), "distance_kernel");
  }

  void approach(MatrixView<const T> x, const T* center, double* distances) override {
    distance_kernel<T, true>
        <<<blocks(x.rows), kThreads, 0, stream_.native()>>>(x, center, distances);
    check_cuda(cudaGetLastError(), "distance_kernel");
  }

  void assign(const Assignment<T>& a) override {
    const auto count_bytes = static_cast<std::size_t>(a.products.cols) * sizeof(std::int32_t);
    const std::int64_t parts = ceil_div(a.products.rows, kAssignRows);
    check_cuda(cudaMemsetAsync(a.counts, 0, count_bytes, stream_.native()), "cudaMemsetAsync");
    assign_kernel<<<blocks(parts), kAssignRows, count_bytes, stream_.native()>>>(a,
                                                                                 inertias_.data());
    check_cuda(cudaGetLastError(), "assign_kernel");
    finish_kernel<<<1, kFinishThreads, 0, stream_.native()>>>(a, inertias_.data(),
                                                              static_cast<int>(parts));
    check_cuda(cudaGetLastError(), "finish_kernel");
  }

  void average(MatrixView<const T> x, const std::int32_t* labels, const std::int32_t* counts,
               MatrixView<T> centers) override {
    const std::int64_t chunks = ceil_div(x.rows, chunk_rows_);
    const dim3 sum_grid(blocks(strips_), blocks(chunks), blocks(ceil_div(centers.rows, kGroup)));
    sum_rows_kernel<<<sum_grid, sum_threads_, shared_bytes_, stream_.native()>>>(
        x, labels, centers.rows, chunk_rows_, partial_.data());
    check_cuda(cudaGetLastError(), "sum_rows_kernel");
    const dim3 center_grid(blocks(ceil_div(x.cols, kThreads)), blocks(centers.rows));
    centers_kernel<<<center_grid, kThreads, 0, stream_.native()>>>(partial_.data(), chunks, counts,
                                                                   centers);
    check_cuda(cudaGetLastError(), "centers_kernel");
  }

 private:
  static unsigned blocks(std::int64_t count) { return static_cast<unsigned>(count); }

  Stream stream_;
  Buffer<double> inertias_;  // [blocks of assign_kernel]
  Buffer<T> partial_;        // [chunks, clusters, cols]
  int sum_threads_ = 0;
  std::int64_t strips_ = 0;  // of columns
  std::size_t shared_bytes_ = 0;
  std::int64_t chunk_rows_ = 0;
};

}  // namespace

template <class T>
std::unique_ptr<Steps<T>> make_cuda_steps(const Stream& stream, std::int64_t rows,
                                          std::int64_t cols, std::int64_t clusters) {
  return std::make_unique<CudaSteps<T>>(stream, rows, cols, clusters);
}

template std::unique_ptr<Steps<float>> make_cuda_steps(const Stream&, std::int64_t, std::int64_t,
                                                       std::int64_t);
template std::unique_ptr<Steps<double>> make_cuda_steps(const Stream&, std::int64_t, std::int64_t,
                                                        std::int64_t);

}  // namespace lanky::examples
