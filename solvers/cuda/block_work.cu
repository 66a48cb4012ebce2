// Passes over tall matrices, and the small factors of their orthogonalization.
#include "solvers/block_work.hpp"

#include <algorithm>
#include <bit>
#include <complex>
#include <lanky/buffer.hpp>

#include "core/machine.hpp"
#include "device/launch.cuh"
#include "solvers/column_pass.hpp"
#include "solvers/cuda/block_team.cuh"

namespace lanky::solvers {

namespace {

constexpr int kThreads = 256;

/// Columns of the block's strip; as many rows as fit the block's threads pass at once.
struct Strip {
  int first;
  int cols;
  int rows;  // of a step

  __device__ Strip(int all, int most) : first(static_cast<int>(blockIdx.y) * most) {
    cols = min(most, all - first);
    rows = kThreads / cols;
  }
};

/// A thread has one column, and every rows * gridDim.x-th row. partials [gridDim.x, cols] where
/// they are not null: the rows of a block, added up pairwise.
template <class Pass>
__global__ void __launch_bounds__(kThreads)
    column_pass_kernel(std::int64_t rows, int cols, Pass pass, double* partials) {
  const Strip strip(cols, kThreads);
  const int thread = static_cast<int>(threadIdx.x);
  const int row = thread / strip.cols;
  const int column = strip.first + thread % strip.cols;
  const bool takes_part = row < strip.rows;
  const std::int64_t step = std::int64_t{gridDim.x} * strip.rows;
  double sum = 0;
  if (takes_part) {
    std::int64_t i = std::int64_t{blockIdx.x} * strip.rows + row;
    for (; i + step < rows; i += 2 * step) {
      const auto low = pass.load(i, column);
      const auto high = pass.load(i + step, column);
      sum += pass.apply(low, i, column);
      sum += pass.apply(high, i + step, column);
    }
    if (i < rows) sum += pass.apply(pass.load(i, column), i, column);
  }
  if (partials == nullptr) return;
  __shared__ double sums[kThreads];
  sums[thread] = sum;
  __syncthreads();  // all sums are there
  for (int half = 128; half > 0; half /= 2) {
    if (half >= strip.rows) continue;
    if (row < half && row + half < strip.rows) sums[thread] += sums[thread + half * strip.cols];
    __syncthreads();  // the upper half has been read
  }
  if (row == 0) partials[std::int64_t{blockIdx.x} * cols + column] = sums[thread];
}

/// sums [cols / parts] of partials [blocks, cols]: a warp has a sum.
__global__ void __launch_bounds__(32)
    column_sums_kernel(int blocks, int cols, int parts, const double* partials, double* sums) {
  double sum = 0;
  for (int b = static_cast<int>(threadIdx.x); b < blocks; b += 32) {
    for (int part = 0; part < parts; ++part)
      sum += partials[b * std::int64_t{cols} + static_cast<int>(blockIdx.x) * parts + part];
  }
  for (int offset = 16; offset > 0; offset /= 2)
    sum += __shfl_xor_sync(0xffffffffU, sum, offset);
  if (threadIdx.x == 0) sums[blockIdx.x] = sum;
}

/// One block. Its matrix stands in shared memory, or where that is too small, in `spare`.
template <class Number, class Real>
__global__ void __launch_bounds__(1024)
    orthogonal_pass_kernel(PassOperands<Real> operands, Number* spare) {
  extern __shared__ double shared[];
  double* const scale = shared + 32;
  auto* const own = reinterpret_cast<Number*>(scale + (operands.w + 1) / 2 * 2);
  orthogonal_pass(BlockTeam{shared}, operands, spare != nullptr ? spare : own, scale);
}

template <class T>
class CudaBlockWork : public BlockWork<T> {
  using Real = RealOf<T>;
  using Number = typename NumberOf<T>::Number;
  static constexpr int kP = kParts<T>;
  static constexpr int kBlocksEach = 8;  // of a multiprocessor, 2,048 threads

 public:
  explicit CudaBlockWork(const Stream& stream)
      : stream_(stream),
        machine_(machine_of(stream.device())),
        most_blocks_(machine_.multiprocessors * kBlocksEach),
        partials_(stream, 0),
        spare_(stream, 0) {
    device::load_kernels(stream_, column_pass_kernel<ResidualPass<Real>>,
                         column_pass_kernel<DotPass<Real>>, column_pass_kernel<CombinePass<Real>>,
                         column_pass_kernel<RandomPass<Real>>, column_sums_kernel,
                         orthogonal_pass_kernel<Number, Real>);
  }

