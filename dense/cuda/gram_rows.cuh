// Gram products of row-major operands on tensor cores: the m elements of each row of A^T are
// adjacent. Loads go straight into mma fragments. Several rows pass as one wide row of 8 units: of
// the wide product only the blocks on the diagonal belong to C, and are added at the end.
#pragma once

#include <cstring>

#include "dense/cuda/gram_sum.cuh"
#include "device/memory.cuh"
#include "device/mma.cuh"

namespace lanky::dense::cuda {

inline constexpr int kGramRowsWarps = 8;

/// A unit is what a lane loads at once. From the same unit of kRows wide rows: k-pairs of two
/// neighbouring elements, the operand registers of an mma. Lane g * 4 + t holds unit g of wide rows
/// t + 4 i, i < kRows. Entry h:
///   x[0], x[2]: element 2 h of the unit (k = t, then t + 4; halves: rows i = 0, 1, then 2, 3)
///   x[1], x[3]: element 2 h + 1
/// Units of 16 bytes would leave halves with 128 sums a lane: too few loads in flight.
template <class E>
struct RowFragment {  // half, bfloat16: m16n8k16
  using Unit = uint2;
  static constexpr int kRows = 4;
  static constexpr int kEntries = 2;
  std::uint32_t x[4];

  __device__ void take(const Unit (&rows)[kRows], int h) {
    std::uint32_t words[kRows];
#pragma unroll
    for (int i = 0; i < kRows; ++i)
      words[i] = h == 0 ? rows[i].x : rows[i].y;
    x[0] = __byte_perm(words[0], words[1], 0x5410);
    x[1] = __byte_perm(words[0], words[1], 0x7632);
    x[2] = __byte_perm(words[2], words[3], 0x5410);
    x[3] = __byte_perm(words[2], words[3], 0x7632);
  }
};
template <>
struct RowFragment<double> {  // m16n8k8
  using Unit = uint4;
  static constexpr int kRows = 2;
  static constexpr int kEntries = 1;
  double x[4];

  __device__ void take(const Unit (&rows)[kRows], int /*h*/) { memcpy(x, rows, sizeof(x)); }
};

/// c[16,8] += a b, for element 2 h + kOdd of b's unit.
template <class E, int kOdd>
__device__ void multiply_entries(float (&c)[4], const RowFragment<E>& a, const RowFragment<E>& b) {
  device::mma_m16n8k16<E>(c, a.x[0], a.x[1], a.x[2], a.x[3], b.x[kOdd], b.x[kOdd + 2]);
}
template <class E, int kOdd>
__device__ void multiply_entries(double (&c)[4], const RowFragment<E>& a, const RowFragment<E>& b) {
  device::mma_m16n8k8(c, a.x[0], a.x[1], a.x[2], a.x[3], b.x[kOdd], b.x[kOdd + 2]);
}

/// A lane's units of one operand: where they begin, and which of them exist.
template <class E, int kUnits>
struct RowUnits {
  using Unit = typename RowFragment<E>::Unit;
  static constexpr int kVector = sizeof(Unit) / sizeof(E);

  const E* source;
  std::int64_t stride;  // elements from one row to the next
  int width;            // elements of a row
  int packed;           // rows in a wide row
  std::int64_t offset[kUnits];

