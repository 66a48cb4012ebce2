#include <algorithm>
#include <lanky/buffer.hpp>

#include "examples/abft/elements.hpp"
#include "examples/support/cuda_status.hpp"

namespace lanky::examples::abft {

namespace {

constexpr int kThreads = 256;
constexpr int kWarps = kThreads / 32;
constexpr int kRowsOfThread = 4;
constexpr int kRowsOfBlock = kThreads * kRowsOfThread;
constexpr int kLeastColumns = 8;   // of a block of square_norms_kernel
constexpr int kMostColumns = 256;  // likewise
constexpr int kWantedBlocks = 1024;
constexpr int kOneBlock = 1024;  // threads of kernels of one block

__device__ std::int64_t first_index() {
  return blockIdx.x * std::int64_t{blockDim.x} + threadIdx.x;
}
__device__ std::int64_t index_step() {
  return std::int64_t{gridDim.x} * blockDim.x;
}

__device__ double warp_sum(double x) {
  for (int offset = 16; offset > 0; offset /= 2)
    x += __shfl_down_sync(0xffffffffU, x, offset);
  return x;  // of the whole warp, in lane 0
}

/// matrix[rows, cols], column major; threads take elements of the grid in turn.
template <class T>
__global__ void fill_kernel(Data data, std::uint64_t seed, T* matrix, std::int64_t rows,
                            std::int64_t cols, std::int64_t ld) {
  for (std::int64_t e = first_index(); e < rows * cols; e += index_step())
    matrix[e % rows + e / rows * ld] = static_cast<T>(datum(data, seed, e));
}

/// weights[count, 2], column major; a thread an element.
template <class T>
__global__ void fill_weights_kernel(T* weights, std::int64_t count, std::int64_t ld) {
  const std::int64_t i = first_index();
  if (i >= count) return;
  weights[i] = weight<T>(0, i, count);
  weights[i + ld] = weight<T>(1, i, count);
}

/// A block sums the squares of kRowsOfBlock rows x `columns` columns of matrix[rows, cols], a warp
/// those of 32 neighbouring rows and three runs of 32 more, a lane four rows. Shared memory: the
/// sums of each column by warps, 16 KiB.
/// row_parts[gridDim.y, rows], col_parts[gridDim.x, cols]: sums of the blocks, row major.
template <class T>
__global__ void __launch_bounds__(kThreads)
    square_norms_kernel(const T* matrix, std::int64_t rows, std::int64_t cols, std::int64_t ld,
                        int columns, double* row_parts, double* col_parts) {
  __shared__ double warp_sums[kWarps][kMostColumns];
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const std::int64_t first_row = blockIdx.x * std::int64_t{kRowsOfBlock} + threadIdx.x;
  const std::int64_t first_col = blockIdx.y * std::int64_t{columns};
  const int count = static_cast<int>(min(std::int64_t{columns}, cols - first_col));
  double row_sums[kRowsOfThread] = {};
  for (int c = 0; c < count; ++c) {
    const T* column = matrix + (first_col + c) * ld;
    double column_sum = 0;
#pragma unroll
    for (int r = 0; r < kRowsOfThread; ++r) {
      const std::int64_t row = first_row + r * kThreads;
      const double x = row < rows ? static_cast<double>(column[row]) : 0.0;
      row_sums[r] += x * x;
      column_sum += x * x;
    }
    column_sum = warp_sum(column_sum);
    if (lane == 0) warp_sums[warp][c] = column_sum;
  }
  for (int r = 0; r < kRowsOfThread; ++r) {
    const std::int64_t row = first_row + r * kThreads;
    if (row < rows) row_parts[blockIdx.y * rows + row] = row_sums[r];
  }
  __syncthreads();  // before sums of other warps are read
  for (int c = static_cast<int>(threadIdx.x); c < count; c += kThreads) {
    double sum = 0;
    for (int w = 0; w < kWarps; ++w)
      sum += warp_sums[w][c];
    col_parts[blockIdx.x * cols + first_col + c] = sum;
  }
}

/// A thread adds the parts of a row or of a column, in order. row_sums[rows], col_sums[cols].
__global__ void add_parts_kernel(const double* row_parts, int row_part_count, std::int64_t rows,
                                 const double* col_parts, int col_part_count, std::int64_t cols,
                                 double* row_sums, double* col_sums) {
  const std::int64_t line = first_index();
  if (line >= rows + cols) return;
  const bool is_row = line < rows;
  const std::int64_t i = is_row ? line : line - rows;
  const std::int64_t length = is_row ? rows : cols;
  const double* parts = is_row ? row_parts : col_parts;
  const int count = is_row ? row_part_count : col_part_count;
  double sum = 0;
  for (int p = 0; p < count; ++p)
    sum += parts[p * length + i];
  (is_row ? row_sums : col_sums)[i] = sum;
}

/// The block's sum (or largest) of a number of each thread, for all threads. scratch: [32] in
/// shared memory.
template <bool kLargest>
__device__ double block_total(double x, double* scratch) {
  for (int offset = 16; offset > 0; offset /= 2) {
    const double other = __shfl_xor_sync(0xffffffffU, x, offset);
    x = kLargest ? fmax(x, other) : x + other;
  }
  __syncthreads();  // the scratch of the call before has been read
  if (threadIdx.x % 32 == 0) scratch[threadIdx.x / 32] = x;
  __syncthreads();  // before numbers of other warps are read
  double total = scratch[0];
  for (unsigned w = 1; w < blockDim.x / 32; ++w)
    total = kLargest ? fmax(total, scratch[w]) : total + scratch[w];
  return total;
}

/// Norms of inner.squares[k] and inner.checksum[k, 2], for all threads of the block.
template <class T>
__device__ InnerNorms inner_norms(const Inner<T>& inner, std::int64_t k, double* scratch) {
  double total = 0;
  double most = 0;
  double checksum[2] = {0, 0};
  for (std::int64_t l = threadIdx.x; l < k; l += blockDim.x) {
    total += inner.squares[l];
    most = fmax(most, inner.squares[l]);
    for (int s = 0; s < 2; ++s) {
      const auto x = static_cast<double>(inner.checksum[l + s * k]);
      checksum[s] += x * x;
    }
  }
  InnerNorms norms;
  norms.total_square = block_total<false>(total, scratch);
  norms.most_square = block_total<true>(most, scratch);
  for (int s = 0; s < 2; ++s)
    norms.checksum_square[s] = block_total<false>(checksum[s], scratch);
  return norms;
}

/// One block; shared memory: a number of each warp.
template <class T>
__global__ void __launch_bounds__(kOneBlock)
    scales_kernel(Inner<T> a, Inner<T> b, std::int64_t m, std::int64_t n, std::int64_t k,
                  double lambda_u, Scales* scales) {
  __shared__ double scratch[32];
  const InnerNorms norms_a = inner_norms(a, k, scratch);
  const InnerNorms norms_b = inner_norms(b, k, scratch);
  if (threadIdx.x != 0) return;
  scales->columns = side_scales(norms_a, lambda_u, m, k);
  scales->rows = side_scales(norms_b, lambda_u, n, k);
}

template <class T>
__device__ Residuals residuals_of(const Side<T>& side, const Scales::Side& scales, std::int64_t i) {
  const std::int64_t second = i + side.count;
  return residuals(scales, side.found[i], side.expected[i], side.found[second],
                   side.expected[second], side.operand[i], side.result[i]);
}

/// What the threads of a block find together.
struct Tally {
  int count;
  unsigned long long first;  // of the wrong lines
  unsigned long long share;  // the bits of the largest, which order as it does: none is negative
  unsigned long long rank;   // the greatest
};

template <class T>
__device__ void tally_side(const Side<T>& side, const Scales::Side& scales, Tally& tally) {
  double most = 0;
  std::uint64_t rank = 0;
  for (std::int64_t i = threadIdx.x; i < side.count; i += blockDim.x) {
    const Residuals r = residuals_of(side, scales, i);
    const double share = share_of_bound(r);
    most = fmax(most, share);
    rank = max(rank,
               rank_of(prominence(scales.spread, r.value[0], static_cast<double>(side.expected[i]),
                                  side.operand[i], side.result[i]),
                       i));
    if (share <= 1) continue;
    atomicAdd(&tally.count, 1);
    atomicMin(&tally.first, static_cast<unsigned long long>(i));
  }
  atomicMax(&tally.share, static_cast<unsigned long long>(__double_as_longlong(most)));
  atomicMax(&tally.rank, static_cast<unsigned long long>(rank));
}

template <class T>
__device__ Wrong wrong_of(const Side<T>& side, const Scales::Side& scales, const Tally& tally) {
  Wrong wrong;
  wrong.rank = tally.rank;
  if (tally.count == 0) return wrong;
  wrong.count = tally.count;
  wrong.first = static_cast<std::int64_t>(tally.first);
  wrong.of_first = residuals_of(side, scales, wrong.first);
  return wrong;
}

/// One block, whose threads take columns and then rows in turn; shared memory: what is wrong of
/// either. Counts, the least index, the largest share and rank do not depend on the threads' order.
template <class T>
__global__ void __launch_bounds__(kOneBlock)
    inspect_kernel(Side<T> columns, Side<T> rows, const Scales* scales, Report* report) {
  __shared__ Tally tallies[2];
  if (threadIdx.x < 2) tallies[threadIdx.x] = {0, ~0ULL, 0, 0};
  __syncthreads();  // the tallies are set
  tally_side(columns, scales->columns, tallies[0]);
  tally_side(rows, scales->rows, tallies[1]);
  __syncthreads();  // all lines are counted
  if (threadIdx.x != 0) return;
  report->share = fmax(__longlong_as_double(static_cast<long long>(tallies[0].share)),
                       __longlong_as_double(static_cast<long long>(tallies[1].share)));
  judge<T>(wrong_of(columns, scales->columns, tallies[0]), wrong_of(rows, scales->rows, tallies[1]),
           rows.count, columns.count, *report);
}

/// One block: the suspect (i, j) of the report as A(i, :) B(:, j), and the verdict on it. A thread
/// takes a run of neighbouring l twice: for the sum, and for what a plain sum loses in that run,
/// which begins with the sum of those before it. Shared memory: four numbers of each thread, 8 KiB.
/// A[m, k], B[k, n], C[m, n] are column major.
template <class T>
__global__ void __launch_bounds__(kThreads)
    settle_kernel(const T* a, std::int64_t lda, const T* b, std::int64_t ldb, std::int64_t k,
                  const T* c, std::int64_t ldc, double factor, Report* report) {
  __shared__ double scratch[32];
  __shared__ double sums[kThreads];
  __shared__ PlainSum<T> plain_sums[kThreads];
  const std::int64_t i = report->suspect_row;
  const std::int64_t j = report->suspect_col;
  const std::int64_t begin = k * threadIdx.x / kThreads;
  const std::int64_t end = k * (threadIdx.x + 1) / kThreads;
  double sum = 0;
  double magnitudes = 0;
  for (std::int64_t l = begin; l < end; ++l) {
    const double product =
        static_cast<double>(a[i + l * lda]) * static_cast<double>(b[l + j * ldb]);
    sum += product;
    magnitudes += fabs(product);
  }
  sums[threadIdx.x] = sum;
  magnitudes = block_total<false>(magnitudes, scratch);  // its barriers: all sums are there
  double before = 0;
  for (unsigned t = 0; t < threadIdx.x; ++t)
    before += sums[t];
  PlainSum<T> plain{static_cast<T>(before)};
  for (std::int64_t l = begin; l < end; ++l)
    plain.add(a[i + l * lda], b[l + j * ldb]);
  plain_sums[threadIdx.x] = plain;
  __syncthreads();  // before what other threads' runs lose is read
  if (threadIdx.x != 0) return;
  sum = 0;
  double lost = 0;
  double drift = 0;
  for (int t = 0; t < kThreads; ++t) {
    sum += sums[t];
    drift = fmax(drift, fabs(lost) + plain_sums[t].most);
    lost += plain_sums[t].lost;
  }
  settle(static_cast<double>(c[i + j * ldc]), static_cast<double>(static_cast<T>(sum)),
         factor * magnitudes, drift, *report);
}

/// One thread.
template <class T>
__global__ void correct_kernel(T* c, std::int64_t ldc, const Report* report) {
  if (report->verdict == Verdict::located)
    c[report->row + report->col * ldc] = static_cast<T>(report->recomputed);
}

/// One thread.
template <class T>
__global__ void inject_kernel(Fault fault, T* element, Report* report) {
  report->injected = static_cast<double>(*element);
  *element = with_fault(*element, fault);
  report->faulty = static_cast<double>(*element);
}

/// One thread.
template <class T>
__global__ void restore_kernel(T* element, const Report* report) {
  *element = static_cast<T>(report->injected);
}

int ceil_div(std::int64_t a, std::int64_t b) {
  return static_cast<int>((a + b - 1) / b);
}

template <class T>
class CudaElements : public Elements<T> {
 public:
  CudaElements(const Stream& stream, std::int64_t m, std::int64_t n, std::int64_t k)
      : parts_(stream, std::max({parts_of(m, k), parts_of(k, n), parts_of(m, n)})) {}

