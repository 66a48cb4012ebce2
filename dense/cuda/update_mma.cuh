// C[m, n] = alpha A[m, k] B[k, n] + beta C on tensor cores, long m: A passes from global memory
// straight into the fragments.
#pragma once

#include "dense/cuda/update_arguments.cuh"
#include "device/mma.cuh"

namespace lanky::dense::cuda {

/// Operands of one product of 16 rows, in the registers of a lane; kSpan: its elements along k.
template <class Element>
struct Fragment {  // half types, m16n8k16
  static constexpr int kSpan = 4;
  using A = std::uint32_t[4];
  struct alignas(8) B {
    Element e[4];
  };

  static __device__ void multiply(float (&c)[4], const A& a, const B& b) {
    std::uint32_t words[2];
    memcpy(words, &b, sizeof(words));
    device::mma_m16n8k16<Element>(c, a[0], a[1], a[2], a[3], words[0], words[1]);
  }
  /// Rows r, r + 1 of the lane's columns of A.
  template <int kCount, int kRows>
  static __device__ void from_columns(A& a, const Element (&columns)[kCount][kRows], int r) {
#pragma unroll
    for (int pair = 0; pair < 2; ++pair) {
      std::uint32_t x = 0;
      std::uint32_t y = 0;
      if (2 * pair < kCount) {
        memcpy(&x, &columns[2 * pair % kCount][r], 4);
        memcpy(&y, &columns[(2 * pair + 1) % kCount][r], 4);
      }
      a[2 * pair] = __byte_perm(x, y, 0x5410);      // the lower halves: row r
      a[2 * pair + 1] = __byte_perm(x, y, 0x7632);  // the upper ones
    }
  }
  /// Elements p ... of the lane's two rows of A.
  template <int kCount>
  static __device__ void from_rows(A& a, const Element (&rows)[2][kCount], int p) {
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      memcpy(&a[r], &rows[r][p], 4);
      a[2 + r] = 0;
      if (kCount >= kSpan) memcpy(&a[2 + r], &rows[r][(p + 2) % kCount], 4);
    }
  }
};
struct DoubleFragment {  // m16n8k8
  static constexpr int kSpan = 2;
  using A = double[4];
  struct alignas(16) B {
    double e[2];
  };

  static __device__ void multiply(double (&c)[4], const A& a, const B& b) {
    device::mma_m16n8k8(c, a[0], a[1], a[2], a[3], b.e[0], b.e[1]);
  }
  template <int kCount, int kRows, class Element>
  static __device__ void from_columns(A& a, const Element (&columns)[kCount][kRows], int r) {
#pragma unroll
    for (int e = 0; e < 2; ++e) {
      a[2 * e] = e < kCount ? columns[e % kCount][r] : 0;
      a[2 * e + 1] = e < kCount ? columns[e % kCount][r + 1] : 0;
    }
  }
  template <int kCount, class Element>
  static __device__ void from_rows(A& a, const Element (&rows)[2][kCount], int p) {
#pragma unroll
    for (int e = 0; e < 2; ++e) {
      a[2 * e] = e < kCount ? rows[0][(p + e) % kCount] : 0;
      a[2 * e + 1] = e < kCount ? rows[1][(p + e) % kCount] : 0;
    }
  }
};
template <>
struct Fragment<double> : DoubleFragment {};
/// Products and sums of floats in double are exact products and better sums; the tensor cores do
/// them in half the time that the CUDA cores take.
template <>
struct Fragment<float> : DoubleFragment {};

/// n-tiles whose columns are interleaved, so that a lane's results in them are adjacent: 16 bytes
/// of Result.
template <class Result, int kTiles>
inline constexpr int kInterleaved = kWide<Result> / 2 < kTiles ? kWide<Result> / 2 : kTiles;

/// The column of C that stands in column `c` of n-tile `j`.
template <int kTogether>
__device__ constexpr int column_of(int j, int c) {
  return j / kTogether * (8 * kTogether) + c / 2 * (2 * kTogether) + j % kTogether * 2 + c % 2;
}

/// Products along k of a step, each of kSpan elements a lane.
template <class F>
__device__ constexpr int parts_of(UpdateMma shape) {
  return shape.span <= F::kSpan ? 1 : shape.span / F::kSpan;
}

