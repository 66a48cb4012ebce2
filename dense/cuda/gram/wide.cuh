// What a warp of gram_fma_kernel computes on the tensor cores of double: floats are widened, which
// is exact; of a complex product the four real ones are summed apart. As fast as CUDA cores are at
// best, without their chains of rounded sums.
#pragma once

#include "dense/cuda/gram/fma_tile.cuh"
#include "dense/cuda/gram/product.cuh"
#include "device/memory.cuh"

namespace lanky::dense::cuda {

/// A warp's tile of C, column-major operands. Fragments, of lane g * 4 + t and k in an order that
/// is the same on both sides:
///   real     a[16, 16]: rows mixed_row(g) and 8 more     b[16, 8]: column mixed_row(g)
///   complex  a: real and imaginary part of row mixed_row(g), rows g and g + 8; b likewise, twice
template <class T, int kIndex>
class WideSquare {
 public:
  using E = device::DeviceElement<T>;
  using Real = device::RealPart<E>;
  using Acc = device::DeviceAccumulator<T>;
  static constexpr FmaTile kTile = kFmaTile<T, kIndex>;
  static constexpr bool kComplex = sizeof(E) != sizeof(Real);
  static constexpr int kRows = kComplex ? 8 : 16;  // of a fragment
  static constexpr int kParts = kComplex ? 2 : 1;
  static constexpr int kTilesM = kTile.warp_m() / kRows;
  static constexpr int kTilesN = kTile.warp_n() / 8;
  using Sum = std::conditional_t<kComplex, device::Complex<double>, double>;
  struct Sums {
    double of[kTilesM][kTilesN][kParts][4] = {};
  };

  /// `totals`: of the block, [groups][n][m].
  __device__ WideSquare(Sum* totals, FmaWarp warp, bool conjugate_b)
      : totals_(totals), warp_(warp), sign_(conjugate_b ? -1.0 : 1.0) {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const int row = mixed_row(lane / 4);
    place_ = row * kSegmentBytes + ((lane % 4) ^ row) * 16;
    for (int i = 0; i < kTilesM; ++i)
      columns_[i] = columns_of(warp, i);
  }

  /// Adds the product of one segment: `a` and `b` are where the rows and columns of the warp begin.
  /// Complex warps ask which products they have, but for those that the diagonal crosses: where
  /// code knew it, nvcc 13.0 ordered loads and products so that most took up to 1.25 times as long.
  __device__ void add(Sums& sums, std::uint32_t a, std::uint32_t b) const {
    if constexpr (kComplex) {
      if (kTile.m <= 16 || warp_.ahead >= kTile.warp_n()) return add_asked(sums, a, b);
    }
    visit_known<kTilesN>(columns_[0], columns_[1], [&](auto first, auto second) {
      add_known<first.value, second.value>(sums, a, b);
    });
  }

  /// Leaves the sums of the warp.
  __device__ void finish(const Sums& sums) const {
    const int lane = static_cast<int>(threadIdx.x) % 32;
#pragma unroll
    for (int i = 0; i < kTilesM; ++i) {
#pragma unroll
      for (int j = 0; j < kTilesN; ++j) {
#pragma unroll
        for (int e = 0; e < (kComplex ? 2 : 4); ++e) {
          const int row = warp_.i0 + i * kRows + e / 2 * 8 + mixed_row(lane / 4);
          const int column = warp_.j0 + j * 8 + mixed_row(lane % 4 * 2 + e % 2);
          Sum& total = totals_[(warp_.group * kTile.n + column) * kTile.m + row];
          const double(&c)[kParts][4] = sums.of[i][j];
          if constexpr (kComplex) {
            total = {c[0][e] - sign_ * c[1][2 + e], c[0][2 + e] + sign_ * c[1][e]};
          } else {
            total = c[0][e];
          }
        }
      }
    }
  }

  /// Of the block: element (i, j) of the tile.
  __device__ static Acc total(const Sum* totals, int i, int j) {
    Sum sum = 0;
#pragma unroll
    for (int group = 0; group < kTile.groups; ++group)
      sum += totals[(group * kTile.n + j) * kTile.m + i];
    return static_cast<Acc>(sum);
  }

 private:
  static constexpr int kVector = 16 / sizeof(E);
  static constexpr int kDepth = sizeof(Real) == 4 ? 4 : 2;  // k of a lane in a fragment
  static constexpr int kSteps = 2 * kVector / kDepth;       // of 4 kDepth k each
  static constexpr int kWords = kDepth / kVector;           // of a lane in a line

