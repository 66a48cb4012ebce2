// The turn of LOBPCG's basis with the residuals of the next X, and their gram products, in one pass
// over the basis: [X P] = [X P W] C, A [X P] = A [X P W] C, R = A X - X diag(theta), [X P R]^T R.
// Products of doubles on tensor cores.
#pragma once

#include <algorithm>
#include <cstdint>

#include "device/matrix_copy.cuh"
#include "device/mma.cuh"

namespace lanky::solvers {

/// Columns are numbered within X, P and W, each of which has room for kSide of them. A tile is 16
/// rows, of which each warp of a block turns two tiles of 8 columns. A block has the turned rows
/// [X P R], and two tiles of the basis and of A times it: one arrives while the other is turned.
template <int kColumnTiles>
struct TurnShape {
  static constexpr int kSide = 8 * kColumnTiles;
  static constexpr int kRows = 16;
  static constexpr int kThreads = 32 * kColumnTiles;
  static constexpr int kDepth = (3 * kSide + 15) / 16 * 16;
  static constexpr int kLine = kDepth + 4;  // elements: rows of fragments meet all banks
  static constexpr int kTile = kRows * kLine;
  static constexpr int kFragments = kDepth * 2 * kSide;  // of C
  static constexpr int kBytes = (kFragments + 5 * kTile) * static_cast<int>(sizeof(double));
  /// Of a multiprocessor, in the memory of an H100's.
  static constexpr int kBlocks = std::min(8, (228 << 10) / (kBytes + (1 << 10)));
};

struct TurnArguments {
  std::int64_t rows;
  const double* xp;  // X and P, side by side
  const double* w;
  std::int64_t ld;        // of both
  const double* product;  // A [X P W]
  std::int64_t product_ld;
  const double* coefficients;  // C [x + p + w, x + next_p], tight
  double* next;                // the next X and P
  std::int64_t next_ld;
  double* next_product;
  std::int64_t next_product_ld;
  double* residuals;  // of the columns of X that have a position
  std::int64_t residuals_ld;
  const double* theta;            // [x]
  const std::int32_t* positions;  // [x], or -1
  double* partials;               // [blocks, elements]
  int x, p, w_columns;            // even, as are the next two
  int next_p;
  int active;    // residuals
  int gram;      // [X P R]^T R [x + next_p + active, active] in the partials, or 0
  int elements;  // and behind it [x] sums of squares of residuals
};

template <class Shape>
class Turn {
  static constexpr int kSide = Shape::kSide;
  static constexpr int kLine = Shape::kLine;
  static constexpr int kTiles = kSide / 8;
  static constexpr int kSteps = Shape::kDepth / 16;  // along the basis, or down [X P R]
  static constexpr int kLanes = 4 * kTiles;          // that copy a line

 public:
  __device__ Turn(const TurnArguments& g, double* shared)
      : g_(g),
        fragments_(reinterpret_cast<double2*>(shared)),
        out_(shared + Shape::kFragments),
        depth_(g.x + g.p + g.w_columns),
        warp_(thread() / 32) {
#pragma unroll
    for (int j = 0; j < 2; ++j) {
#pragma unroll
      for (int e = 0; e < 2; ++e) {
        const int column = column_of(j) + e;
        const bool exists = is_x(j) && column < g.x;
        theta_[j][e] = exists ? g.theta[column] : 0;
        position_[j][e] = exists ? g.positions[column] : -1;
      }
    }
  }

  template <bool kGram>
  __device__ void run() {
    for (int e = thread(); e < 5 * Shape::kTile; e += Shape::kThreads)
      out_[e] = 0;
    stage_coefficients();
    __syncthreads();  // what no copy touches is zero before copies begin
    const std::int64_t step = std::int64_t{gridDim.x} * Shape::kRows;
    std::int64_t first = std::int64_t{blockIdx.x} * Shape::kRows;
    for (int stage = 0; stage < 2; ++stage)
      copy_tile(stage, first + stage * step);
    for (int stage = 0; first < g_.rows; first += step, stage ^= 1) {
      device::wait_for_copy_groups<1>();
      __syncthreads();  // the stage is there, and the last one's rows of `out_` have been read
      if (depth_ > 16 * (kSteps - 1)) {
        turn_rows<kSteps>(stage, first);
      } else {
        turn_rows<0>(stage, first);
      }
      __syncthreads();  // `out_` is there, the stage has been read
      copy_tile(stage, first + 2 * step);
      write_residuals(first);
      if constexpr (kGram) add_gram();
    }
    device::wait_for_copies();
    leave<kGram>();
  }

