// The product of a chunk of A with a group of columns of B on the tensor cores. Chunk and fragments
// are laid out so that each load of A is 16 bytes and a quarter of a warp hits all banks: k is
// permuted inside a step, rows inside a chunk, and B follows.
#pragma once

#include <cuda_runtime.h>

#include <type_traits>

#include "dense/cuda/panel/product.cuh"
#include "device/element.cuh"
#include "device/matrix_copy.cuh"
#include "device/mma.cuh"
#include "device/tf32.cuh"
#include "device/wgmma.cuh"

namespace lanky::dense::cuda {

/// A chunk is lines of 128 bytes, unit u (16 bytes, V = 4 floats or 2 doubles) of line l at
/// u ^ (l % 8). Lane l = 4 g + t holds of step s (8 of k) and product i (16 rows):
///   column-major, boxes of V * 8 rows x 16 k: rows V g + 2 (i % (V / 2)) + {0, 1} of box i / (V /
///   2),
///                                             k = 8 s + 2 t + {0, 1}
///   along k, 32 rows x 8 V k:                 rows 16 i + g + {0, 8}, k = 2 V t + s + {0, V}
/// as a[i][row + 2 k]. B lies as [s][8 columns][lane][2 of k].
template <class Word, bool kLongK, int kRowBoxes = 2>
struct MmaFragments {
  static constexpr int kVector = 16 / sizeof(Word);
  static constexpr int kBoxes = kLongK ? 1 : kRowBoxes;
  static constexpr int kProducts = kLongK ? 2 : kBoxes * kVector / 2;
  static constexpr int kRows = 16 * kProducts;
  static constexpr int kDepth = kLongK ? 8 * kVector : 32 / kBoxes;
  static constexpr int kSteps = kDepth / 8;

  /// Where B(p, 0) lies in [s][.][lane][2]: for s, and for the lane's part.
  static __device__ int step_of(int p) { return kLongK ? p % kVector : p / 8; }
  static __device__ int place_in_step(int p) {
    const int t = kLongK ? p / (2 * kVector) : p % 8 / 2;
    const int second = kLongK ? p % (2 * kVector) / kVector : p % 2;
    return 2 * t + second;
  }

  /// Loads what the steps from `s` on need that come with one load: one step, or all along k.
  __device__ void load(const char* a, int s, int lane) {
    const int g = lane / 4;
    const int t = lane % 4;
#pragma unroll
    for (int x = 0; x < kUnits; ++x) {
      const int line = kLongK ? g + x % 4 * 8 : 8 * s + 2 * t + x % 2;
      const int unit = kLongK ? 2 * t + x / 4 : g;
      const int box = kLongK ? 0 : x / 2;
      const uint4 word = *reinterpret_cast<const uint4*>(a + box * (4096 / kBoxes) +
                                                         device::place_of_unit(line, unit));
      memcpy(units[x], &word, sizeof(word));
    }
  }
  /// a[i][row + 2 k] of step s.
  __device__ Word get(int i, int slot, int s) const {
    if constexpr (kLongK) return units[i * 2 + slot % 2 + slot / 2 * 4][s];
    return units[i / (kVector / 2) * 2 + slot / 2][i % (kVector / 2) * 2 + slot % 2];
  }
  static __device__ int row(int i, int slot, int g) {
    if constexpr (kLongK) return 16 * i + g + 8 * slot;
    return i / (kVector / 2) * 8 * kVector + kVector * g + i % (kVector / 2) * 2 + slot;
  }

 private:
  static constexpr int kUnits = kLongK ? 8 : 2 * kBoxes;
  Word units[kUnits][kVector];
};

/// float by three tf32 products; the smallest of them are added first.
struct Tf32x3 {
  static constexpr char kName[] = "mma";
  static constexpr Math kMath = Math::tf32x3;
  using Element = float;
  using Sum = float;
  using Factor = device::SplitFloat;
  static constexpr int kInFlight = 8;  // products
  static constexpr int kPasses = 3;

