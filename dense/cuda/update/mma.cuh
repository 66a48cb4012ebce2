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
      a[2 * e] = e < kCount ? device::factor<double>(columns[e % kCount][r]) : 0;
      a[2 * e + 1] = e < kCount ? device::factor<double>(columns[e % kCount][r + 1]) : 0;
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

/// What a warp and its lanes do of variant kVariant; A and C by columns or by rows. Lane (g, t) =
/// (lane / 4, lane % 4) holds kRows rows of each group of 8 kRows rows, two for each of kProducts
/// products of 16 rows: rows g and g + 8 of the product's fragment. Where A or C is by columns,
/// those are 16 bytes of adjacent rows; where both are by rows, rows of neighbouring lanes are
/// adjacent.
///
/// A: a lane has elements (s * 4 + t) * span + {0 ...} along k of its rows in step s, for those
/// that the fragments want of it: B's rows are permuted alike. By columns, product i takes rows 2 i
/// and 2 i + 1 of the lane's:
///
///   double: rows of C    fragment row       lane's word of a column
///           2g           g                  [2g | 2g + 1]
///           2g + 1       g + 8
///
/// C by columns: a lane's results are kRows adjacent rows of two columns, two stores of 16 bytes
/// for each 8 columns of C. Floats of half types are 32 bytes: lanes g and g + 1 exchange halves,
/// so that a store of both fills whole sectors.
///
///   rows of C    8g ..      8g + 4 ..     8g + 8 ..     8g + 12 ..     (g even)
///   computed by  g          g             g + 1         g + 1
///   stored by    g, first   g + 1, first  g, second     g + 1, second
///
/// C by rows: columns of kTogether n-tiles are interleaved, so that a lane's results in a row are
/// adjacent, 16 bytes of them.
template <int kVariant, bool kAdds_, class T, class TOut>
struct UpdateMmaShape {
  using Arguments = UpdateArguments<T, TOut>;
  using Acc = typename Arguments::Acc;
  using Element = typename Arguments::Element;
  using Result = typename Arguments::Result;
  using Sum = std::conditional_t<sizeof(Element) == 2, float, double>;
  using F = Fragment<Element>;
  static constexpr UpdateMma kShape = kUpdateMma[kVariant];
  static constexpr bool kAdds = kAdds_;  // where it is not, beta is 0
  static constexpr bool kColumnsOfA = kShape.columns_of_a();
  static constexpr bool kColumnsOfC = kShape.columns_of_c();
  static constexpr bool kStagesC = false;
  /// Rows from a warp to the next.
  static __device__ int stride(const Arguments& /*g*/) { return kPassRows; }
  static constexpr int kSteps = kShape.steps;
  static constexpr int kGroups = kShape.groups;
  static constexpr int kTiles = kShape.tiles;
  static constexpr int kSpan = kShape.span;
  /// Products along k of a step, each of F::kSpan elements a lane.
  static constexpr int kParts = kSpan <= F::kSpan ? 1 : kSpan / F::kSpan;
  static constexpr int kRows = kColumnsOfA || kColumnsOfC ? kWide<Element> : 2;
  static constexpr int kProducts = kRows / 2;
  static constexpr int kGroupRows = 8 * kRows;
  static constexpr int kPassRows = kGroupRows * kGroups;  // of a warp
  static constexpr int kTogether = kColumnsOfC                  ? 1
                                   : kWide<Result> / 2 < kTiles ? kWide<Result> / 2
                                                                : kTiles;
  using Values = std::conditional_t<kColumnsOfA, Element[kSteps][kGroups][kSpan][kRows],
                                    Element[kSteps][kGroups][kProducts][2][kSpan]>;
  using Sums = Sum[kTiles][kGroups][kProducts][4];