 private:
  __device__ static int thread() {
    return static_cast<int>(threadIdx.x);
  }
  __device__ static int lane() {
    return thread() % 32;
  }
  __device__ static int group() {
    return lane() / 4;
  }
  __device__ static int in_group() {
    return lane() % 4;
  }
  /// Whether the warp's tile j of columns is one of X, and the lane's first column there, or in P.
  __device__ bool is_x(int j) const {
    return 2 * warp_ + j < kTiles;
  }
  __device__ int column_of(int j) const {
    return (2 * warp_ + j) % kTiles * 8 + 2 * in_group();
  }
  /// Two tiles, of the basis and of A times it.
  __device__ double* stage(int i) {
    return out_ + (1 + 2 * i) * Shape::kTile;
  }

  /// C as fragments of 16 x 8, a lane's 4 elements in two words.
  __device__ void stage_coefficients() {
    const int columns = g_.x + g_.next_p;
    for (int i = thread(); i < Shape::kFragments / 2; i += Shape::kThreads) {
      const int tile = i / 64 % (2 * kTiles);
      const int n = tile % kTiles * 8 + i % 32 / 4;
      const int k = i / (128 * kTiles) * 16 + i / 32 % 2 * 8 + i % 4;
      const int column = n + (tile < kTiles ? 0 : g_.x);
      const bool exists = n < (tile < kTiles ? g_.x : g_.next_p);
      const auto at = [&](int row) {
        return exists && row < depth_ ? g_.coefficients[row * columns + column] : 0.0;
      };
      fragments_[i] = {at(k), at(k + 4)};
    }
  }

  /// Starts the copies of the rows from `first` on: of [X P W], and behind them of A times it.
  __device__ void copy_tile(int to, std::int64_t first) {
    const int own = thread() % kLanes;
    const int words_of_xp = (g_.x + g_.p) / 2;
#pragma unroll
    for (int i = 0; i < 2 * Shape::kRows; i += 8) {
      const int line = i + thread() / kLanes;
      const bool of_basis = i < Shape::kRows;
      const std::int64_t row = first + line % Shape::kRows;
      const double* const source =
          of_basis ? g_.xp + row * g_.ld : g_.product + row * g_.product_ld;
      const double* const w = of_basis ? g_.w + row * g_.ld - 2 * words_of_xp : source;
      double* const target = stage(to) + line * kLine;
#pragma unroll
      for (int j = 0; j < 3; ++j) {
        const int word = own + j * kLanes;
        if (2 * word >= depth_) continue;
        if (row < g_.rows) {
          device::copy_word(target + 2 * word, (word < words_of_xp ? source : w) + 2 * word);
        } else {
          *reinterpret_cast<double2*>(target + 2 * word) = {0, 0};
        }
      }
    }
    device::group_copies();
  }