  static __device__ void multiply(float (&c)[4], const device::SplitFloat (&a)[4],
                                  const device::SplitFloat (&b)[2], int pass) {
    const auto part = [](device::SplitFloat x, bool low) { return low ? x.low : x.high; };
    const bool low_a = pass == 0;
    const bool low_b = pass == 1;
    device::mma_m16n8k8_tf32(c, part(a[0], low_a), part(a[1], low_a), part(a[2], low_a),
                             part(a[3], low_a), part(b[0], low_b), part(b[1], low_b));
  }
};

/// A float rounded to tf32.
struct RoundedFloat {
  std::uint32_t bits;

  RoundedFloat() = default;
  __device__ explicit RoundedFloat(float a) { bits = device::round_to_tf32(a); }
};

struct Tf32 {
  static constexpr char kName[] = "mma";
  static constexpr Math kMath = Math::tf32;
  using Element = float;
  using Sum = float;
  using Factor = RoundedFloat;
  static constexpr int kInFlight = 8;  // products
  static constexpr int kPasses = 1;

  static __device__ void multiply(float (&c)[4], const RoundedFloat (&a)[4],
                                  const RoundedFloat (&b)[2], int /*pass*/) {
    device::mma_m16n8k8_tf32(c, a[0].bits, a[1].bits, a[2].bits, a[3].bits, b[0].bits, b[1].bits);
  }
};

/// E, double or float, in the arithmetic of double, in which products of floats are exact: the
/// tensor cores of sm_90 are as fast at it as the CUDA cores at fma of floats, and wait for fewer
/// operands.
template <class E>
struct InDouble {
  static constexpr const char* kName = sizeof(E) == 8 ? "mma" : "mma of doubles";
  static constexpr Math kMath = Math::ieee;
  using Element = E;
  using Sum = double;
  using Factor = double;
  static constexpr int kInFlight = sizeof(E) == 8 ? 4 : 8;  // products
  static constexpr int kPasses = 1;

  static __device__ void multiply(double (&c)[4], const double (&a)[4], const double (&b)[2],
                                  int /*pass*/) {
    device::mma_m16n8k8(c, a[0], a[1], a[2], a[3], b[0], b[1]);
  }
};

using FloatByDouble = InDouble<float>;
using Float64 = InDouble<double>;

/// The fragments of C that a lane holds: c[16,8] of each of Rows::kProducts products and each tile
/// of 8 columns. Rows::row(i, slot, g): the row of the chunk in which a lane holds slot 0 or 1 of
/// product i, g = lane / 4.
template <class Sum, class Result, class Rows, int kColumnCount>
struct FragmentSums : PanelProduct {
  using Acc = Result;
  static constexpr int kProducts = Rows::kProducts;
  static constexpr int kColumns = kColumnCount;
  static constexpr int kTiles = kColumns / 8;
  static constexpr int kSlice = kColumns < 16 ? kColumns : 16;
  using Sums = Sum[kProducts][kTiles][4];

  Sums sums;
  int tiles;  // that exist

  __device__ void clear(bool /*conjugated*/, int columns) {
    tiles = (columns + 7) / 8;
    for_each([this](int i, int j, int e) { sums[i][j][e] = 0; });
  }
  __device__ void add(const Sums& part) {
    for_each([&](int i, int j, int e) { sums[i][j][e] += part[i][j][e]; });
  }
  __device__ void store(int slice, Acc* target, int pitch, int lane) const {
#pragma unroll
    for (int i = 0; i < kProducts; ++i) {
#pragma unroll
      for (int j = 0; j < kSlice / 8; ++j) {
#pragma unroll
        for (int e = 0; e < 4; ++e) {
          target[(j * 8 + lane % 4 * 2 + e % 2) * pitch + Rows::row(i, e / 2, lane / 4)] =
              static_cast<Acc>(sums[i][slice / 8 + j][e]);
        }
      }
    }
  }

