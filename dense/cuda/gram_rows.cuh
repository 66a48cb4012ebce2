// Gram products on tensor cores, of operands at least one of which is row-major (the elements of
// one k adjacent), or of any strides. Loads go straight into mma fragments. Several rows pass as
// one wide row of 8 units: of the wide product only the blocks on the diagonal belong to C, and are
// added at the end.
#pragma once

#include <cstring>
#include <type_traits>

#include "dense/cuda/gram_sum.cuh"
#include "device/memory.cuh"
#include "device/mma.cuh"

namespace lanky::dense::cuda {

inline constexpr int kGramRowsWarps = 8;

/// A unit is what a lane loads at once: kRows neighbouring elements of a wide row, or of a column,
/// if k is adjacent (`turned`). Entry h, from kRows units, of the fragment of an mma:
///   x[0], x[2]: element 2 h of each row (first half of the rows, second half)
///   x[1], x[3]: element 2 h + 1
/// Units of 16 bytes would leave halves with 128 sums a lane: too few loads in flight.
template <class E>
struct RowFragment {  // half, bfloat16: m16n8k16
  using Unit = uint2;
  static constexpr int kRows = 4;
  static constexpr int kEntries = 2;
  std::uint32_t x[4];

  __device__ void take(const Unit (&units)[kRows], int h, bool turned) {
    std::uint32_t words[kRows];
#pragma unroll
    for (int i = 0; i < kRows; ++i)
      words[i] = h == 0 ? units[i].x : units[i].y;
    const Unit even = units[2 * h];
    const Unit odd = units[2 * h + 1];
    x[0] = turned ? even.x : __byte_perm(words[0], words[1], 0x5410);
    x[1] = turned ? odd.x : __byte_perm(words[0], words[1], 0x7632);
    x[2] = turned ? even.y : __byte_perm(words[2], words[3], 0x5410);
    x[3] = turned ? odd.y : __byte_perm(words[2], words[3], 0x7632);
  }
};
template <>
struct RowFragment<double> {  // m16n8k8
  using Unit = uint4;
  static constexpr int kRows = 2;
  static constexpr int kEntries = 1;
  double x[4];

  __device__ void take(const Unit (&units)[kRows], int /*h*/, bool turned) {
    double loaded[4];
    memcpy(loaded, units, sizeof(loaded));
    x[0] = loaded[0];
    x[1] = turned ? loaded[2] : loaded[1];
    x[2] = turned ? loaded[1] : loaded[2];
    x[3] = loaded[3];
  }
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

/// What a lane loads of one operand [k][width]: of wide row r (k = r packed and more) elements
/// first(u) + {0 .. kRows - 1}, in kRows units either along the row or, `turned`, along k.
///
/// Lane g * 4 + t has unit g of the rows t, t + 4, ..., or, where an operand is turned
/// (g.adjacent_rows), of kRows neighbouring ones: the same for both operands.
template <class E, int kUnits>
struct RowUnits {
  using Unit = typename RowFragment<E>::Unit;
  static constexpr int kRows = RowFragment<E>::kRows;
  static_assert(kRows * sizeof(E) == sizeof(Unit));

  const E* source;
  Strides stride;  // row: from one k to the next; col: along a row
  int width;       // elements of a row
  int packed;      // rows in a wide row; 1 where not all units are loaded as such
  int lane_row;    // the first row of the lane, beyond that of the warp
  int next_row;    // from one row of the lane to the next
  bool turned;
  std::int64_t offset[kUnits];  // of the lane's first units

  __device__ static int first(int u) {
    return (u * 8 + static_cast<int>(threadIdx.x) % 32 / 4) * kRows;
  }
  __device__ RowUnits(const E* data, Strides strides, int row_width, int rows, bool adjacent_rows,
                      bool is_turned)
      : source(data), stride(strides), width(row_width), packed(rows), turned(is_turned) {
    const int t = static_cast<int>(threadIdx.x) % 4;
    lane_row = adjacent_rows ? t * kRows : t;
    next_row = adjacent_rows ? 1 : 4;
#pragma unroll
    for (int u = 0; u < kUnits; ++u) {
      const int in_row = packed > 1 ? first(u) % width : first(u);
      const int p = lane_row * packed + (packed > 1 ? first(u) / width : 0);
      offset[u] = p * stride.row + in_row * stride.col;
    }
  }
  /// Unit i of block u of the warp's rows from `row` on; zeros beyond the wide row's end, and where
  /// the row does not exist.
  __device__ Unit load(int u, int i, std::int64_t row, bool exists) const {
    const std::int64_t next = turned ? stride.col : next_row * packed * stride.row;
    return device::load_word<Unit>(source + row * packed * stride.row + offset[u] + i * next,
                                   exists && first(u) + (turned ? i : 0) < width * packed);
  }
  /// Element v of row i of block u, by its strides; zero from k on.
  __device__ E load_element(int u, int i, int v, std::int64_t row, std::int64_t k) const {
    int e = first(u) + v;
    std::int64_t p = (row + lane_row + i * next_row) * packed;
    const bool exists = e < width * packed;
    if (packed > 1) {
      p += e / width;
      e %= width;
    }
    return exists && p < k ? source[p * stride.row + e * stride.col] : device::narrow<E>(0.0F);
  }
};

/// g.packed rows of A (m elements) and of B (n) make a wide row of up to kUnits x 128 bytes. Warp:
/// of the steps of 4 kRows wide rows every (8 gridDim.x)-th, kUnroll of them in flight. Then,
/// element by element, what remains of k, or all of it, where units are not aligned (then A alone
/// may still be loaded in units). Shared memory: [warps][wide][wide] sums.
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
  constexpr int kWide = kUnits * 8 * kRows;
  constexpr int kStep = 4 * kRows;  // wide rows that a warp takes at once
  extern __shared__ unsigned char dynamic_shared[];