  /// 16 columns of the next [X P], of A times it, and of the residuals. kKnown: steps of 16 columns
  /// of the basis, or 0 where there are fewer than kSteps.
  template <int kKnown>
  __device__ void turn_rows(int from, std::int64_t first) {
    const double* const basis = stage(from) + group() * kLine + in_group();
    const double* const product = basis + Shape::kTile;
    const double2* const words = fragments_ + 2 * warp_ * 64 + lane();
    double turned[2][4] = {};
    double multiplied[2][4] = {};
    const int steps = kKnown > 0 ? kKnown : (depth_ + 15) / 16;
#pragma unroll
    for (int step = 0; step < (kKnown > 0 ? kKnown : kSteps); ++step) {
      if (step >= steps) break;
      double a[2][8];
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        a[0][2 * i] = basis[step * 16 + 4 * i];
        a[0][2 * i + 1] = basis[step * 16 + 4 * i + 8 * kLine];
        a[1][2 * i] = product[step * 16 + 4 * i];
        a[1][2 * i + 1] = product[step * 16 + 4 * i + 8 * kLine];
      }
#pragma unroll
      for (int j = 0; j < 2; ++j) {
        const double2 low = words[(step * 2 * kTiles + j) * 64];
        const double2 high = words[(step * 2 * kTiles + j) * 64 + 32];
        const double b[4] = {low.x, low.y, high.x, high.y};
        device::mma_m16n8k16(turned[j], a[0], b);
        device::mma_m16n8k16(multiplied[j], a[1], b);
      }
    }
#pragma unroll
    for (int j = 0; j < 2; ++j) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const int line = half * 8 + group();
        leave_words(j, first + line, out_ + line * kLine,
                    {turned[j][2 * half], turned[j][2 * half + 1]},
                    {multiplied[j][2 * half], multiplied[j][2 * half + 1]});
      }
    }
  }

  /// Two columns of a row, from tile j's on.
  __device__ void leave_words(int j, std::int64_t row, double* line, double2 x, double2 ax) {
    const int n = column_of(j);
    const int column = n + (is_x(j) ? 0 : g_.x);
    if (n < (is_x(j) ? g_.x : g_.next_p) && row < g_.rows) {
      *reinterpret_cast<double2*>(g_.next + row * g_.next_ld + column) = x;
      *reinterpret_cast<double2*>(g_.next_product + row * g_.next_product_ld + column) = ax;
    }
    *reinterpret_cast<double2*>(line + n + (is_x(j) ? 0 : kSide)) = x;
    if (!is_x(j)) return;
    const double rest[2] = {ax.x - theta_[j][0] * x.x, ax.y - theta_[j][1] * x.y};
#pragma unroll
    for (int e = 0; e < 2; ++e) {
      squares_[j][e] += rest[e] * rest[e];
      if (position_[j][e] >= 0) line[2 * kSide + position_[j][e]] = rest[e];
    }
  }

  __device__ void write_residuals(std::int64_t first) {
    const int column = thread() % kLanes * 2;
    if (column >= g_.active) return;
#pragma unroll
    for (int i = 0; i < Shape::kRows; i += 8) {
      const int line = i + thread() / kLanes;
      if (first + line >= g_.rows) return;
      *reinterpret_cast<double2*>(g_.residuals + (first + line) * g_.residuals_ld + column) =
          *reinterpret_cast<const double2*>(out_ + line * kLine + 2 * kSide + column);
    }
  }

  /// Adds the products of all of [X P R] with the warp's 8 columns of R.
  __device__ void add_gram() {
    const double* const rows = out_ + in_group() * kLine + group();
    double b[4];
#pragma unroll
    for (int i = 0; i < 4; ++i)
      b[i] = rows[4 * i * kLine + 2 * kSide + 8 * warp_];
#pragma unroll
    for (int m = 0; m < kSteps; ++m) {
      double a[8];
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        a[2 * i] = rows[4 * i * kLine + 16 * m];
        a[2 * i + 1] = rows[4 * i * kLine + 16 * m + 8];
      }
      device::mma_m16n8k16(gram_[m], a, b);
    }
  }

  /// The warp's sums into the block's partials.
  template <bool kGram>
  __device__ void leave() {
    double* const partials = g_.partials + std::int64_t{blockIdx.x} * g_.elements;
#pragma unroll
    for (int m = 0; kGram && m < 2 * kSteps; ++m) {  // 8 rows of [X P R]
      const int within = m % kTiles * 8 + group();
      const int of_part = m < kTiles ? g_.x : m < 2 * kTiles ? g_.next_p : g_.active;
      const int before = (m < kTiles ? 0 : g_.x) + (m < 2 * kTiles ? 0 : g_.next_p);
#pragma unroll
      for (int e = 0; e < 2; ++e) {
        const int column = 8 * warp_ + 2 * in_group() + e;
        if (m < 3 * kTiles && within < of_part && column < g_.active)
          partials[(before + within) * g_.active + column] = gram_[m / 2][m % 2 * 2 + e];
      }
    }
#pragma unroll
    for (int j = 0; j < 2; ++j) {
#pragma unroll
      for (int e = 0; e < 2; ++e) {
        double sum = squares_[j][e];
#pragma unroll
        for (int offset = 4; offset < 32; offset *= 2)
          sum += __shfl_xor_sync(0xffffffffU, sum, offset);
        const int column = column_of(j) + e;
        if (group() == 0 && is_x(j) && column < g_.x) partials[g_.gram + column] = sum;
      }
    }
  }

  const TurnArguments& g_;
  double2* fragments_;
  double* out_;  // [kRows, kLine] of [X P R]; behind it, two stages of two tiles as large
  int depth_;    // columns of the basis
  int warp_;
  double theta_[2][2];
  int position_[2][2];
  double squares_[2][2] = {};
  double gram_[kSteps][4] = {};
};

template <int kColumnTiles, bool kGram>
__global__ void __launch_bounds__(TurnShape<kColumnTiles>::kThreads,
                                  TurnShape<kColumnTiles>::kBlocks)
    ritz_turn_kernel(const __grid_constant__ TurnArguments g) {
  extern __shared__ __align__(16) double turn_shared[];
  Turn<TurnShape<kColumnTiles>>(g, turn_shared).template run<kGram>();
}

/// The sums of all blocks: a warp's lanes have neighbouring elements, its warps shares of the
/// blocks.
__global__ void __launch_bounds__(1024)
    turn_sums_kernel(int blocks, int elements, int gram_elements, const double* partials,
                     double* gram, double* squares) {
  constexpr int kShares = 32;
  __shared__ double sums[kShares][32];
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int share = static_cast<int>(threadIdx.x) / 32;
  const int element = static_cast<int>(blockIdx.x) * 32 + lane;
  double sum = 0;
#pragma unroll 8
  for (int block = share; block < blocks; block += kShares)
    sum += element < elements ? partials[std::int64_t{block} * elements + element] : 0;
  sums[share][lane] = sum;
  __syncthreads();  // all shares are there
  if (share != 0 || element >= elements) return;
  for (int s = 1; s < kShares; ++s)
    sum += sums[s][lane];
  if (element < gram_elements) {
    gram[element] = sum;
  } else {
    squares[element - gram_elements] = sum;
  }
}

}  // namespace lanky::solvers