 private:
  template <class Visit>
  static __device__ void for_each(Visit visit) {
#pragma unroll
    for (int i = 0; i < kProducts; ++i) {
#pragma unroll
      for (int j = 0; j < kTiles; ++j) {
#pragma unroll
        for (int e = 0; e < 4; ++e)
          visit(i, j, e);
      }
    }
  }
};

/// product.multiply_tiles<kCount>() for a constant that no tile that exists is beyond. Two loops,
/// not a condition in one: products that a predicate switches off take their time, and behind a
/// branch B is loaded late (H200, float, 20480 squared, 24 of 32 columns: .73, .84 of the floor).
/// Through a lambda, nvcc 13.0 spilled more of complex doubles.
template <class Product>
__device__ void multiply_existing(Product& product, const char* a, const char* b, int lane) {
  if constexpr (Product::kTiles % 4 == 0) {
    constexpr int kMost = Product::kTiles / 4 * 3;
    if (product.tiles <= kMost) return product.template multiply_tiles<kMost>(a, b, lane);
  }
  product.template multiply_tiles<Product::kTiles>(a, b, lane);
}

/// Sums of a chunk are kept apart and added to float accumulators, since tensor cores truncate what
/// they add to (three tf32 products: 2e-7 in place of 3e-6 of sum |a||b|).
template <class Arithmetic, int kColumnCount, bool kLongK, int kRowBoxes = 2>
struct MmaProduct
    : FragmentSums<typename Arithmetic::Sum, typename Arithmetic::Element,
                   MmaFragments<typename Arithmetic::Element, kLongK, kRowBoxes>, kColumnCount> {
  using Element = typename Arithmetic::Element;
  using Fragments = MmaFragments<Element, kLongK, kRowBoxes>;
  using Base = typename MmaProduct::FragmentSums;
  using Base::kColumns;
  using Base::kProducts;
  using Base::kTiles;
  using typename Base::Sums;
  using Factor = typename Arithmetic::Factor;
  static constexpr const char* kName = Arithmetic::kName;
  static constexpr Math kMath = Arithmetic::kMath;
  static constexpr bool kAlongK = kLongK;
  static constexpr int kBoxes = Fragments::kBoxes;
  static constexpr int kRows = Fragments::kRows;
  static constexpr int kDepth = Fragments::kDepth;
  static constexpr bool kAlwaysPacked = kColumns > 16;
  static constexpr int kColumnPitch = 8;
  static constexpr int kInFlight = Arithmetic::kInFlight / kProducts;  // tiles
  static constexpr int kTogether = kTiles < kInFlight ? kTiles : kInFlight;
  static constexpr int kBytesB = kDepth * kColumns * static_cast<int>(sizeof(Element));

  static __device__ int place_k(int p) {
    return Fragments::step_of(p) * kTiles * 64 + Fragments::place_in_step(p);
  }
  static __device__ void pack(char* small, int p, int j, Element value) {
    reinterpret_cast<Element*>(small)[place_k(p) + j * kColumnPitch] = value;
  }
  __device__ void multiply(const char* a, const char* b, int lane) {
    multiply_existing(*this, a, b, lane);
  }
  template <int kCount>
  __device__ void multiply_tiles(const char* a, const char* b, int lane) {
    if constexpr (std::is_same_v<typename Arithmetic::Sum, float>) {
      Sums part = {};
      add<kCount>(part, a, b, lane);
      Base::add(part);
    } else {
      add<kCount>(this->sums, a, b, lane);
    }
  }

 private:
  /// The first kCount tiles of c.
  template <int kCount>
  static __device__ void add(Sums& c, const char* a, const char* b, int lane) {
    struct alignas(2 * sizeof(Element)) Pair {
      Element words[2];
    };
    const auto* const pairs = reinterpret_cast<const Pair*>(b) + lane;
    Fragments fragments;
    if constexpr (kLongK) fragments.load(a, 0, lane);
#pragma unroll
    for (int s = 0; s < Fragments::kSteps; ++s) {
      if constexpr (!kLongK) fragments.load(a, s, lane);
      Factor factors[kProducts][4];
#pragma unroll
      for (int i = 0; i < kProducts; ++i) {
#pragma unroll
        for (int e = 0; e < 4; ++e)
          factors[i][e] = Factor(fragments.get(i, e, s));
      }
#pragma unroll
      for (int first = 0; first < kCount; first += kTogether) {
        Factor columns[kTogether][2];
#pragma unroll
        for (int j = 0; j < kTogether && first + j < kCount; ++j) {
          const Pair pair = pairs[(s * kTiles + first + j) * 32];
          columns[j][0] = Factor(pair.words[0]);
          columns[j][1] = Factor(pair.words[1]);
        }
#pragma unroll
        for (int pass = 0; pass < Arithmetic::kPasses; ++pass) {
#pragma unroll
          for (int j = 0; j < kTogether && first + j < kCount; ++j) {
#pragma unroll
            for (int i = 0; i < kProducts; ++i)
              Arithmetic::multiply(c[i][first + j], factors[i], columns[j], pass);
          }
        }
      }
    }
  }
};

/// 16-bit elements E, both operands loaded as matrices of 8 x 8 (ldmatrix) from lines as their
/// tensor maps leave them, units of 16 bytes swizzled. A chunk of A is lines of 128 bytes:
///   column-major: 64 rows x 32 k, a line is a column
///   along k:      32 rows x 64 k, a line is a row
/// B, kDepth x kColumns, is lines along k, one a column; or, where it lies so in memory, lines of
/// kColumns, one a row. Sums of a chunk are kept apart as above.
template <bool kLongK>
struct HalfRows {
  static constexpr int kRows = kLongK ? 32 : 64;
  static constexpr int kProducts = kRows / 16;
  static __device__ int row(int i, int slot, int g) { return 16 * i + g + 8 * slot; }
};
template <class E, int kColumnCount, bool kLongK>
struct HalfProduct : FragmentSums<float, float, HalfRows<kLongK>, kColumnCount> {
  using Element = E;
  using Base = typename HalfProduct::FragmentSums;
  using Base::kColumns;
  using Base::kProducts;
  using typename Base::Sums;
  static constexpr bool kAlongK = kLongK;
  static constexpr int kBoxes = 1;
  static constexpr int kRows = HalfRows<kLongK>::kRows;
  static constexpr int kDepth = kLongK ? 64 : 32;
  static constexpr bool kMapsB = true;
  static constexpr int kBytesB = kDepth * kColumns * 2;