/// Fragment [n-tile][step][part of the step] of B, whose columns are interleaved in n-tiles.
template <class Side>
__device__ typename Side::F::B fragment_of_b(
    const UpdateArguments<typename Side::In, typename Side::Out>& g, int k, int fragment,
    int lane) {
  using F = typename Side::F;
  using Element = typename Side::Element;
  constexpr UpdateMma kShape = Side::kShape;
  constexpr int kParts = parts_of<F>(kShape);
  const int part = fragment % kParts;
  const int step = fragment / kParts % kShape.steps;
  const int tile = fragment / kParts / kShape.steps;
  const int j = column_of<Side::kTogether>(tile, lane / 4);
  const int p = (step * 4 + lane % 4) * kShape.span + part * F::kSpan;
  const Element* const source = g.b + p * g.b_strides.row + j * g.b_strides.col;
  typename F::B b;
#pragma unroll
  for (int e = 0; e < F::kSpan; ++e)
    b.e[e] = e < kShape.span / kParts && p + e < k && j < g.n ? source[e * g.b_strides.row]
                                                              : Element(0.f);
  return b;
}

/// A and C column-major. One group of rows is 8 lanes x 16 bytes: 16 rows of double (one product),
/// 64 of the half types (4 products). Lane (g, t) = (lane / 4, lane % 4) has rows R g ... R g + R
/// - 1 (R = 16 bytes of elements) of columns (s * 4 + t) * kSpan + {0 ...} in step s. Product i
/// takes rows R g + 2 i and R g + 2 i + 1 for rows g and g + 8 of its fragment, and the lane's
/// columns for those that the fragment wants of it: B's rows are permuted alike. So a lane's
/// results are R adjacent rows of two columns, two stores of 16 bytes for each 8 columns of C.
///
///   double: rows of C    fragment row       lane's word of a column
///           2g           g                  [2g | 2g + 1]
///           2g + 1       g + 8
template <int kVariant, class T, class TOut>
struct UpdateColumns {
  using In = T;
  using Out = TOut;
  using Acc = device::DeviceAccumulator<T>;
  using Element = device::DeviceElement<T>;
  using Result = device::DeviceElement<TOut>;
  using Sum = std::conditional_t<sizeof(Element) == 2, float, double>;
  using F = Fragment<Element>;
  static constexpr UpdateMma kShape = kUpdateMmaColumns[kVariant];
  static constexpr int kRows = kWide<Element>;  // of a lane and group
  static constexpr int kGroupRows = 8 * kRows;
  static constexpr int kProducts = kRows / 2;  // of 16 rows, in a group
  static constexpr int kTogether = 1;
  using Values = Element[kShape.steps][kShape.groups][kShape.span][kRows];

  /// Doubles: lanes 8 t ... 8 t + 7 read the 128 adjacent bytes of a column and exchange them for
  /// those of the fragment; where lane (g, t) reads its own, every quarter of a warp touches four
  /// columns, which keeps the L1 busy four times as long (H200, 1e6 x 16 x 16: .957 of the floor
  /// against .92). The half types lose by it (1e6 x 32 x 32: .81 against .92).
  static constexpr bool kExchanged = sizeof(Element) == 8;
  /// Group of rows and of columns of a lane, as it accesses memory.
  static __device__ int row_of(int lane) { return kExchanged ? lane % 8 : lane / 4; }
  static __device__ int column_of_lane(int lane) { return kExchanged ? lane / 8 : lane % 4; }

