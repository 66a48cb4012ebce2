// Passes of linear solvers, whose sums the block that arrives last makes scalars of, and the small
// matrices of block CG.
#include "solvers/linear_work.hpp"

#include <algorithm>
#include <complex>
#include <lanky/buffer.hpp>

#include "core/machine.hpp"
#include "device/arrival.cuh"
#include "device/grid_dependency.cuh"
#include "device/launch.cuh"
#include "solvers/block_work.hpp"
#include "solvers/cuda/block_team.cuh"

namespace lanky::solvers {

namespace {

constexpr int kLinearThreads = 256;
constexpr int kMostSums = 3;

/// How a pass is divided: strips of columns, and rows among blocks. A thread has one column.
struct PassShape {
  std::int64_t rows;
  int columns;  // parts of a row
  int parts;    // of an element
};

/// Adds up shared[row][column] of all rows of a block pairwise, into row 0.
__device__ void add_rows(double* shared, int row, int rows, int column, int columns) {
  __syncthreads();  // all sums are there
  for (int half = kLinearThreads / 2; half > 0; half /= 2) {
    if (half >= rows) continue;
    if (row < half && row + half < rows)
      shared[row * columns + column] += shared[(row + half) * columns + column];
    __syncthreads();  // the upper half has been read
  }
}

/// partials [strips, gridDim.x, kSums, columns of a strip]; `arrivals` is zero, and is so again.
template <class Pass>
__global__ void __launch_bounds__(kLinearThreads)
    linear_pass_kernel(PassShape shape, Pass pass, double* partials, unsigned* arrivals) {
  constexpr int kSums = Pass::kSums;
  // Strips are of whole elements.
  const int most = kLinearThreads / shape.parts * shape.parts;
  const int first = static_cast<int>(blockIdx.y) * most;
  const int columns = min(most, shape.columns - first);
  const int rows = kLinearThreads / columns;
  const int thread = static_cast<int>(threadIdx.x);
  const int row = thread / columns;
  const int local = thread % columns;
  const int c = first + local;
  const std::int64_t step = std::int64_t{gridDim.x} * rows;
  device::let_next_kernel_start();
  device::wait_for_kernel_ahead();

  double sums[kSums > 0 ? kSums : 1] = {};
  const auto column = pass.column(c / shape.parts);
  if (row < rows && column.active) {
    std::int64_t i = std::int64_t{blockIdx.x} * rows + row;
    for (; i + 3 * step < shape.rows; i += 4 * step) {
      const auto a = pass.load(column, i, c);
      const auto b = pass.load(column, i + step, c);
      const auto d = pass.load(column, i + 2 * step, c);
      const auto e = pass.load(column, i + 3 * step, c);
      pass.apply(column, a, i, c, sums);
      pass.apply(column, b, i + step, c, sums);
      pass.apply(column, d, i + 2 * step, c, sums);
      pass.apply(column, e, i + 3 * step, c, sums);
    }
    for (; i < shape.rows; i += step)
      pass.apply(column, pass.load(column, i, c), i, c, sums);
  }
  if constexpr (kSums > 0) {
    __shared__ double shared[kLinearThreads];
    double* const own =
        partials + (std::int64_t{first} * gridDim.x + std::int64_t{blockIdx.x} * columns) * kSums;
    for (int s = 0; s < kSums; ++s) {
      __syncthreads();  // what was shared before has been read
      shared[thread] = sums[s];
      add_rows(shared, row, rows, local, columns);
      if (row == 0) own[s * columns + local] = shared[local];
    }
    __syncthreads();  // the block's partial sums are written
    __shared__ bool is_last;
    if (thread == 0) is_last = device::arrive_at(arrivals + blockIdx.y, gridDim.x);
    __syncthreads();  // all threads know
    if (!is_last) return;

    const double* const all = partials + std::int64_t{first} * gridDim.x * kSums;
    const int blocks = static_cast<int>(gridDim.x);
    double totals[kSums];
    for (int s = 0; s < kSums; ++s) {
      double total = 0;
      if (row < rows) {
#pragma unroll 8
        for (int b = row; b < blocks; b += rows)
          total += __ldcg(all + (std::int64_t{b} * kSums + s) * columns + local);
      }
      __syncthreads();  // what was shared before has been read
      shared[thread] = total;
      add_rows(shared, row, rows, local, columns);
      totals[s] = 0;
      if (row == 0 && local % shape.parts == 0) {
        for (int part = 0; part < shape.parts; ++part)
          totals[s] += shared[local + part];
      }
    }
    if (row == 0 && local % shape.parts == 0) pass.finish(c / shape.parts, totals);
  }
}

/// One block. Its matrix stands in shared memory, or where that is too small, in `spare`.
template <class Number>
__device__ FactorMemory<Number> factor_memory(double* shared, std::int64_t k, Number* spare) {
  double* const vectors = shared + 32;
  auto* const own = reinterpret_cast<Number*>(vectors + 3 * k);
  return {spare != nullptr ? spare : own, vectors, vectors + k, vectors + 2 * k};
}

template <class Number, class Real>
__global__ void __launch_bounds__(1024) block_step_kernel(BlockStep<Real> step, Number* spare) {
  extern __shared__ double shared[];
  block_step(BlockTeam{shared}, step, factor_memory(shared, step.k, spare));
}

template <class Number, class Real>
__global__ void __launch_bounds__(1024)
    block_factor_kernel(BlockFactor<Real> factor, Number* spare) {
  extern __shared__ double shared[];
  block_factor(BlockTeam{shared}, factor, factor_memory(shared, factor.k, spare));
}

template <class T>
class CudaLinearWork : public LinearWork<T> {
 public:
  using Real = RealOf<T>;