  bool b_by_rows;

  /// Where unit u of a line of kUnits 16-byte units lies.
  template <int kUnits>
  static __device__ int place_b(int line, int unit) {
    const int turn = kUnits == 8 ? line % 8 : kUnits == 4 ? line / 2 % 4 : 0;
    return (line * kUnits + (unit ^ turn)) * 16;
  }
  static __device__ void pack(char* small, int p, int j, Element value) {
    *reinterpret_cast<Element*>(small + place_b<kDepth / 8>(j, p / 8) + p % 8 * 2) = value;
  }
  __device__ void multiply(const char* a, const char* b, int lane) {
    multiply_existing(*this, a, b, lane);
  }
  template <int kCount>
  __device__ void multiply_tiles(const char* a, const char* b, int lane) {
    Sums part = {};
#pragma unroll
    for (int h = 0; h < kDepth / 32; ++h) {
      std::uint32_t columns[kCount][4];
#pragma unroll
      for (int j = 0; j < kCount; ++j)
        load_b(columns[j], b, h, j, lane);
#pragma unroll
      for (int s = 0; s < 2; ++s) {
        std::uint32_t rows[kProducts][4];
#pragma unroll
        for (int i = 0; i < kProducts; ++i)
          load_a(rows[i], a, i, 2 * h + s, lane);
#pragma unroll
        for (int j = 0; j < kCount; ++j) {
#pragma unroll
          for (int i = 0; i < kProducts; ++i)
            device::mma_m16n8k16<E>(part[i][j], rows[i][0], rows[i][1], rows[i][2], rows[i][3],
                                    columns[j][2 * s], columns[j][2 * s + 1]);
        }
      }
    }
    this->add(part);
  }

