#include <algorithm>
#include <lanky/buffer.hpp>
#include <vector>

#include "examples/cholqr/tall_work.hpp"
#include "examples/support/cuda_status.hpp"
#include "examples/support/uniform.hpp"

namespace lanky::examples::cholqr {

namespace {

constexpr int kThreads = 256;
constexpr int kRows = 32;               // of a tile of a tall matrix
constexpr int kTileStride = kRows + 1;  // of a tile's columns, so that a warp's meet other banks
constexpr int kMostBlocks = 264;        // two for each multiprocessor of an H200
constexpr int kSquare = 8;              // sums of a thread each way: 16 x 16 threads, 128 columns
static_assert(16 * kSquare == kMostColumns);

/// matrix[rows, cols], column major; threads take elements of the grid in turn.
template <class T>
__global__ void fill_kernel(std::uint64_t seed, T* matrix, std::int64_t rows, std::int64_t cols,
                            std::int64_t ld) {
  const std::int64_t step = std::int64_t{gridDim.x} * blockDim.x;
  for (std::int64_t e = blockIdx.x * std::int64_t{blockDim.x} + threadIdx.x; e < rows * cols;
       e += step)
    matrix[e % rows + e / rows * ld] = static_cast<T>(2 * uniform(seed, e) - 1);
}

/// tile[column][row of kRows] of q from `first` on, in double; zero beyond q.
template <class T>
__device__ void load_tile(double (*tile)[kTileStride], MatrixView<const T> q, std::int64_t first) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const std::int64_t row = first + lane;
  for (int c = static_cast<int>(threadIdx.x) / 32; c < kMostColumns; c += kThreads / 32) {
    const bool inside = c < q.cols && row < q.rows;
    tile[c][lane] = inside ? static_cast<double>(q.data[row + c * q.ld]) : 0.0;
  }
}

/// partials[gridDim.x, cols, cols] of Q^T Q: a block takes every gridDim.x-th tile of 32 rows, a
/// thread the products of 8 x 8 columns that are 16 apart. Shared memory: a tile, 33 KiB.
template <class T>
__global__ void __launch_bounds__(kThreads)
    orthogonality_kernel(MatrixView<const T> q, double* partials) {
  __shared__ double tile[kMostColumns][kTileStride];
  const int x = static_cast<int>(threadIdx.x) % 16;
  const int y = static_cast<int>(threadIdx.x) / 16;
  double sums[kSquare][kSquare] = {};
  for (std::int64_t first = blockIdx.x * std::int64_t{kRows}; first < q.rows;
       first += gridDim.x * std::int64_t{kRows}) {
    __syncthreads();  // the tile before has been read
    load_tile(tile, q, first);
    __syncthreads();  // the tile is there
    for (int r = 0; r < kRows; ++r) {
      double left[kSquare];
      double right[kSquare];
#pragma unroll
      for (int s = 0; s < kSquare; ++s) {
        left[s] = tile[y + 16 * s][r];
        right[s] = tile[x + 16 * s][r];
      }
#pragma unroll
      for (int i = 0; i < kSquare; ++i) {
#pragma unroll
        for (int j = 0; j < kSquare; ++j)
          sums[i][j] += left[i] * right[j];
      }
    }
  }
  double* const mine = partials + blockIdx.x * q.cols * q.cols;
#pragma unroll
  for (int i = 0; i < kSquare; ++i) {
#pragma unroll
    for (int j = 0; j < kSquare; ++j) {
      const int row = y + 16 * i;
      const int col = x + 16 * j;
      if (row < q.cols && col < q.cols) mine[row * q.cols + col] = sums[i][j];
    }
  }
}

/// partials[gridDim.x, 2]: |A - Q R|^2 and |A|^2 of the rows of a block's tiles; a lane has a row,
/// a warp every 8th column. Shared memory: a tile of Q, 33 KiB, and sums of the warps.
template <class T>
__global__ void __launch_bounds__(kThreads)
    residual_kernel(MatrixView<const T> a, MatrixView<const T> q, MatrixView<const T> r,
                    double* partials) {
  __shared__ double tile[kMostColumns][kTileStride];
  __shared__ double warp_sums[kThreads / 32][2];
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int warp = static_cast<int>(threadIdx.x) / 32;
  double difference = 0;
  double whole = 0;
  for (std::int64_t first = blockIdx.x * std::int64_t{kRows}; first < q.rows;
       first += gridDim.x * std::int64_t{kRows}) {
    __syncthreads();  // the tile before has been read
    load_tile(tile, q, first);
    __syncthreads();  // the tile is there
    const std::int64_t row = first + lane;
    for (int j = warp; j < a.cols && row < a.rows; j += kThreads / 32) {
      const double element = static_cast<double>(a.data[row + j * a.ld]);
      double rest = element;
      for (int l = 0; l <= j; ++l)
        rest -= tile[l][lane] * static_cast<double>(r.data[l + j * r.ld]);
      difference += rest * rest;
      whole += element * element;
    }
  }
  for (int offset = 16; offset > 0; offset /= 2) {
    difference += __shfl_down_sync(0xffffffffU, difference, offset);
    whole += __shfl_down_sync(0xffffffffU, whole, offset);
  }
  if (lane == 0) {
    warp_sums[warp][0] = difference;
    warp_sums[warp][1] = whole;
  }
  __syncthreads();  // before sums of other warps are read
  if (threadIdx.x >= 2) return;
  double sum = 0;
  for (int w = 0; w < kThreads / 32; ++w)
    sum += warp_sums[w][threadIdx.x];
  partials[2 * blockIdx.x + threadIdx.x] = sum;
}

int blocks_for(std::int64_t rows) {
  return static_cast<int>(std::clamp<std::int64_t>((rows + kRows - 1) / kRows, 1, kMostBlocks));
}

template <class T>
class CudaTallWork : public TallWork<T> {
 public:
  void fill(const Stream& stream, std::uint64_t seed, MatrixView<T> matrix) override {
    const CurrentDevice current(stream.device());
    const std::int64_t wanted = (matrix.rows * matrix.cols + kThreads - 1) / kThreads;
    const int blocks = static_cast<int>(std::clamp<std::int64_t>(wanted, 1, 1 << 14));
    fill_kernel<<<blocks, kThreads, 0, stream.native()>>>(seed, matrix.data, matrix.rows,
                                                          matrix.cols, matrix.ld);
    check_cuda(cudaGetLastError(), "fill_kernel");
  }

