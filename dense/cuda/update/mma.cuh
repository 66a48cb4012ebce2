// C[m, n] = alpha A[m, k] B[k, n] + beta C on tensor cores, long m: A passes from global memory
// straight into the fragments.
#pragma once

#include "dense/cuda/update/arguments.cuh"
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

/// What a warp and its lanes do of variant kVariant; A and C by columns or by rows. Lane (g, t) =
/// (lane / 4, lane % 4) holds kRows rows of each group of 8 kRows rows, two for each of kProducts
/// products of 16 rows: rows g and g + 8 of the product's fragment. Where A or C is by columns,
/// those are 16 bytes of adjacent rows; where both are by rows, rows of neighbouring lanes are
/// adjacent.
template <int kVariant, bool kAdds_, class T, class TOut>
struct UpdateMmaShape {
  using In = T;
  using Out = TOut;
  using Acc = device::DeviceAccumulator<T>;
  using Element = device::DeviceElement<T>;
  using Result = device::DeviceElement<TOut>;
  using Sum = std::conditional_t<sizeof(Element) == 2, float, double>;
  using F = Fragment<Element>;
  static constexpr UpdateMma kShape = kUpdateMma[kVariant];
  static constexpr bool kAdds = kAdds_;  // where it is not, beta is 0
  static constexpr bool kColumnsOfA = kShape.columns_of_a();
  static constexpr bool kColumnsOfC = kShape.columns_of_c();
  static constexpr int kRows = kColumnsOfA || kColumnsOfC ? kWide<Element> : 2;
  static constexpr int kProducts = kRows / 2;
  static constexpr int kGroupRows = 8 * kRows;
  static constexpr int kTogether = kColumnsOfC ? 1 : kInterleaved<Result, kShape.tiles>;
  using Sums = Sum[kShape.tiles][kShape.groups][kProducts][4];

  /// The row of its group that is row g + 8 `half` of the fragment of a product.
  static __device__ int row(int g, int product, int half) {
    return kColumnsOfA || kColumnsOfC ? g * kRows + product * 2 + half : g + half * 8;
  }
  /// Doubles by columns: lanes 8 t ... 8 t + 7 access the 128 adjacent bytes of a column and
  /// exchange them with those whose fragments hold them; where lane (g, t) accesses its own, every
  /// quarter of a warp touches four columns, which keeps the L1 busy four times as long (H200, 1e6
  /// x 16 x 16: .957 of the floor against .92). The half types lose by it (1e6 x 32 x 32: .81
  /// against .92).
  static constexpr bool kExchanged = sizeof(Element) == 8;
  /// Group of rows and of columns of a lane, as it accesses columns in memory.
  static __device__ int row_of(int lane) { return kExchanged ? lane % 8 : lane / 4; }
  static __device__ int column_of_lane(int lane) { return kExchanged ? lane / 8 : lane % 4; }
};

/// A column-major: a lane has its rows of columns (s * 4 + t) * kSpan + {0 ...} in step s. Product
/// i takes rows 2 i and 2 i + 1 of the lane's, and its columns for those that the fragment wants of
/// it: B's rows are permuted alike.
///
///   double: rows of C    fragment row       lane's word of a column
///           2g           g                  [2g | 2g + 1]
///           2g + 1       g + 8
template <class Shape>
struct UpdateColumnsOfA {
  using Arguments = UpdateArguments<typename Shape::In, typename Shape::Out>;
  using Element = typename Shape::Element;
  static constexpr UpdateMma kShape = Shape::kShape;
  using Values = Element[kShape.steps][kShape.groups][kShape.span][Shape::kRows];