 private:
  /// b[32,8] of k from 32 h on and the columns of a tile: words 2 s, 2 s + 1 are those of step s.
  __device__ void load_b(std::uint32_t (&words)[4], const char* b, int h, int tile,
                         int lane) const {
    if (b_by_rows) {
      device::load_matrices<true>(words, b + place_b<kColumns / 8>(32 * h + lane, tile));
    } else {
      device::load_matrices<false>(words,
                                   b + place_b<kDepth / 8>(8 * tile + lane % 8, 4 * h + lane / 8));
    }
  }
  /// a[16,16] of product i and step s.
  static __device__ void load_a(std::uint32_t (&words)[4], const char* a, int i, int s, int lane) {
    if constexpr (kLongK) {
      device::load_matrices<false>(
          words, a + device::place_of_unit(16 * i + lane % 16, 2 * s + lane / 16));
    } else {
      const int line = 16 * s + lane / 16 * 8 + lane % 8;
      device::load_matrices<true>(words, a + device::place_of_unit(line, 2 * i + lane / 8 % 2));
    }
  }
};

/// Complex elements as the real ones that lie side by side in memory; Re and Im of a column of C
/// are neighbours in a lane's fragments.
///   along k:       A's k are re, im, re, ..; B(p, j) is the 2 x 2 block (re, im; -im, re); a
///                  lane's pairs of sums are elements of C
///   column-major:  A's rows are re, im, re, ..; B(p, j) is (re, im), and a lane holds the four
///                  products of the parts, of which C = (c0 - c3, c1 + c2)
template <class Arithmetic, int kColumnCount, bool kLongK, int kRowBoxes = 2>
struct ComplexMmaProduct : PanelProduct {
  using Parts = MmaProduct<Arithmetic, 2 * kColumnCount, kLongK, kRowBoxes>;
  using Fragments = typename Parts::Fragments;
  using Part = typename Arithmetic::Element;
  using Element = device::Complex<Part>;
  using Acc = Element;
  static constexpr const char* kName = Arithmetic::kName;
  static constexpr bool kAlongK = kLongK;
  static constexpr int kBoxes = Parts::kBoxes;
  static constexpr int kRows = kLongK ? Parts::kRows : Parts::kRows / 2;
  static constexpr int kDepth = kLongK ? Parts::kDepth / 2 : Parts::kDepth;
  static constexpr int kColumns = kColumnCount;
  static constexpr int kSlice = 4;
  static constexpr bool kPacksConjugate = true;
  static constexpr int kBytesB = Parts::kBytesB;

  Parts parts;

  static __device__ void pack(char* small, int p, int j, Element value) {
    if constexpr (kLongK) {
      Parts::pack(small, 2 * p, 2 * j, value.re);
      Parts::pack(small, 2 * p, 2 * j + 1, value.im);
      Parts::pack(small, 2 * p + 1, 2 * j, -value.im);
      Parts::pack(small, 2 * p + 1, 2 * j + 1, value.re);
    } else {
      Parts::pack(small, p, 2 * j, value.re);
      Parts::pack(small, p, 2 * j + 1, value.im);
    }
  }
  __device__ void clear(bool conjugated, int columns) { parts.clear(conjugated, 2 * columns); }
  __device__ void multiply(const char* a, const char* b, int lane) { parts.multiply(a, b, lane); }