  __device__ int element(int u) const {
    return (u * 8 + static_cast<int>(threadIdx.x) % 32 / 4) * kVector;
  }
  __device__ RowUnits(const E* data, std::int64_t row_stride, int row_width, int rows)
      : source(data), stride(row_stride), width(row_width), packed(rows) {
#pragma unroll
    for (int u = 0; u < kUnits; ++u) {
      const int first = element(u);
      offset[u] = first < width * packed ? first / width * stride + first % width : -1;
    }
  }
  /// Unit u of wide row `row`; zeros beyond the wide row's end, and where the row does not exist.
  __device__ Unit load(int u, std::int64_t row, bool exists) const {
    return device::load_word<Unit>(source + row * packed * stride + offset[u],
                                   exists && offset[u] >= 0);
  }
  /// The same element by element, with zeros from row k on.
  __device__ Unit load_partly(int u, std::int64_t row, std::int64_t k) const {
    E elements[kVector];
#pragma unroll
    for (int v = 0; v < kVector; ++v) {
      const int e = element(u) + v;
      const std::int64_t p = row * packed + e / width;
      elements[v] =
          e < width * packed && p < k ? source[p * stride + e % width] : device::narrow<E>(0.0F);
    }
    Unit word;
    memcpy(&word, elements, sizeof(word));
    return word;
  }
};

/// g.packed rows of A (m elements) and of B (n) make a wide row of up to kUnits x 128 bytes. Warp:
/// of the steps of 4 kRows wide rows every (8 gridDim.x)-th, kUnroll of them in flight; what
/// remains of k, and operands off 16 bytes, go element by element. Shared memory:
/// [warps][wide][wide] sums.
template <class T, int kUnits, int kUnroll>
__global__ __launch_bounds__(kGramRowsWarps * 32,
                             kUnits == 1 ? 2 : 1) void gram_rows_kernel(GramArguments<T> g) {
#if __CUDA_ARCH__ >= 900
  using E = device::DeviceElement<T>;
  using Acc = device::DeviceAccumulator<T>;
  using Fragment = RowFragment<E>;
  using Unit = typename Fragment::Unit;
  constexpr int kRows = Fragment::kRows;
  constexpr int kEntries = Fragment::kEntries * kUnits;
  constexpr int kVector = sizeof(Unit) / sizeof(E);
  constexpr int kWide = kUnits * 8 * kVector;
  constexpr int kStep = 4 * kRows;  // wide rows that a warp takes at once
  extern __shared__ unsigned char dynamic_shared[];

  device::let_next_kernel_start();
  device::wait_for_kernel_ahead();
  const std::int64_t k = g.alpha.load() == Acc(0) ? 0 : g.k;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const RowUnits<E, kUnits> a(g.a, g.a_stride, g.m, g.packed);
  const RowUnits<E, kUnits> b(g.b, g.b_stride, g.n, g.packed);

  Acc sums[kEntries][kEntries * 2][4] = {};
  const auto add = [&](const Unit(&left)[kUnits][kRows], const Unit(&right)[kUnits][kRows]) {
    Fragment x[kEntries];
#pragma unroll
    for (int h = 0; h < kEntries; ++h)
      x[h].take(left[h / Fragment::kEntries], h % Fragment::kEntries);
#pragma unroll
    for (int j = 0; j < kEntries; ++j) {
      Fragment y;
      y.take(right[j / Fragment::kEntries], j % Fragment::kEntries);
#pragma unroll
      for (int i = 0; i < kEntries; ++i) {
        multiply_entries<E, 0>(sums[i][2 * j], x[i], y);
        multiply_entries<E, 1>(sums[i][2 * j + 1], x[i], y);
      }
    }
  };
  const std::int64_t stride = std::int64_t{gridDim.x} * kGramRowsWarps * kStep;
  const std::int64_t own = (std::int64_t{blockIdx.x} * kGramRowsWarps + warp) * kStep + lane % 4;
  const std::int64_t whole = g.vectors ? k / g.packed / kStep * kStep : 0;
  for (std::int64_t row = own; row < whole; row += kUnroll * stride) {
    Unit left[kUnroll][kUnits][kRows];
    Unit right[kUnroll][kUnits][kRows];
#pragma unroll
    for (int s = 0; s < kUnroll; ++s) {
#pragma unroll
      for (int i = 0; i < kRows; ++i) {
#pragma unroll
        for (int u = 0; u < kUnits; ++u) {
          const bool exists = s == 0 || row + s * stride < whole;
          left[s][u][i] = a.load(u, row + s * stride + i * 4, exists);
          right[s][u][i] = b.load(u, row + s * stride + i * 4, exists && !g.symmetric);
        }
      }
    }
#pragma unroll
    for (int s = 0; s < kUnroll; ++s) {
#pragma unroll
      for (int i = 0; i < kRows; ++i) {
#pragma unroll
        for (int u = 0; u < kUnits; ++u)
          right[s][u][i] = device::select(g.symmetric, left[s][u][i], right[s][u][i]);
      }
      add(left[s], right[s]);
    }
  }
  for (std::int64_t row = whole + own; (row - lane % 4) * g.packed < k; row += stride) {
    Unit left[kUnits][kRows];
    Unit right[kUnits][kRows];
#pragma unroll
    for (int i = 0; i < kRows; ++i) {
#pragma unroll
      for (int u = 0; u < kUnits; ++u) {
        left[u][i] = a.load_partly(u, row + i * 4, k);
        right[u][i] = b.load_partly(u, row + i * 4, k);
      }
    }
    add(left, right);
  }

  Acc* const wide = reinterpret_cast<Acc*>(dynamic_shared);  // [warps][of B][of A]
  const auto wide_element = [&](int entry, int unit_lane, int odd) {
    return (entry / Fragment::kEntries * 8 + unit_lane) * kVector + entry % Fragment::kEntries * 2 +
           odd;
  };
#pragma unroll
  for (int i = 0; i < kEntries; ++i) {
#pragma unroll
    for (int j = 0; j < kEntries * 2; ++j) {
#pragma unroll
      for (int e = 0; e < 4; ++e) {
        const int row = wide_element(i, lane / 4, e / 2);
        const int column = wide_element(j / 2, lane % 4 * 2 + e % 2, j % 2);
        wide[(warp * kWide + column) * kWide + row] = sums[i][j][e];
      }
    }
  }
  __syncthreads();  // the wide sums are written before they are added
  for (int s = static_cast<int>(threadIdx.x); s < g.m * g.n; s += kGramRowsWarps * 32) {
    const int i = s % g.m;
    const int j = s / g.m;
    Acc sum = 0;
    for (int w = 0; w < kGramRowsWarps; ++w) {
      for (int r = 0; r < g.packed; ++r)
        sum += wide[(w * kWide + r * g.n + j) * kWide + r * g.m + i];
    }
    g.partials[std::int64_t{blockIdx.x} * g.m * g.n + s] = sum;
  }
#endif
}

}  // namespace lanky::dense::cuda