  CudaLinearWork(const Stream& stream, std::int64_t rows, std::int64_t columns,
                 Allocator* allocator)
      : stream_(stream),
        machine_(machine_of(stream.device())),
        columns_(columns),
        shape_{rows, static_cast<int>(columns * kP), kP},
        strips_(device::ceil_div<std::int64_t>(columns * kP, kStrip)),
        blocks_(blocks_of(machine_, rows, columns * kP)),
        partials_(stream, blocks_ * columns * kP * kMostSums, allocator),
        arrivals_(stream, strips_, allocator),
        spare_(stream, fits() ? 0 : columns * columns, allocator) {
    arrivals_.fill_zero();
#define LANKY_LOAD(...) device::load_kernels(stream_, linear_pass_kernel<__VA_ARGS__>);
    LANKY_FOR_EACH_LINEAR_PASS(LANKY_LOAD, Real)
#undef LANKY_LOAD
    device::load_kernels(stream_, block_step_kernel<Number, Real>,
                         block_factor_kernel<Number, Real>);
    const auto bytes = static_cast<int>(shared_bytes());
    device::allow_shared_memory(stream_, block_step_kernel<Number, Real>, bytes);
    device::allow_shared_memory(stream_, block_factor_kernel<Number, Real>, bytes);
  }

#define LANKY_DEFINE(...)                      \
  void run(const __VA_ARGS__& work) override { \
    pass(work);                                \
  }
  LANKY_FOR_EACH_LINEAR_PASS(LANKY_DEFINE, Real)
#undef LANKY_DEFINE

  void run(const BlockStep<Real>& step) override {
    const device::LaunchScope scope(stream_);
    block_step_kernel<Number, Real>
        <<<1, threads(), shared_bytes(), stream_.native()>>>(step, spare());
    scope.check("block_step_kernel");
  }
  void run(const BlockFactor<Real>& factor) override {
    const device::LaunchScope scope(stream_);
    block_factor_kernel<Number, Real>
        <<<1, threads(), shared_bytes(), stream_.native()>>>(factor, spare());
    scope.check("block_factor_kernel");
  }

 private:
  using Number = typename NumberOf<T>::Number;
  static constexpr int kP = kParts<T>;
  static constexpr std::int64_t kStrip = kLinearThreads / kP * kP;

  /// Blocks that the last one can add up in little time, and that have enough loads under way.
  static std::int64_t blocks_of(const Machine& machine, std::int64_t rows, std::int64_t columns) {
    constexpr std::int64_t kBlocksEach = 4;  // of a multiprocessor
    constexpr std::int64_t kMostPartials = 32'768;
    const std::int64_t processors = machine.multiprocessors;
    const std::int64_t most =
        std::clamp(kMostPartials / columns, processors, kBlocksEach * processors);
    const std::int64_t rows_of_step = kLinearThreads / std::min<std::int64_t>(columns, kStrip);
    return std::clamp<std::int64_t>(device::ceil_div(rows, 4 * rows_of_step), 1, most);
  }

  std::size_t shared_bytes(bool with_matrix) const {
    const std::int64_t vectors = (32 + 3 * columns_) * std::int64_t{sizeof(double)};
    const std::int64_t matrix =
        with_matrix ? columns_ * columns_ * std::int64_t{sizeof(Number)} : 0;
    return static_cast<std::size_t>(vectors + matrix);
  }
  bool fits() const {
    return shared_bytes(true) <= static_cast<std::size_t>(machine_.shared_bytes_per_block);
  }
  std::size_t shared_bytes() const {
    return shared_bytes(fits());
  }
  Number* spare() {
    return fits() ? nullptr : spare_.data();
  }
  unsigned threads() const {
    return 32 * static_cast<unsigned>(std::clamp<std::int64_t>(columns_, 4, 32));
  }

  template <class Pass>
  void pass(const Pass& work) {
    const device::LaunchScope scope(stream_);
    const dim3 blocks(static_cast<unsigned>(blocks_), static_cast<unsigned>(strips_));
    device::launch_dependent(stream_, linear_pass_kernel<Pass>, {blocks, dim3(kLinearThreads)},
                             shape_, work, partials_.data(), arrivals_.data());
  }

  Stream stream_;
  Machine machine_;
  std::int64_t columns_;
  PassShape shape_;
  std::int64_t strips_;
  std::int64_t blocks_;
  Buffer<double> partials_;
  Buffer<unsigned> arrivals_;  // [strips], zero
  Buffer<Number> spare_;
};

}  // namespace

template <class T>
std::unique_ptr<LinearWork<T>> cuda::make_linear_work(const Stream& stream, std::int64_t rows,
                                                      std::int64_t columns, Allocator* allocator) {
  return std::make_unique<CudaLinearWork<T>>(stream, rows, columns, allocator);
}

#define LANKY_INSTANTIATE(T)                                                                  \
  template std::unique_ptr<LinearWork<T>> cuda::make_linear_work(const Stream&, std::int64_t, \
                                                                 std::int64_t, Allocator*);
LANKY_FOR_EACH_VECTOR_TYPE(LANKY_INSTANTIATE)
#undef LANKY_INSTANTIATE

}  // namespace lanky::solvers