  /// Fragments of B that tile i of A is multiplied with.
  __device__ static int columns_of(const FmaWarp& warp, int i) {
    if (i * kRows >= warp.rows) return 0;
    const int below = (i + 1) * kRows + warp.ahead;  // columns up to the diagonal, or all
    return max(0, (min(min(warp.columns, below), kTile.warp_n()) + 7) / 8);
  }

  __device__ void add_asked(Sums& sums, std::uint32_t a, std::uint32_t b) const {
#pragma unroll
    for (int s = 0; s < kSteps; ++s) {
      double left[kTilesM][2 * kDepth];
#pragma unroll
      for (int i = 0; i < kTilesM; ++i)
        load_left(left[i], a + i * kRows * kSegmentBytes, s);
#pragma unroll
      for (int j = 0; j < kTilesN; ++j) {
        if (j * 8 >= warp_.columns) break;
        double right[kParts][kDepth];
        load_right(right, b + j * 8 * kSegmentBytes, s);
#pragma unroll
        for (int i = 0; i < kTilesM; ++i) {
          if (i * kRows >= warp_.rows) continue;
          if ((i + 1) * kRows - 1 + warp_.ahead < j * 8) continue;
#pragma unroll
          for (int part = 0; part < kParts; ++part)
            multiply(sums.of[i][j][part], left[i], right[part]);
        }
      }
    }
  }

  /// So many fragments of B with the first and the second tile of A.
  template <int kFirst, int kSecond>
  __device__ void add_known(Sums& sums, std::uint32_t a, std::uint32_t b) const {
    static_assert(kTilesM == 2);
    constexpr int kCounts[kTilesM] = {kFirst, kSecond};
#pragma unroll
    for (int s = 0; s < kSteps; ++s) {
      double left[kTilesM][2 * kDepth];
#pragma unroll
      for (int i = 0; i < kTilesM; ++i)
        if (kCounts[i] > 0) load_left(left[i], a + i * kRows * kSegmentBytes, s);
#pragma unroll
      for (int j = 0; j < max(kFirst, kSecond); ++j) {
        double right[kParts][kDepth];
        load_right(right, b + j * 8 * kSegmentBytes, s);
#pragma unroll
        for (int i = 0; i < kTilesM; ++i) {
          if (j >= kCounts[i]) continue;
#pragma unroll
          for (int part = 0; part < kParts; ++part)
            multiply(sums.of[i][j][part], left[i], right[part]);
        }
      }
    }
  }

  /// Reals of the lane's units of a line, widened.
  __device__ void load_line(double (&reals)[kDepth * kParts], std::uint32_t first, int s) const {
#pragma unroll
    for (int w = 0; w < kWords; ++w) {
      const int unit = (s * kWords + w) * 4;
      const uint4 word = device::load_shared((first + place_) ^ static_cast<unsigned>(unit * 16));
      Real parts[16 / sizeof(Real)];
      memcpy(parts, &word, sizeof(word));
#pragma unroll
      for (int r = 0; r < static_cast<int>(16 / sizeof(Real)); ++r)
        reals[w * static_cast<int>(16 / sizeof(Real)) + r] = parts[r];
    }
  }
  __device__ void load_left(double (&left)[2 * kDepth], std::uint32_t first, int s) const {
    if constexpr (kComplex) {
      load_line(left, first, s);
    } else {
      double low[kDepth];
      double high[kDepth];
      load_line(low, first, s);
      load_line(high, first + 8 * kSegmentBytes, s);
#pragma unroll
      for (int v = 0; v < kDepth; ++v) {
        left[2 * v] = low[v];
        left[2 * v + 1] = high[v];
      }
    }
  }
  __device__ void load_right(double (&right)[kParts][kDepth], std::uint32_t first, int s) const {
    double reals[kDepth * kParts];
    load_line(reals, first, s);
#pragma unroll
    for (int r = 0; r < kDepth * kParts; ++r)
      right[r % kParts][r / kParts] = reals[r];
  }
  __device__ static void multiply(double (&c)[4], const double (&a)[8], const double (&b)[4]) {
    device::mma_m16n8k16(c, a, b);
  }
  __device__ static void multiply(double (&c)[4], const double (&a)[4], const double (&b)[2]) {
    device::mma_m16n8k8(c, a[0], a[1], a[2], a[3], b[0], b[1]);
  }

  Sum* totals_;
  FmaWarp warp_;
  double sign_;  // of products of two imaginary parts, negated
  std::uint32_t place_;
  int columns_[kTilesM];  // fragments of B that each tile of A is multiplied with
};

}  // namespace lanky::dense::cuda