  /// Nothing: words of C leave from registers.
  static __device__ int lines_of_c(const Arguments& /*g*/, std::int64_t /*first*/, char* /*place*/,
                                   int /*warp*/) {
    return 0;
  }
  /// The row of its group that is row g + 8 `half` of the fragment of a product.
  static __device__ int row(int g, int product, int half) {
    return kColumnsOfA || kColumnsOfC ? g * kRows + product * 2 + half : g + half * 8;
  }
  /// Doubles by columns: lanes 8 t ... 8 t + 7 access the 128 adjacent bytes of a column and
  /// exchange them with those whose fragments hold them; where lane (g, t) accesses its own, every
  /// quarter of a warp touches four columns, which keeps the L1 busy four times as long. The half
  /// types lose by it.
  static constexpr bool kExchanged = sizeof(Element) == 8;
  /// Group of rows and of columns of a lane, as it accesses columns in memory.
  static __device__ int row_of(int lane) { return kExchanged ? lane % 8 : lane / 4; }
  static __device__ int column_of_lane(int lane) { return kExchanged ? lane / 8 : lane % 4; }

  /// Fragment [n-tile][step][part of the step] of B.
  static __device__ typename F::B fragment_of_b(const Arguments& g, int k, int fragment, int lane) {
    const int part = fragment % kParts;
    const int step = fragment / kParts % kSteps;
    const int tile = fragment / kParts / kSteps;
    const int c = lane / 4;
    const int j =
        tile / kTogether * (8 * kTogether) + c / 2 * (2 * kTogether) + tile % kTogether * 2 + c % 2;
    const int p = (step * 4 + lane % 4) * kSpan + part * F::kSpan;
    const Element* const source = g.b + p * g.b_strides.row + j * g.b_strides.col;
    typename F::B b;
#pragma unroll
    for (int e = 0; e < F::kSpan; ++e)
      b.e[e] =
          e < kSpan / kParts && p + e < k && j < g.n ? source[e * g.b_strides.row] : Element(0.f);
    return b;
  }

  /// visit(number of the unit, row and element along k from the lane's first ones on, the unit) for
  /// the units of adjacent elements that a lane loads, in the order of the loads.
  template <class Units, class Visit>
  static __device__ void for_each_unit(Units& units, Visit visit) {
    if constexpr (kColumnsOfA) {
#pragma unroll
      for (int d = 0; d < kSteps; ++d) {
#pragma unroll
        for (int e = 0; e < kSpan; ++e) {
#pragma unroll
          for (int s = 0; s < kGroups; ++s)
            visit((d * kSpan + e) * kGroups + s, s * kGroupRows, 4 * d * kSpan + e, units[d][s][e]);
        }
      }
    } else {
#pragma unroll
      for (int s = 0; s < kGroups; ++s) {
#pragma unroll
        for (int r = 0; r < kRows; ++r) {
#pragma unroll
          for (int d = 0; d < kSteps; ++d)
            visit((s * kRows + r) * kSteps + d, s * kGroupRows + row(0, r / 2, r % 2),
                  4 * d * kSpan, units[d][s][r / 2][r % 2]);
        }
      }
    }
  }
  static __device__ void load(Values& values, const Arguments& g, int k, std::int64_t first,
                              int lane) {
    const std::int64_t i0 = first + (kColumnsOfA ? row_of(lane) * kRows : row(lane / 4, 0, 0));
    const int p0 = (kColumnsOfA ? column_of_lane(lane) : lane % 4) * kSpan;
    const std::int64_t ld = device::opaque(kColumnsOfA ? g.a_strides.col : g.a_strides.row);
    const Element* const a = g.a + (kColumnsOfA ? i0 + p0 * ld : i0 * ld + p0);
    for_each_unit(values, [&](int /*unit*/, int i, int p, auto& word) {
      if (p0 + p < k && i0 + i < g.m) {
        device::load_constant(word, a + (kColumnsOfA ? p * ld + i : i * ld + p));
      } else {
        memset(word, 0, sizeof(word));
      }
    });
  }
  /// Lane (g, t) gets what lane 8 t + g has read.
  static __device__ void arrange(Values& values, int lane) {
    if constexpr (kColumnsOfA && kExchanged) {
#pragma unroll
      for (int d = 0; d < kSteps; ++d) {
#pragma unroll
        for (int s = 0; s < kGroups; ++s) {
#pragma unroll
          for (int e = 0; e < kSpan; ++e)
            device::exchange(values[d][s][e], lane % 4 * 8 + lane / 4);
        }
      }
    }
  }
  static __device__ void fragment(typename F::A& a, const Values& values, int step, int part,
                                  int group, int product) {
    if constexpr (kColumnsOfA) {
      F::from_columns(a, values[step][group], 2 * product);
    } else {
      F::from_rows(a, values[step][group][product], part * F::kSpan);
    }
  }