  static __device__ void load(Values& values, const Arguments& g, int k, std::int64_t first,
                              int lane) {
    const std::int64_t i0 = first + Shape::row_of(lane) * Shape::kRows;
    const int p0 = Shape::column_of_lane(lane) * kShape.span;
    const std::int64_t ld = device::opaque(g.a_strides.col);
    const Element* const a = g.a + i0 + p0 * ld;
#pragma unroll
    for (int d = 0; d < kShape.steps; ++d) {
#pragma unroll
      for (int e = 0; e < kShape.span; ++e) {
        const int p = 4 * d * kShape.span + e;
#pragma unroll
        for (int s = 0; s < kShape.groups; ++s) {
          if (p0 + p < k && i0 + s * Shape::kGroupRows < g.m) {
            device::load_constant(values[d][s][e], a + p * ld + s * Shape::kGroupRows);
          } else {
            memset(values[d][s][e], 0, 16);
          }
        }
      }
    }
  }
  /// Lane (g, t) gets what lane 8 t + g has read.
  static __device__ void arrange(Values& values, int lane) {
    if constexpr (Shape::kExchanged) {
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
  static __device__ void fragment(typename Shape::F::A& a, const Values& values, int step,
                                  int /*part*/, int group, int product) {
    Shape::F::from_columns(a, values[step][group], 2 * product);
  }
};

/// A row-major: a lane loads elements (s * 4 + t) * kSpan + {0 ...} of its rows in step s; B's rows
/// are permuted alike.
template <class Shape>
struct UpdateRowsOfA {
  using Arguments = UpdateArguments<typename Shape::In, typename Shape::Out>;
  using Element = typename Shape::Element;
  static constexpr UpdateMma kShape = Shape::kShape;
  using Values = Element[kShape.steps][kShape.groups][Shape::kProducts][2][kShape.span];

  static __device__ void load(Values& values, const Arguments& g, int k, std::int64_t first,
                              int lane) {
    const std::int64_t i0 = first + Shape::row(lane / 4, 0, 0);
    const int p0 = lane % 4 * kShape.span;
    const std::int64_t ld = device::opaque(g.a_strides.row);
    const Element* const a = g.a + i0 * ld + p0;
#pragma unroll
    for (int s = 0; s < kShape.groups; ++s) {
#pragma unroll
      for (int r = 0; r < Shape::kRows; ++r) {
        const int row = s * Shape::kGroupRows + Shape::row(0, r / 2, r % 2);
#pragma unroll
        for (int d = 0; d < kShape.steps; ++d) {
          const int p = 4 * d * kShape.span;
          auto& span = values[d][s][r / 2][r % 2];
          if (p0 + p < k && i0 + row < g.m) {
            device::load_constant(span, a + row * ld + p);
          } else {
            memset(span, 0, sizeof(span));
          }
        }
      }
    }
  }
  static __device__ void arrange(Values& /*values*/, int /*lane*/) {}
  static __device__ void fragment(typename Shape::F::A& a, const Values& values, int step, int part,
                                  int group, int product) {
    Shape::F::from_rows(a, values[step][group][product], part * Shape::F::kSpan);
  }
};

/// C column-major: a lane's results are kRows adjacent rows of two columns, two stores of 16 bytes
/// for each 8 columns of C. Floats of half types are 32 bytes: lanes g and g + 1 exchange halves,
/// so that a store of both fills whole sectors.
///
///   rows of C    8g ..      8g + 4 ..     8g + 8 ..     8g + 12 ..     (g even)
///   computed by  g          g             g + 1         g + 1
///   stored by    g, first   g + 1, first  g, second     g + 1, second
template <class Shape>
struct UpdateColumnsOfC {
  using Arguments = UpdateArguments<typename Shape::In, typename Shape::Out>;
  using Acc = typename Shape::Acc;
  using Result = typename Shape::Result;
  static constexpr UpdateMma kShape = Shape::kShape;
  static constexpr int kRows = Shape::kRows;
  static constexpr int kWord = kRows < kWide<Result> ? kRows : kWide<Result>;
  static constexpr int kWords = kRows / kWord;  // stores of a lane and column
  using Column = Result[kWords][kWord];
  /// Columns of a group whose words of C are read before the first is stored.
  static constexpr int kBatch = kLinesAtOnce<Shape::kAdds, 2 * kShape.tiles, kWords>;

  /// From the words that a lane accesses to its rows, or back.
  static __device__ void exchange(Column& column, int lane, bool to_rows) {
    if constexpr (Shape::kExchanged) {
      device::exchange(column[0], to_rows ? lane % 4 * 8 + lane / 4 : lane % 8 * 4 + lane / 8);
    } else if constexpr (kWords == 2) {
      const bool second = lane / 4 % 2 != 0;
#pragma unroll
      for (int e = 0; e < kWord; ++e) {
        const Result other = device::shuffle_xor(second ? column[0][e] : column[1][e], 4);
        if (second) {
          column[0][e] = other;
        } else {
          column[1][e] = other;
        }
      }
    }
  }
  static __device__ void store(const typename Shape::Sums& sums, const Arguments& g,
                               const Factors<Acc>& factors, std::int64_t first, int n0, int lane) {
    const int group = Shape::row_of(lane);
    const std::int64_t i0 =
        first + (kWords == 1 ? group * kRows : group / 2 * (2 * kRows) + group % 2 * kWord);
    const int j0 = n0 + Shape::column_of_lane(lane) * 2;
    const std::int64_t ld = device::opaque(g.c_strides.col);
    auto* const c = g.c + i0 + j0 * ld;
    const bool adds = Shape::kAdds && factors.adds();
#pragma unroll
    for (int s = 0; s < kShape.groups; ++s) {
#pragma unroll
      for (int q0 = 0; q0 < 2 * kShape.tiles; q0 += kBatch) {
        Column columns[kBatch] = {};
        const auto j = [](int q) { return q / 2 * 8 + q % 2; };
        /// Whether the lane has a word w of column q: m is a multiple of kRows.
        const auto there = [&](int q, int w) {
          return i0 + s * Shape::kGroupRows + w * kRows < g.m && j0 + j(q) < g.n;
        };
        const auto place = [&](int q, int w) {
          return c + j(q) * ld + s * Shape::kGroupRows + w * kRows;
        };
        if (adds) {
#pragma unroll
          for (int x = 0; x < kBatch; ++x) {
#pragma unroll
            for (int w = 0; w < kWords; ++w)
              if (there(q0 + x, w)) device::load_wide(columns[x][w], place(q0 + x, w));
          }
        }
#pragma unroll
        for (int x = 0; x < kBatch; ++x) {
          Column& column = columns[x];
          const int q = q0 + x;
          if (adds) exchange(column, lane, true);
#pragma unroll
          for (int r = 0; r < kRows; ++r) {
            Result& element = column[r / kWord][r % kWord];
            element = factors.of(Acc(sums[q / 2][s][r / 2][r % 2 * 2 + q % 2]), element, adds);
          }
          exchange(column, lane, false);
#pragma unroll
          for (int w = 0; w < kWords; ++w)
            if (there(q, w)) device::store_streaming(place(q, w), column[w]);
        }
      }
    }
  }
};

/// C row-major: columns of kTogether n-tiles are interleaved (column_of), so that a lane's results
/// in a row are adjacent.
template <class Shape>
struct UpdateRowsOfC {
  using Arguments = UpdateArguments<typename Shape::In, typename Shape::Out>;
  using Acc = typename Shape::Acc;
  static constexpr UpdateMma kShape = Shape::kShape;

  static __device__ void store(const typename Shape::Sums& sums, const Arguments& g,
                               const Factors<Acc>& factors, std::int64_t first, int n0, int lane) {
    constexpr int kTogether = Shape::kTogether;
    const std::int64_t i0 = first + Shape::row(lane / 4, 0, 0);
    const int j0 = n0 + lane % 4 * (2 * kTogether);
    const std::int64_t ld = device::opaque(g.c_strides.row);
    auto* const c = g.c + i0 * ld + j0;
    constexpr int kAcross = kShape.tiles / kTogether;  // words of a row
    constexpr int kLines = kLinesAtOnce<Shape::kAdds, Shape::kRows, kAcross>;
#pragma unroll
    for (int s = 0; s < kShape.groups; ++s) {
#pragma unroll
      for (int r0 = 0; r0 < Shape::kRows; r0 += kLines) {
        const auto row = [&](int r) { return s * Shape::kGroupRows + Shape::row(0, r / 2, r % 2); };
        if (i0 + row(r0) >= g.m) break;
        const auto i = [&](int w) { return row(r0 + w / kAcross); };
        const auto j = [&](int w) { return w % kAcross * (8 * kTogether); };
        leave_words<Shape::kAdds, kLines * kAcross, 2 * kTogether>(
            factors, [&](int w) { return (kLines == 1 || i0 + i(w) < g.m) && j0 + j(w) < g.n; },
            [&](int w) { return c + i(w) * ld + j(w); },
            [&](int w, int q) {
              const int r = r0 + w / kAcross;
              return Acc(sums[w % kAcross * kTogether + q / 2][s][r / 2][r % 2 * 2 + q % 2]);
            });
      }
    }
  }
};

template <class Shape>
struct UpdateMmaSide
    : Shape,
      std::conditional_t<Shape::kColumnsOfA, UpdateColumnsOfA<Shape>, UpdateRowsOfA<Shape>>,
      std::conditional_t<Shape::kColumnsOfC, UpdateColumnsOfC<Shape>, UpdateRowsOfC<Shape>> {
  using Acc = typename Shape::Acc;
  using Element = typename Shape::Element;
  static constexpr UpdateMma kShape = Shape::kShape;
};

/// Block: `passes` times its warps' rows, adjacent in C. Warp and pass: kShape.groups groups of
/// rows x all columns of C, kShape.tiles n-tiles at a time; its part of A (all of k) is in
/// registers. Shared memory: B as fragments [n-tile][step][part of the step][lane].
template <class Shape>
__global__ void __launch_bounds__(256)
    update_mma_kernel(UpdateArguments<typename Shape::In, typename Shape::Out> g) {
  using Side = UpdateMmaSide<Shape>;
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
  if constexpr (Side::kAdds) prefetch_c(g, factors, first, kPassRows, 0, g.n);
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
      typename Side::Sums sums = {};
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
    if (Side::kAdds && pass + 1 < g.passes) prefetch_c(g, factors, first, kPassRows, 0, g.n);
  }
}

}  // namespace lanky::dense::cuda