  double orthogonality(const Stream& stream, MatrixView<const T> q) override {
    const CurrentDevice current(stream.device());
    const int blocks = blocks_for(q.rows);
    Buffer<double> partials(stream, blocks * q.cols * q.cols);
    orthogonality_kernel<<<blocks, kThreads, 0, stream.native()>>>(q, partials.data());
    check_cuda(cudaGetLastError(), "orthogonality_kernel");
    const std::vector<double> parts = partials.to_host();
    const auto size = static_cast<std::size_t>(q.cols * q.cols);
    double sum = 0;
    for (std::size_t e = 0; e < size; ++e) {
      double product = e % static_cast<std::size_t>(q.cols + 1) == 0 ? -1 : 0;
      for (std::size_t part = e; part < parts.size(); part += size)
        product += parts[part];
      sum += product * product;
    }
    return std::sqrt(sum);
  }

  double residual(const Stream& stream, MatrixView<const T> a, MatrixView<const T> q,
                  MatrixView<const T> r) override {
    const CurrentDevice current(stream.device());
    const int blocks = blocks_for(q.rows);
    Buffer<double> partials(stream, 2 * blocks);
    residual_kernel<<<blocks, kThreads, 0, stream.native()>>>(a, q, r, partials.data());
    check_cuda(cudaGetLastError(), "residual_kernel");
    const std::vector<double> parts = partials.to_host();
    double difference = 0;
    double whole = 0;
    for (std::size_t part = 0; part < parts.size(); part += 2) {
      difference += parts[part];
      whole += parts[part + 1];
    }
    return std::sqrt(difference / whole);
  }
};

}  // namespace

template <class T>
std::unique_ptr<TallWork<T>> make_cuda_tall_work(const Stream& /*stream*/) {
  return std::make_unique<CudaTallWork<T>>();
}

std::function<void()> cuda_replay(const Stream& stream, const std::function<void()>& work) {
  const CurrentDevice current(stream.device());
  cudaGraph_t graph = nullptr;
  check_cuda(cudaStreamBeginCapture(stream.native(), cudaStreamCaptureModeThreadLocal),
             "cudaStreamBeginCapture");
  try {
    work();
  } catch (...) {
    if (cudaStreamEndCapture(stream.native(), &graph) == cudaSuccess) cudaGraphDestroy(graph);
    throw;
  }
  check_cuda(cudaStreamEndCapture(stream.native(), &graph), "cudaStreamEndCapture");
  cudaGraphExec_t executable = nullptr;
  const cudaError_t status = cudaGraphInstantiate(&executable, graph, 0);
  cudaGraphDestroy(graph);
  check_cuda(status, "cudaGraphInstantiate");
  const std::shared_ptr<CUgraphExec_st> owner(executable, cudaGraphExecDestroy);
  return [stream, owner] {
    check_cuda(cudaGraphLaunch(owner.get(), stream.native()), "cudaGraphLaunch");
  };
}

template std::unique_ptr<TallWork<double>> make_cuda_tall_work(const Stream&);
template std::unique_ptr<TallWork<float>> make_cuda_tall_work(const Stream&);

}  // namespace lanky::examples::cholqr