  void prepare(std::int64_t columns) override {
    const std::int64_t sums = most_blocks_ * columns * kP;
    if (partials_.size() < sums) partials_ = Buffer<double>(stream_, sums);
    const std::int64_t bytes = shared_bytes(columns, true);
    if (bytes <= machine_.shared_bytes_per_block) {
      device::allow_shared_memory(stream_, orthogonal_pass_kernel<Number, Real>,
                                  static_cast<int>(bytes));
    } else if (spare_.size() < columns * columns) {
      spare_ = Buffer<Number>(stream_, columns * columns);
    }
  }

  void residual(MatrixView<const T> ax, MatrixView<const T> bx, const double* theta,
                const std::int32_t* positions, MatrixView<T> w, double* squares) override {
    pass(ax.rows, ax.cols * kP,
         ResidualPass<Real>{real_rows(ax), real_rows(bx), theta, positions, kP, real_rows(w)},
         squares);
  }
  void dots(MatrixView<const T> x, MatrixView<const T> y, double* sums) override {
    pass(x.rows, x.cols * kP, DotPass<Real>{real_rows(x), real_rows(y)}, sums);
  }
  void combine(double alpha, MatrixView<const T> x, double beta, MatrixView<T> y) override {
    pass(x.rows, x.cols * kP, CombinePass<Real>{alpha, real_rows(x), beta, real_rows(y)}, nullptr);
  }
  void recur(const double* t, MatrixView<const T> x, MatrixView<T> y, MatrixView<const T> r,
             MatrixView<const T> ax) override {
    pass(x.rows, x.cols * kP,
         RecurrencePass<Real>{t, real_rows(x), real_rows(y), real_rows(r), real_rows(ax)}, nullptr);
  }
  void fill_random(std::uint64_t seed, std::int64_t first_column, MatrixView<T> x) override {
    pass(x.rows, x.cols * kP, RandomPass<Real>{seed, first_column * kP, real_rows(x)}, nullptr);
  }
  void orthogonal_pass(const PassOperands<Real>& operands) override {
    if (operands.w == 0) return;
    const bool fits = shared_bytes(operands.w, true) <= machine_.shared_bytes_per_block;
    const auto warps = static_cast<int>(std::clamp<std::int64_t>(operands.w, 4, 32));
    const device::LaunchScope scope(stream_);
    orthogonal_pass_kernel<Number, Real>
        <<<1, 32 * warps, static_cast<std::size_t>(shared_bytes(operands.w, fits)),
           stream_.native()>>>(operands, fits ? nullptr : spare_.data());
    scope.check("orthogonal_pass_kernel");
  }

 private:
  static std::int64_t shared_bytes(std::int64_t columns, bool with_matrix) {
    const std::int64_t vectors = (32 + (columns + 1) / 2 * 2) * std::int64_t{sizeof(double)};
    return vectors + (with_matrix ? columns * columns * std::int64_t{sizeof(Number)} : 0);
  }

  template <class Pass>
  void pass(std::int64_t rows, std::int64_t cols, const Pass& work, double* sums) {
    if (rows == 0 || cols == 0) {
      if (sums != nullptr && cols > 0) {
        const DeviceGuard guard(stream_.device().index());
        check_cuda(cudaMemsetAsync(sums, 0, static_cast<std::size_t>(cols / kP) * sizeof(double),
                                   stream_.native()),
                   "cudaMemsetAsync");
      }
      return;
    }
    const std::int64_t strips = device::ceil_div<std::int64_t>(cols, kThreads);
    const std::int64_t rows_of_step = kThreads / std::min<std::int64_t>(cols, kThreads);
    const auto blocks = static_cast<unsigned>(
        std::clamp<std::int64_t>(device::ceil_div(rows, 2 * rows_of_step), 1,
                                 device::ceil_div<std::int64_t>(most_blocks_, strips)));
    const device::LaunchScope scope(stream_);
    column_pass_kernel<<<dim3(blocks, static_cast<unsigned>(strips)), kThreads, 0,
                         stream_.native()>>>(rows, static_cast<int>(cols), work,
                                             sums == nullptr ? nullptr : partials_.data());
    if (sums != nullptr) {
      column_sums_kernel<<<static_cast<unsigned>(cols / kP), 32, 0, stream_.native()>>>(
          static_cast<int>(blocks), static_cast<int>(cols), kP, partials_.data(), sums);
    }
    scope.check("column_pass_kernel");
  }

  Stream stream_;
  Machine machine_;
  std::int64_t most_blocks_;
  Buffer<double> partials_;  // [most_blocks_, parts of a row]
  Buffer<Number> spare_;
};

}  // namespace

template <class T>
std::unique_ptr<BlockWork<T>> cuda::make_block_work(const Stream& stream) {
  return std::make_unique<CudaBlockWork<T>>(stream);
}

#define LANKY_INSTANTIATE(T) \
  template std::unique_ptr<BlockWork<T>> cuda::make_block_work(const Stream&);
LANKY_FOR_EACH_VECTOR_TYPE(LANKY_INSTANTIATE)
#undef LANKY_INSTANTIATE

}  // namespace lanky::solvers