  device::let_next_kernel_start();
  device::wait_for_kernel_ahead();
  const std::int64_t k = g.alpha.load() == Acc(0) ? 0 : g.k;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const bool adjacent_rows = g.a_turned || g.b_turned;
  const RowUnits<E, kUnits> a(g.a, {g.a_strides.col, g.a_strides.row}, g.m, g.packed, adjacent_rows,
                              g.a_turned);
  const RowUnits<E, kUnits> b(g.b, g.b_strides, g.n, g.packed, adjacent_rows, g.b_turned);

  Acc sums[kEntries][kEntries * 2][4] = {};
  const auto add = [&](const Unit(&left)[kUnits][kRows], const Unit(&right)[kUnits][kRows],
                       bool a_turned, bool b_turned) {
    Fragment x[kEntries];
#pragma unroll
    for (int h = 0; h < kEntries; ++h)
      x[h].take(left[h / Fragment::kEntries], h % Fragment::kEntries, a_turned);
#pragma unroll
    for (int j = 0; j < kEntries; ++j) {
      Fragment y;
      y.take(right[j / Fragment::kEntries], j % Fragment::kEntries, b_turned);
#pragma unroll
      for (int i = 0; i < kEntries; ++i) {
        multiply_entries<E, 0>(sums[i][2 * j], x[i], y);
        multiply_entries<E, 1>(sums[i][2 * j + 1], x[i], y);
      }
    }
  };
  const std::int64_t stride = std::int64_t{gridDim.x} * kGramRowsWarps * kStep;
  const std::int64_t own = (std::int64_t{blockIdx.x} * kGramRowsWarps + warp) * kStep;
  const std::int64_t whole = k / g.packed / kStep * kStep;
  std::int64_t row = own;
  // Of A alone where B is the same: nearly twice as many steps in flight.
  constexpr int kOfOne = 2 * kUnroll > 4 ? kUnroll + 2 : 2 * kUnroll;
  const auto add_steps = [&](auto steps, auto same) {
    constexpr int kSteps = decltype(steps)::value;
    constexpr bool kSame = decltype(same)::value;
    for (; row < whole; row += kSteps * stride) {
      Unit left[kSteps][kUnits][kRows];
      Unit right[kSame ? 1 : kSteps][kUnits][kRows];
#pragma unroll
      for (int s = 0; s < kSteps; ++s) {
#pragma unroll
        for (int i = 0; i < kRows; ++i) {
#pragma unroll
          for (int u = 0; u < kUnits; ++u) {
            const bool exists = s == 0 || row + s * stride < whole;
            left[s][u][i] = a.load(u, i, row + s * stride, exists);
            if constexpr (!kSame) right[s][u][i] = b.load(u, i, row + s * stride, exists);
          }
        }
      }
#pragma unroll
      for (int s = 0; s < kSteps; ++s)
        add(left[s], kSame ? left[s] : right[kSame ? 0 : s], g.a_turned, g.b_turned);
    }
    row = whole + own;
  };
  if (g.vectors) {
    if (g.symmetric) {
      add_steps(std::integral_constant<int, kOfOne>(), std::true_type());
    } else {
      add_steps(std::integral_constant<int, kUnroll>(), std::false_type());
    }
  }
  for (; row * g.packed < k; row += stride) {
    E x[kUnits][kRows][kRows];
    E y[kUnits][kRows][kRows];
#pragma unroll
    for (int u = 0; u < kUnits; ++u) {
#pragma unroll
      for (int i = 0; i < kRows; ++i) {
#pragma unroll
        for (int v = 0; v < kRows; ++v)
          y[u][i][v] = b.load_element(u, i, v, row, k);
      }
    }
    const bool in_units = g.a_vectors && row < whole;
    if (in_units) {
#pragma unroll
      for (int u = 0; u < kUnits; ++u) {
#pragma unroll
        for (int i = 0; i < kRows; ++i) {
          const Unit unit = a.load(u, i, row, true);
          memcpy(x[u][i], &unit, sizeof(unit));
        }
      }
    } else {
#pragma unroll
      for (int u = 0; u < kUnits; ++u) {
#pragma unroll
        for (int i = 0; i < kRows; ++i) {
#pragma unroll
          for (int v = 0; v < kRows; ++v)
            x[u][i][v] = a.load_element(u, i, v, row, k);
        }
      }
    }
    Unit left[kUnits][kRows];
    Unit right[kUnits][kRows];
    memcpy(left, x, sizeof(left));
    memcpy(right, y, sizeof(right));
    add(left, right, in_units && g.a_turned, false);
  }

  Acc* const wide = reinterpret_cast<Acc*>(dynamic_shared);  // [warps][of B][of A]
  const auto wide_element = [&](int entry, int unit_lane, int odd) {
    return (entry / Fragment::kEntries * 8 + unit_lane) * kRows + entry % Fragment::kEntries * 2 +
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