  void fill(const Stream& stream, Data data, std::uint64_t seed, MatrixView<T> matrix) override {
    const CurrentDevice current(stream.device());
    const int blocks = std::min(ceil_div(matrix.rows * matrix.cols, kThreads), 1 << 14);
    fill_kernel<<<blocks, kThreads, 0, stream.native()>>>(data, seed, matrix.data, matrix.rows,
                                                          matrix.cols, matrix.ld);
    check_cuda(cudaGetLastError(), "fill_kernel");
  }

  void fill_weights(const Stream& stream, MatrixView<T> weights) override {
    const CurrentDevice current(stream.device());
    fill_weights_kernel<<<ceil_div(weights.rows, kThreads), kThreads, 0, stream.native()>>>(
        weights.data, weights.rows, weights.ld);
    check_cuda(cudaGetLastError(), "fill_weights_kernel");
  }

  void square_norms(const Stream& stream, MatrixView<const T> matrix, double* rows,
                    double* cols) override {
    const CurrentDevice current(stream.device());
    const int columns = columns_of_block(matrix.rows, matrix.cols);
    const int row_blocks = ceil_div(matrix.rows, kRowsOfBlock);
    const int col_blocks = ceil_div(matrix.cols, columns);
    double* const row_parts = parts_.data();
    double* const col_parts = row_parts + col_blocks * matrix.rows;
    const dim3 grid(static_cast<unsigned>(row_blocks), static_cast<unsigned>(col_blocks));
    square_norms_kernel<<<grid, kThreads, 0, stream.native()>>>(
        matrix.data, matrix.rows, matrix.cols, matrix.ld, columns, row_parts, col_parts);
    check_cuda(cudaGetLastError(), "square_norms_kernel");
    add_parts_kernel<<<ceil_div(matrix.rows + matrix.cols, kThreads), kThreads, 0,
                       stream.native()>>>(row_parts, col_blocks, matrix.rows, col_parts, row_blocks,
                                          matrix.cols, rows, cols);
    check_cuda(cudaGetLastError(), "add_parts_kernel");
  }