  static __device__ void load(Values& values, const UpdateArguments<T, TOut>& g, int k,
                              std::int64_t first, int lane) {
    const std::int64_t i0 = first + row_of(lane) * kRows;
    const int p0 = column_of_lane(lane) * kShape.span;
    const std::int64_t ld = device::opaque(g.a_strides.col);
    const Element* const a = g.a + i0 + p0 * ld;
#pragma unroll
    for (int d = 0; d < kShape.steps; ++d) {
#pragma unroll
      for (int e = 0; e < kShape.span; ++e) {
        const int p = 4 * d * kShape.span + e;
#pragma unroll
        for (int s = 0; s < kShape.groups; ++s) {
          if (p0 + p < k && i0 + s * kGroupRows < g.m) {
            device::load_constant(values[d][s][e], a + p * ld + s * kGroupRows);
          } else {
            memset(values[d][s][e], 0, 16);
          }
        }
      }
    }
  }
  /// Lane (g, t) gets what lane 8 t + g has read.
  static __device__ void arrange(Values& values, int lane) {
    if constexpr (kExchanged) {
#pragma unroll
      for (int d = 0; d < kShape.steps; ++d) {
#pragma unroll
        for (int s = 0; s < kShape.groups; ++s) {
#pragma unroll
          for (int e = 0; e < kShape.span; ++e)
            device::exchange(values[d][s][e], lane % 4 * 8 + lane / 4);
        }
      }
    }
  }
  static __device__ void fragment(typename F::A& a, const Values& values, int step, int /*part*/,
                                  int group, int product) {
    F::from_columns(a, values[step][group], 2 * product);
  }
  static __device__ void store(const Sum (&sums)[kShape.tiles][kShape.groups][kProducts][4],
                               const UpdateArguments<T, TOut>& g, const Factors<Acc>& factors,
                               std::int64_t first, int n0, int lane) {
    const std::int64_t i0 = first + row_of(lane) * kRows;
    const int j0 = n0 + column_of_lane(lane) * 2;
    const std::int64_t ld = device::opaque(g.c_strides.col);
    auto* const c = g.c + i0 + j0 * ld;
#pragma unroll
    for (int s = 0; s < kShape.groups; ++s) {
#pragma unroll
      for (int q = 0; q < 2 * kShape.tiles; ++q) {
        const int j = q / 2 * 8 + q % 2;
        const bool there = i0 + s * kGroupRows < g.m && j0 + j < g.n;
        auto* const target = c + j * ld + s * kGroupRows;
        Result column[kRows];
        if (factors.beta != Acc(0)) {
          if (there) device::load_words(column, target);
          if constexpr (kExchanged) device::exchange(column, lane % 4 * 8 + lane / 4);
#pragma unroll
          for (int r = 0; r < kRows; ++r)
            column[r] = device::narrow<Result>(factors.alpha *
                                                   Acc(sums[q / 2][s][r / 2][r % 2 * 2 + q % 2]) +
                                               factors.beta * device::widen(column[r]));
        } else {
#pragma unroll
          for (int r = 0; r < kRows; ++r)
            column[r] = device::narrow<Result>(factors.alpha *
                                               Acc(sums[q / 2][s][r / 2][r % 2 * 2 + q % 2]));
        }
        if constexpr (kExchanged) device::exchange(column, lane % 8 * 4 + lane / 8);
        if (there) device::store_words(target, column);
      }
    }
  }
};

/// A and C row-major. One group of rows: one product of 16. Lane (g, t) loads elements (s * 4 + t)
/// * kSpan + {0 ...} of rows g and g + 8 in step s; B's rows are permuted alike. Columns of
/// kTogether n-tiles are interleaved (column_of), so that a lane's results are adjacent.
template <int kVariant, class T, class TOut>
struct UpdateRows {
  using In = T;
  using Out = TOut;
  using Acc = device::DeviceAccumulator<T>;
  using Element = device::DeviceElement<T>;
  using Sum = std::conditional_t<sizeof(Element) == 2, float, double>;
  using F = Fragment<Element>;
  static constexpr UpdateMma kShape = kUpdateMmaRows[kVariant];
  static constexpr int kGroupRows = 16;
  static constexpr int kProducts = 1;
  static constexpr int kTogether = kInterleaved<device::DeviceElement<TOut>, kShape.tiles>;
  using Values = Element[kShape.steps][kShape.groups][2][kShape.span];

  static __device__ void load(Values& values, const UpdateArguments<T, TOut>& g, int k,
                              std::int64_t first, int lane) {
    const std::int64_t i0 = first + lane / 4;
    const int p0 = lane % 4 * kShape.span;
    const std::int64_t ld = device::opaque(g.a_strides.row);
    const Element* const a = g.a + i0 * ld + p0;
#pragma unroll
    for (int s = 0; s < kShape.groups; ++s) {
#pragma unroll
      for (int r = 0; r < 2; ++r) {
        const int row = s * 16 + r * 8;
#pragma unroll
        for (int d = 0; d < kShape.steps; ++d) {
          const int p = 4 * d * kShape.span;
          if (p0 + p < k && i0 + row < g.m) {
            device::load_constant(values[d][s][r], a + row * ld + p);
          } else {
            memset(values[d][s][r], 0, sizeof(values[d][s][r]));
          }
        }
      }
    }
  }
  static __device__ void arrange(Values& /*values*/, int /*lane*/) {}
  static __device__ void fragment(typename F::A& a, const Values& values, int step, int part,
                                  int group, int /*product*/) {
    F::from_rows(a, values[step][group], part * F::kSpan);
  }
  static __device__ void store(const Sum (&sums)[kShape.tiles][kShape.groups][1][4],
                               const UpdateArguments<T, TOut>& g, const Factors<Acc>& factors,
                               std::int64_t first, int n0, int lane) {
    const std::int64_t i0 = first + lane / 4;
    const int j0 = n0 + lane % 4 * (2 * kTogether);
    const std::int64_t ld = device::opaque(g.c_strides.row);
    auto* const c = g.c + i0 * ld + j0;
#pragma unroll
    for (int s = 0; s < kShape.groups; ++s) {
#pragma unroll
      for (int r = 0; r < 2; ++r) {
        const int row = s * 16 + r * 8;
        if (i0 + row >= g.m) break;
#pragma unroll
        for (int j = 0; j < kShape.tiles; j += kTogether) {
          if (j0 + j * 8 >= g.n) break;
          Acc sum[2 * kTogether];
#pragma unroll
          for (int q = 0; q < 2 * kTogether; ++q)
            sum[q] = Acc(sums[j + q / 2][s][0][r * 2 + q % 2]);
          finish(c + row * ld + j * 8, sum, factors);
        }
      }
    }
  }
};