  static constexpr int kWord = kRows < kWide<Result> ? kRows : kWide<Result>;
  static constexpr int kWords = kRows / kWord;  // stores of a lane and column of C
  using Column = Result[kWords][kWord];
  /// From the words that a lane accesses to its rows, or back.
  static __device__ void exchange(Column& column, int lane, bool to_rows) {
    if constexpr (kExchanged) {
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
  static __device__ void store_columns(const Sums& sums, const Arguments& g,
                                       const Factors<Acc>& factors, std::int64_t first, int n0,
                                       int lane) {
    /// Columns of a group whose words of C are read before the first is stored.
    constexpr int kBatch = kLinesAtOnce<kAdds, 2 * kTiles, kWords>;
    const int group = row_of(lane);
    const std::int64_t i0 =
        first + (kWords == 1 ? group * kRows : group / 2 * (2 * kRows) + group % 2 * kWord);
    const int j0 = n0 + column_of_lane(lane) * 2;
    const std::int64_t ld = device::opaque(g.c_strides.col);
    auto* const c = g.c + i0 + j0 * ld;
    const bool adds = kAdds && factors.adds();
#pragma unroll
    for (int s = 0; s < kGroups; ++s) {
#pragma unroll
      for (int q0 = 0; q0 < 2 * kTiles; q0 += kBatch) {
        Column columns[kBatch] = {};
        const auto j = [](int q) { return q / 2 * 8 + q % 2; };
        /// Whether the lane has a word w of column q: m is a multiple of kRows.
        const auto there = [&](int q, int w) {
          return i0 + s * kGroupRows + w * kRows < g.m && j0 + j(q) < g.n;
        };
        const auto place = [&](int q, int w) { return c + j(q) * ld + s * kGroupRows + w * kRows; };
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
  static __device__ void store_rows(const Sums& sums, const Arguments& g,
                                    const Factors<Acc>& factors, std::int64_t first, int n0,
                                    int lane) {
    const std::int64_t i0 = first + row(lane / 4, 0, 0);
    const int j0 = n0 + lane % 4 * (2 * kTogether);
    const std::int64_t ld = device::opaque(g.c_strides.row);
    auto* const c = g.c + i0 * ld + j0;
    constexpr int kAcross = kTiles / kTogether;  // words of a row
    constexpr int kLines = kLinesAtOnce<kAdds, kRows, kAcross>;
#pragma unroll
    for (int s = 0; s < kGroups; ++s) {
#pragma unroll
      for (int r0 = 0; r0 < kRows; r0 += kLines) {
        const auto row_of_group = [&](int r) { return s * kGroupRows + row(0, r / 2, r % 2); };
        if (i0 + row_of_group(r0) >= g.m) break;
        const auto i = [&](int w) { return row_of_group(r0 + w / kAcross); };
        const auto j = [&](int w) { return w % kAcross * (8 * kTogether); };
        leave_words<kAdds, kLines * kAcross, 2 * kTogether>(
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

/// Block: `passes` times its warps' rows, adjacent in C. Warp and pass: kGroups groups of rows x
/// all columns of C, kTiles n-tiles at a time; its part of A (all of k) is in registers. Shared
/// memory: B as fragments [n-tile][step][part of the step][lane]; where kStagesC, C's rows of a
/// pass [warp] as well.
template <class Shape>
__global__ void __launch_bounds__(256) update_mma_kernel(typename Shape::Arguments g) {
  using F = typename Shape::F;
  constexpr int kSteps = Shape::kSteps;
  constexpr int kTiles = Shape::kTiles;
  constexpr int kParts = Shape::kParts;
  constexpr int kPassRows = Shape::kPassRows;
  extern __shared__ __align__(16) char staged[];
  auto* const b_shared = reinterpret_cast<typename F::B*>(staged);  // [tile][step][part][lane]
  device::let_next_kernel_start();
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int warps = static_cast<int>(blockDim.x) / 32;
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const int stride = Shape::stride(g);
  std::int64_t first = (static_cast<std::int64_t>(blockIdx.x) * g.passes * warps + warp) * stride;
  device::wait_for_kernel_ahead();
  const Factors<typename Shape::Acc> factors(g);
  const int k = factors.k;

  typename Shape::Values values;
  Shape::load(values, g, k, first, lane);  // in flight while B is staged
  if constexpr (Shape::kAdds) prefetch_c(g, factors, first, kPassRows, 0, g.n);
  constexpr int kBatch = kSteps * kTiles >= 8 ? 4 : 2;  // fragments whose loads are in flight
  constexpr int kColumns = 8 * kTiles;                  // of C at once
  constexpr int kFragments = kTiles * kSteps * kParts;  // of those columns
  const int fragments = (g.n + kColumns - 1) / kColumns * kFragments;
  for (int f0 = warp; f0 < fragments; f0 += warps * kBatch) {
    typename F::B b[kBatch];
#pragma unroll
    for (int s = 0; s < kBatch; ++s)
      if (f0 + s * warps < fragments) b[s] = Shape::fragment_of_b(g, k, f0 + s * warps, lane);
#pragma unroll
    for (int s = 0; s < kBatch; ++s)
      if (f0 + s * warps < fragments) b_shared[(f0 + s * warps) * 32 + lane] = b[s];
  }
  __syncthreads();  // B is written before it is read
  char* const place_of_c = staged + fragments * 32 * sizeof(typename F::B);
  for (int pass = 0; pass < g.passes; ++pass) {
    Shape::arrange(values, lane);
    [[maybe_unused]] const auto c_lines = Shape::lines_of_c(g, first, place_of_c, warp);
    if constexpr (Shape::kStagesC)
      if (factors.adds()) Shape::fetch_rows(g, c_lines);
    const typename F::B* b_tile = b_shared + lane;
    for (int n0 = 0; n0 < g.n; n0 += kColumns) {
      __syncwarp();  // keeps the fragments of B in shared memory: the compiler would hold them
      typename Shape::Sums sums = {};
#pragma unroll
      for (int d = 0; d < kSteps; ++d) {
#pragma unroll
        for (int u = 0; u < kParts; ++u) {
#pragma unroll
          for (int j = 0; j < kTiles; ++j) {
            const typename F::B b = b_tile[((j * kSteps + d) * kParts + u) * 32];
#pragma unroll
            for (int s = 0; s < Shape::kGroups; ++s) {
#pragma unroll
              for (int i = 0; i < Shape::kProducts; ++i) {
                typename F::A a;
                Shape::fragment(a, values, d, u, s, i);
                F::multiply(sums[j][s][i], a, b);
              }
            }
          }
        }
      }
      if constexpr (Shape::kColumnsOfC) {
        Shape::store_columns(sums, g, factors, first, n0, lane);
      } else if constexpr (Shape::kStagesC) {
        Shape::stage_rows(sums, g, factors, c_lines, n0, lane);
      } else {
        Shape::store_rows(sums, g, factors, first, n0, lane);
      }
      b_tile += kFragments * 32;
    }
    if constexpr (Shape::kStagesC) Shape::leave_rows(c_lines, first, stride);
    first += warps * stride;
    if (pass + 1 < g.passes) Shape::load(values, g, k, first, lane);
    if (Shape::kAdds && pass + 1 < g.passes) prefetch_c(g, factors, first, kPassRows, 0, g.n);
  }
}

}  // namespace lanky::dense::cuda