  void scales(const Stream& stream, const Inner<T>& a, const Inner<T>& b, std::int64_t m,
              std::int64_t n, std::int64_t k, double lambda_u, Scales* scales) override {
    const CurrentDevice current(stream.device());
    scales_kernel<<<1, kOneBlock, 0, stream.native()>>>(a, b, m, n, k, lambda_u, scales);
    check_cuda(cudaGetLastError(), "scales_kernel");
  }

  void inspect(const Stream& stream, const Side<T>& columns, const Side<T>& rows,
               const Scales* scales, Report* report) override {
    const CurrentDevice current(stream.device());
    inspect_kernel<<<1, kOneBlock, 0, stream.native()>>>(columns, rows, scales, report);
    check_cuda(cudaGetLastError(), "inspect_kernel");
  }

  void settle(const Stream& stream, MatrixView<const T> a, MatrixView<const T> b,
              MatrixView<const T> c, double factor, Report* report) override {
    const CurrentDevice current(stream.device());
    settle_kernel<<<1, kThreads, 0, stream.native()>>>(a.data, a.ld, b.data, b.ld, a.cols, c.data,
                                                       c.ld, factor, report);
    check_cuda(cudaGetLastError(), "settle_kernel");
  }

  void correct(const Stream& stream, MatrixView<T> c, const Report* report) override {
    const CurrentDevice current(stream.device());
    correct_kernel<<<1, 1, 0, stream.native()>>>(c.data, c.ld, report);
    check_cuda(cudaGetLastError(), "correct_kernel");
  }