  /// A slice is one tile of 8 columns of parts.
  __device__ void store(int slice, Acc* target, int pitch, int lane) const {
#pragma unroll
    for (int i = 0; i < Parts::kProducts; ++i) {
      const auto& c = parts.sums[i][slice / kSlice];
      Acc* const column = target + lane % 4 * pitch;
      if constexpr (kLongK) {
        column[Fragments::row(i, 0, lane / 4)] = {static_cast<Part>(c[0]), static_cast<Part>(c[1])};
        column[Fragments::row(i, 1, lane / 4)] = {static_cast<Part>(c[2]), static_cast<Part>(c[3])};
      } else {
        column[Fragments::row(i, 0, lane / 4) / 2] = {static_cast<Part>(c[0] - c[3]),
                                                      static_cast<Part>(c[1] + c[2])};
      }
    }
  }
};

template <int kColumnCount, bool kLongK>
using WgmmaRows = MmaFragments<float, kLongK, kColumnCount <= 32 ? 2 : 1>;

/// Products of four warps each, whose rows of A are fragments in registers as above: one of factors
/// rounded to tf32, or three, of which B's high part lies in shared memory as it is (the tensor
/// core cuts it off) and its low part is what that leaves. B lies as [high, low][s][2 of
/// k][columns][4 of k].
template <int kColumnCount, bool kLongK, int kPasses>
struct WgmmaProduct : FragmentSums<float, float, WgmmaRows<kColumnCount, kLongK>, kColumnCount> {
  using Element = float;
  using Fragments = WgmmaRows<kColumnCount, kLongK>;
  using Base = typename WgmmaProduct::FragmentSums;
  using Base::kColumns;
  using Base::kProducts;
  static constexpr char kName[] = "wgmma";
  static constexpr bool kWarpGroups = true;
  static constexpr Math kMath = kPasses == 3 ? Math::tf32x3 : Math::tf32;
  static constexpr bool kAlongK = kLongK;
  static constexpr int kBoxes = Fragments::kBoxes;
  static constexpr int kRows = Fragments::kRows;
  static constexpr int kDepth = Fragments::kDepth;
  static constexpr int kColumnPitch = 4;
  static constexpr int kPlane = kDepth * kColumns;  // floats
  static constexpr int kBytesB = (kPasses == 3 ? 2 : 1) * kPlane * 4;
  static constexpr int kWarpsTogether = 4;
  // H200, tf32x3, n = 32: five slots 443 us (20480 squared), 138 (10240), four 435, 133, three 444,
  // 133.
  static constexpr int kStages = kPasses == 3 && kColumns <= 32 ? 4 : 16;

  static __device__ int place_k(int p) {
    const int in_step = Fragments::place_in_step(p);  // 2 t + second
    return (Fragments::step_of(p) * 2 + in_step % 2) * kColumns * 4 + in_step / 2;
  }
  static __device__ void pack(char* small, int p, int j, float value) {
    const int place = place_k(p) + j * kColumnPitch;
    auto* const planes = reinterpret_cast<std::uint32_t*>(small);
    if constexpr (kPasses == 1) {
      planes[place] = device::round_to_tf32(value);
    } else {
      planes[place] = __float_as_uint(value);
      planes[place + kPlane] = device::round_to_tf32(value - device::cut_to_tf32(value));
    }
  }

  __device__ void multiply(const char* a, const char* b, int lane) {
    typename Base::Sums part;
    Fragments fragments;
    if constexpr (kLongK) fragments.load(a, 0, lane);
#pragma unroll
    for (int s = 0; s < Fragments::kSteps; ++s) {
      if constexpr (!kLongK) fragments.load(a, s, lane);
      std::uint32_t high[kProducts][4];
      std::uint32_t low[kProducts][4];
#pragma unroll
      for (int i = 0; i < kProducts; ++i) {
#pragma unroll
        for (int e = 0; e < 4; ++e) {
          if constexpr (kPasses == 1) {
            high[i][e] = device::round_to_tf32(fragments.get(i, e, s));
          } else {
            const device::SplitFloat split(fragments.get(i, e, s));
            high[i][e] = split.high;
            low[i][e] = split.low;
          }
        }
      }
      const std::uint64_t b_high = device::wgmma_tf32_columns<kColumns>(b + s * kColumns * 32);
      device::wgmma_fence();
#pragma unroll
      for (int i = 0; i < kProducts; ++i) {
        if constexpr (kPasses == 3) {
          const std::uint64_t b_low =
              device::wgmma_tf32_columns<kColumns>(b + kPlane * 4 + s * kColumns * 32);
          device::wgmma_tf32(part[i], low[i], b_high, s > 0);
          device::wgmma_tf32(part[i], high[i], b_low, true);
        }
        device::wgmma_tf32(part[i], high[i], b_high, kPasses == 3 || s > 0);
      }
      device::wgmma_commit();
      if (s + 1 < Fragments::kSteps) device::wgmma_wait<1>();
    }
    device::wgmma_wait<0>();
    this->add(part);
  }
};

}  // namespace lanky::dense::cuda
