// Passes over tall matrices, and the small factors of their orthogonalization.
#include "solvers/block_work.hpp"

#include <algorithm>
#include <bit>
#include <complex>
#include <lanky/buffer.hpp>
#include <type_traits>

#include "core/machine.hpp"
#include "device/launch.cuh"
#include "solvers/column_pass.hpp"
#include "solvers/cuda/block_team.cuh"
#include "solvers/cuda/ritz_turn.cuh"
#include "solvers/products.hpp"

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

/// sums [cols / parts] of partials [blocks, cols]: a block has a sum.
__global__ void __launch_bounds__(kThreads)
    column_sums_kernel(int blocks, int cols, int parts, const double* partials, double* sums) {
  __shared__ double of_warps[kThreads / 32];
  const int thread = static_cast<int>(threadIdx.x);
  double sum = 0;
  for (int b = thread; b < blocks; b += kThreads) {
    for (int part = 0; part < parts; ++part)
      sum += partials[b * std::int64_t{cols} + static_cast<int>(blockIdx.x) * parts + part];
  }
  for (int offset = 16; offset > 0; offset /= 2)
    sum += __shfl_xor_sync(0xffffffffU, sum, offset);
  if (thread % 32 == 0) of_warps[thread / 32] = sum;
  __syncthreads();  // each warp's sum is there
  if (thread != 0) return;
  for (int w = 1; w < kThreads / 32; ++w)
    sum += of_warps[w];
  sums[blockIdx.x] = sum;
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
        turn_partials_(stream, 0),
        spare_(stream, 0) {
    device::load_kernels(stream_, column_pass_kernel<ResidualPass<Real>>,
                         column_pass_kernel<DotPass<Real>>, column_pass_kernel<CombinePass<Real>>,
                         column_pass_kernel<RecurrencePass<Real>>,
                         column_pass_kernel<ConvertPass<Real, RealOf<SingleOf<T>>>>,
                         column_pass_kernel<ConvertPass<RealOf<SingleOf<T>>, Real>>,
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
  bool turn(const TurnOperands<T>& operands) override {
    if constexpr (std::is_same_v<T, double>) {
      if (operands.residuals.cols == 0 || !in_words(operands)) return false;
      switch ((operands.x + 7) / 8) {
        case 1:
          return turn_in<1>(operands);
        case 2:
          return turn_in<2>(operands);
        case 3:
          return turn_in<3>(operands);
        case 4:
          return turn_in<4>(operands);
        default:
          return false;
      }
    } else {
      return false;
    }
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
  void narrow(const double* factor, MatrixView<const T> x, MatrixView<SingleOf<T>> y) override {
    pass(x.rows, x.cols * kP,
         ConvertPass<Real, RealOf<SingleOf<T>>>{factor, real_rows(x), real_rows(y)}, nullptr);
  }
  void widen(MatrixView<const SingleOf<T>> x, MatrixView<T> y) override {
    pass(x.rows, x.cols * kP,
         ConvertPass<RealOf<SingleOf<T>>, Real>{nullptr, real_rows(x), real_rows(y)}, nullptr);
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
      column_sums_kernel<<<static_cast<unsigned>(cols / kP), kThreads, 0, stream_.native()>>>(
          static_cast<int>(blocks), static_cast<int>(cols), kP, partials_.data(), sums);
    }
    scope.check("column_pass_kernel");
  }

  /// Whether all columns come in pairs that are words of 16 bytes, and P and W fit beside X.
  static bool in_words(const TurnOperands<T>& o) {
    const auto pairs = [](MatrixView<const T> view) {
      return view.cols % 2 == 0 &&
             (view.cols == 0 ||
              (view.ld % 2 == 0 && reinterpret_cast<std::uintptr_t>(view.data) % 16 == 0));
    };
    return o.x % 2 == 0 && o.xp.cols <= 2 * o.x && o.w.cols <= o.x && o.next.cols <= 2 * o.x &&
           (o.w.cols == 0 || o.w.ld == o.xp.ld) && pairs(o.xp) && pairs(o.w) && pairs(o.product) &&
           pairs(read_only(o.next)) && pairs(read_only(o.next_product)) &&
           pairs(read_only(o.residuals));
  }

  template <int kColumnTiles>
  bool turn_in(const TurnOperands<T>& o) {
    using Shape = TurnShape<kColumnTiles>;
    if (Shape::kBytes > machine_.shared_bytes_per_block) return false;
    const auto x = static_cast<int>(o.x);
    const auto active = static_cast<int>(o.residuals.cols);
    const int gram = o.gram == nullptr ? 0 : (static_cast<int>(o.next.cols) + active) * active;
    const std::int64_t most_blocks = std::int64_t{machine_.multiprocessors} * Shape::kBlocks;
    const auto blocks = static_cast<int>(
        std::min(device::ceil_div<std::int64_t>(o.xp.rows, Shape::kRows), most_blocks));
    if (turn_partials_.size() == 0) {  // once: graphs keep its address
      turn_partials_ = Buffer<double>(stream_, most_blocks * (3 * Shape::kSide + 1) * Shape::kSide);
    }
    const TurnArguments arguments{.rows = o.xp.rows,
                                  .xp = o.xp.data,
                                  .w = o.w.cols > 0 ? o.w.data : o.xp.data,
                                  .ld = o.xp.ld,
                                  .product = o.product.data,
                                  .product_ld = o.product.ld,
                                  .coefficients = o.coefficients,
                                  .next = o.next.data,
                                  .next_ld = o.next.ld,
                                  .next_product = o.next_product.data,
                                  .next_product_ld = o.next_product.ld,
                                  .residuals = o.residuals.data,
                                  .residuals_ld = o.residuals.ld,
                                  .theta = o.theta,
                                  .positions = o.positions,
                                  .partials = turn_partials_.data(),
                                  .x = x,
                                  .p = static_cast<int>(o.xp.cols) - x,
                                  .w_columns = static_cast<int>(o.w.cols),
                                  .next_p = static_cast<int>(o.next.cols) - x,
                                  .active = active,
                                  .gram = gram,
                                  .elements = gram + x};
    const auto give = [&](auto* kernel) {
      device::load_kernels(stream_, kernel, turn_sums_kernel);
      device::allow_shared_memory(stream_, kernel, Shape::kBytes);
      const device::LaunchScope scope(stream_);
      kernel<<<static_cast<unsigned>(blocks), Shape::kThreads, Shape::kBytes, stream_.native()>>>(
          arguments);
      turn_sums_kernel<<<static_cast<unsigned>(device::ceil_div(arguments.elements, 32)), 1024, 0,
                         stream_.native()>>>(blocks, arguments.elements, gram, arguments.partials,
                                             o.gram, o.squares);
      scope.check("ritz_turn_kernel");
    };
    if (gram > 0) {
      give(ritz_turn_kernel<kColumnTiles, true>);
    } else {
      give(ritz_turn_kernel<kColumnTiles, false>);
    }
    return true;
  }

  Stream stream_;
  Machine machine_;
  std::int64_t most_blocks_;
  Buffer<double> partials_;  // [most_blocks_, parts of a row]
  Buffer<double> turn_partials_;
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