  void inject(const Stream& stream, const Fault& fault, MatrixView<T> c, Report* report) override {
    const CurrentDevice current(stream.device());
    inject_kernel<<<1, 1, 0, stream.native()>>>(fault, c.data + fault.row + fault.col * c.ld,
                                                report);
    check_cuda(cudaGetLastError(), "inject_kernel");
  }

  void restore(const Stream& stream, const Fault& fault, MatrixView<T> c,
               const Report* report) override {
    const CurrentDevice current(stream.device());
    restore_kernel<<<1, 1, 0, stream.native()>>>(c.data + fault.row + fault.col * c.ld, report);
    check_cuda(cudaGetLastError(), "restore_kernel");
  }

 private:
  /// So many that there are blocks for the whole card, and few enough for a warp's sums to fit.
  static int columns_of_block(std::int64_t rows, std::int64_t cols) {
    const std::int64_t even = cols * ceil_div(rows, kRowsOfBlock) / kWantedBlocks;
    return static_cast<int>(std::clamp<std::int64_t>(even, kLeastColumns, kMostColumns));
  }
  /// Numbers that square_norms_kernel leaves for such a matrix.
  static std::int64_t parts_of(std::int64_t rows, std::int64_t cols) {
    return ceil_div(cols, columns_of_block(rows, cols)) * rows +
           ceil_div(rows, kRowsOfBlock) * cols;
  }

  Buffer<double> parts_;
};

}  // namespace

template <class T>
std::unique_ptr<Elements<T>> make_cuda_elements(const Stream& stream, std::int64_t m,
                                                std::int64_t n, std::int64_t k) {
  return std::make_unique<CudaElements<T>>(stream, m, n, k);
}

template std::unique_ptr<Elements<double>> make_cuda_elements(const Stream&, std::int64_t,
                                                              std::int64_t, std::int64_t);
template std::unique_ptr<Elements<float>> make_cuda_elements(const Stream&, std::int64_t,
                                                             std::int64_t, std::int64_t);

}  // namespace lanky::examples::abft