/// Block: `passes` times its warps' rows, adjacent in C. Warp and pass: kShape.groups groups of
/// rows x all columns of C, kShape.tiles n-tiles at a time; its part of A (all of k) is in
/// registers. Shared memory: B as fragments [n-tile][step][part of the step][lane].
template <class Side>
__global__ void __launch_bounds__(256)
    update_mma_kernel(UpdateArguments<typename Side::In, typename Side::Out> g) {
  using Acc = typename Side::Acc;
  using Element = typename Side::Element;
  using F = typename Side::F;
  constexpr UpdateMma kShape = Side::kShape;
  constexpr int kParts = parts_of<F>(kShape);
  constexpr int kAlongK = kShape.steps * kParts;
  constexpr int kPassRows = Side::kGroupRows * kShape.groups;
  extern __shared__ __align__(16) char staged[];
  auto* const b_shared = reinterpret_cast<typename F::B*>(staged);  // [tile][step][part][lane]
  device::let_next_kernel_start();
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int warps = static_cast<int>(blockDim.x) / 32;
  const int warp = static_cast<int>(threadIdx.x) / 32;
  std::int64_t first =
      (static_cast<std::int64_t>(blockIdx.x) * g.passes * warps + warp) * kPassRows;
  device::wait_for_kernel_ahead();
  const Factors<Acc> factors(g);
  const int k = factors.k;

  typename Side::Values values;
  Side::load(values, g, k, first, lane);  // in flight while B is staged
  const auto load_b = [&](int fragment) { return fragment_of_b<Side>(g, k, fragment, lane); };
  constexpr int kBatch =
      kShape.steps * kShape.tiles >= 8 ? 4 : 2;  // fragments whose loads are in flight at once
  constexpr int kColumns = 8 * kShape.tiles;     // of C at once
  const int fragments = (g.n + kColumns - 1) / kColumns * kShape.tiles * kAlongK;
  for (int f0 = warp; f0 < fragments; f0 += warps * kBatch) {
    typename F::B b[kBatch];
#pragma unroll
    for (int s = 0; s < kBatch; ++s)
      if (f0 + s * warps < fragments) b[s] = load_b(f0 + s * warps);
#pragma unroll
    for (int s = 0; s < kBatch; ++s)
      if (f0 + s * warps < fragments) b_shared[(f0 + s * warps) * 32 + lane] = b[s];
  }
  __syncthreads();  // B is written before it is read
  for (int pass = 0; pass < g.passes; ++pass) {
    typename Side::Values next;
    if constexpr (kShape.ahead) {
      if (pass + 1 < g.passes) Side::load(next, g, k, first + warps * kPassRows, lane);
    }
    Side::arrange(values, lane);
    const typename F::B* b_tile = b_shared + lane;
    for (int n0 = 0; n0 < g.n; n0 += kColumns) {
      __syncwarp();  // keeps the fragments of B in shared memory: the compiler would hold them
      typename Side::Sum sums[kShape.tiles][kShape.groups][Side::kProducts][4] = {};
#pragma unroll
      for (int d = 0; d < kShape.steps; ++d) {
#pragma unroll
        for (int u = 0; u < kParts; ++u) {
#pragma unroll
          for (int j = 0; j < kShape.tiles; ++j) {
            const typename F::B b = b_tile[((j * kShape.steps + d) * kParts + u) * 32];
#pragma unroll
            for (int s = 0; s < kShape.groups; ++s) {
#pragma unroll
              for (int i = 0; i < Side::kProducts; ++i) {
                typename F::A a;
                Side::fragment(a, values, d, u, s, i);
                F::multiply(sums[j][s][i], a, b);
              }
            }
          }
        }
      }
      Side::store(sums, g, factors, first, n0, lane);
      b_tile += kShape.tiles * kAlongK * 32;
    }
    first += warps * kPassRows;
    if constexpr (kShape.ahead) {
      memcpy(&values, &next, sizeof(values));
    } else {
      if (pass + 1 < g.passes) Side::load(values, g, k, first, lane);
    }
  }
}

}  // namespace lanky::dense::cuda
