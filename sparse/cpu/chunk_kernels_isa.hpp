// Products of one vector in chunk_kernels_<isa>.cpp, each compiled with other flags. Those define
// kIsa, kVectorBytes, Bits8, widen_f16(), widen_bf16(), narrow_f16(), narrow_bf16() and, for
// several columns, widen_codes() before. Nothing that is not inlined and has external linkage is
// called from here (dense/cpu/register_tiles_isa.hpp has the reason). Elements of x are loaded one
// by one: gather instructions took 1.2 to 1.6 times as long on Zen 3 (docs/lab/cpu.md), and are
// slow on Intel's processors since they hide sampled data.
#include <type_traits>

#include "core/fused.hpp"
#include "sparse/cpu/chunk_kernels.hpp"

#pragma GCC diagnostic ignored "-Wpsabi"  // vectors are passed between inlined functions only

#define LANKY_INLINE [[gnu::always_inline]] inline

namespace lanky::sparse::cpu {

namespace {

constexpr int kRows = kChunkRows;

/// kRows numbers in as many vectors as they take.
template <class Real>
constexpr int kPartBytes = kVectorBytes < kRows* static_cast<int>(sizeof(Real))
                               ? kVectorBytes
                               : kRows* static_cast<int>(sizeof(Real));
template <class Real>
constexpr int kWidth = kPartBytes<Real> / static_cast<int>(sizeof(Real));
template <class Real>
constexpr int kParts = kRows / kWidth<Real>;

template <class Real>
struct VectorOf {
  typedef Real Type __attribute__((vector_size(kPartBytes<Real>)));
  typedef Real Unaligned
      __attribute__((vector_size(kPartBytes<Real>), aligned(sizeof(Real)), may_alias));
  using Integer = std::conditional_t<sizeof(Real) == 8, std::int64_t, std::int32_t>;
  typedef Integer Mask __attribute__((vector_size(kPartBytes<Real>)));
};

template <class Real>
struct Lanes {
  typename VectorOf<Real>::Type part[kParts<Real>];
};
template <class Real>
struct Masks {
  typename VectorOf<Real>::Mask part[kParts<Real>];
};

template <class Real>
LANKY_INLINE Lanes<Real> load(const Real* from) {
  Lanes<Real> lanes;
#pragma GCC unroll 4
  for (int p = 0; p < kParts<Real>; ++p)
    lanes.part[p] =
        *reinterpret_cast<const typename VectorOf<Real>::Unaligned*>(from + p * kWidth<Real>);
  return lanes;
}
template <class Real>
LANKY_INLINE void store(Real* to, const Lanes<Real>& lanes) {
#pragma GCC unroll 4
  for (int p = 0; p < kParts<Real>; ++p)
    *reinterpret_cast<typename VectorOf<Real>::Unaligned*>(to + p * kWidth<Real>) = lanes.part[p];
}

/// One element for each of the kRows indices.
template <class Real, class Index>
LANKY_INLINE Lanes<Real> gather(const Real* x, const Index* index) {
  Lanes<Real> lanes;
#pragma GCC unroll 4
  for (int p = 0; p < kParts<Real>; ++p) {
    const Index* const i = index + p * kWidth<Real>;
    if constexpr (kWidth<Real> == 2) {
      lanes.part[p] = typename VectorOf<Real>::Type{x[i[0]], x[i[1]]};
    } else if constexpr (kWidth<Real> == 4) {
      lanes.part[p] = typename VectorOf<Real>::Type{x[i[0]], x[i[1]], x[i[2]], x[i[3]]};
    } else {
      lanes.part[p] = typename VectorOf<Real>::Type{x[i[0]], x[i[1]], x[i[2]], x[i[3]],
                                                    x[i[4]], x[i[5]], x[i[6]], x[i[7]]};
    }
  }
  return lanes;
}

/// Lanes whose length is beyond step k.
template <class Real>
LANKY_INLINE Masks<Real> active(const Lanes<Real>& lengths, Real k) {
  Masks<Real> masks;
#pragma GCC unroll 4
  for (int p = 0; p < kParts<Real>; ++p)
    masks.part[p] = lengths.part[p] > k;
  return masks;
}

/// ((s0 + s4) + (s2 + s6)) + ((s1 + s5) + (s3 + s7)), however wide vectors are.
template <class Real>
LANKY_INLINE Real sum_of(const Lanes<Real>& lanes) {
  Real s[kRows];
  store(s, lanes);
  return ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]));
}

/// Four of these sums, in the same order.
template <class Real>
struct FourOf {
  typedef Real Type __attribute__((vector_size(4 * sizeof(Real))));
  typedef Real Unaligned
      __attribute__((vector_size(4 * sizeof(Real)), aligned(sizeof(Real)), may_alias));
};
template <class Real>
LANKY_INLINE typename FourOf<Real>::Type halves_added(const Lanes<Real>& lanes) {
  const auto& p = lanes.part;
  if constexpr (kParts<Real> == 1) {
    return __builtin_shufflevector(p[0], p[0], 0, 1, 2, 3) +
           __builtin_shufflevector(p[0], p[0], 4, 5, 6, 7);
  } else if constexpr (kParts<Real> == 2) {
    return p[0] + p[1];
  } else {
    return __builtin_shufflevector(p[0] + p[2], p[1] + p[3], 0, 1, 2, 3);
  }
}
template <class Real>
LANKY_INLINE typename FourOf<Real>::Type sums_of(const Lanes<Real>& a, const Lanes<Real>& b,
                                                 const Lanes<Real>& c, const Lanes<Real>& d) {
  const auto of_a = halves_added(a);
  const auto of_b = halves_added(b);
  const auto of_c = halves_added(c);
  const auto of_d = halves_added(d);
  const auto low_ab = __builtin_shufflevector(of_a, of_b, 0, 4, 1, 5);
  const auto high_ab = __builtin_shufflevector(of_a, of_b, 2, 6, 3, 7);
  const auto low_cd = __builtin_shufflevector(of_c, of_d, 0, 4, 1, 5);
  const auto high_cd = __builtin_shufflevector(of_c, of_d, 2, 6, 3, 7);
  const auto low = low_ab + high_ab;   // s0 + s4 + s2 + s6 of a and b, s1 + s5 + s3 + s7 of them
  const auto high = low_cd + high_cd;  // and of c and d
  return __builtin_shufflevector(low, high, 0, 1, 4, 5) +
         __builtin_shufflevector(low, high, 2, 3, 6, 7);
}

/// One accumulator, and zeros behind it.
template <class Real>
struct One {
  typedef Real Type __attribute__((vector_size(16)));
};

// Types of elements: how kRows values and as many elements of x become sums.

template <class Real>
LANKY_INLINE void multiply_add(Lanes<Real>& sums, const Lanes<Real>& a, const Lanes<Real>& x) {
#pragma GCC unroll 4
  for (int p = 0; p < kParts<Real>; ++p)
    sums.part[p] = fused(a.part[p], x.part[p], sums.part[p]);
}
template <class Real>
LANKY_INLINE void multiply_add(Lanes<Real>& sums, const Lanes<Real>& a, const Lanes<Real>& x,
                               const Masks<Real>& masks) {
#pragma GCC unroll 4
  for (int p = 0; p < kParts<Real>; ++p) {
    const auto next = fused(a.part[p], x.part[p], sums.part[p]);
    sums.part[p] = masks.part[p] ? next : sums.part[p];
  }
}

/// Elements whose accumulators are real.
template <class RealOfSums, class StoredType>
struct RealElements {
  using Real = RealOfSums;
  using Stored = StoredType;
  static constexpr int kReals = 1;  // of an accumulator
  using Values = Lanes<Real>;
  struct Sums {
    Lanes<Real> real = {};
  };

  LANKY_INLINE static void add(Sums& sums, const Values& a, const Values& x) {
    multiply_add(sums.real, a, x);
  }
  LANKY_INLINE static void add(Sums& sums, const Values& a, const Values& x,
                               const Masks<Real>& masks) {
    multiply_add(sums.real, a, x, masks);
  }
  LANKY_INLINE static void merge(Sums& sums, const Sums& others) {
#pragma GCC unroll 4
    for (int p = 0; p < kParts<Real>; ++p)
      sums.real.part[p] += others.real.part[p];
  }
  /// The sum of each lane.
  LANKY_INLINE static Values finished(const Sums& sums) {
    return sums.real;
  }
  LANKY_INLINE static Values scaled(const Real* by, const Values& sums) {
    Values found;
#pragma GCC unroll 4
    for (int p = 0; p < kParts<Real>; ++p)
      found.part[p] = by[0] * sums.part[p];
    return found;
  }
  LANKY_INLINE static void add_scaled(Values& sums, const Real* by, const Values& others) {
#pragma GCC unroll 4
    for (int p = 0; p < kParts<Real>; ++p)
      sums.part[p] =
          fused(in_each_lane<typename VectorOf<Real>::Type>(by[0]), others.part[p], sums.part[p]);
  }
  LANKY_INLINE static Values loaded(const Real* from) {
    return load(from);
  }
  LANKY_INLINE static void stored(Real* to, const Values& values) {
    store(to, values);
  }
  /// And of all of them.
  LANKY_INLINE static void reduce(const Sums& sums, Real* to) {
    *to = sum_of(sums.real);
  }
  LANKY_INLINE static void reduce_four(const Sums* sums, Real* to) {
    *reinterpret_cast<typename FourOf<Real>::Unaligned*>(to) =
        sums_of(sums[0].real, sums[1].real, sums[2].real, sums[3].real);
  }
};

template <class RealType>
struct PlainElements : RealElements<RealType, RealType> {
  using Base = RealElements<RealType, RealType>;
  LANKY_INLINE static Lanes<RealType> values(const RealType* from) { return load(from); }
  LANKY_INLINE static Lanes<RealType> contiguous(const RealType* x) { return load(x); }
  template <class Index>
  LANKY_INLINE static Lanes<RealType> gathered(const RealType* x, const Index* index) {
    return gather(x, index);
  }
  LANKY_INLINE static void add_one(typename One<RealType>::Type& sum, const RealType* a,
                                   const RealType* x) {
    using Type = typename One<RealType>::Type;
    sum = fused(Type{*a}, Type{*x}, sum);
  }
};

typedef std::uint16_t UnalignedBits8 __attribute__((vector_size(16), aligned(2), may_alias));

/// Halves of either kind: kWiden takes kRows of them to floats.
template <Lanes<float> (*kWiden)(Bits8)>
struct HalfElements : RealElements<float, std::uint16_t> {
  LANKY_INLINE static Lanes<float> widened(Bits8 bits) { return kWiden(bits); }
  LANKY_INLINE static Lanes<float> values(const std::uint16_t* from) {
    return kWiden(*reinterpret_cast<const UnalignedBits8*>(from));
  }
  LANKY_INLINE static Lanes<float> contiguous(const std::uint16_t* x) { return values(x); }
  template <class Index>
  LANKY_INLINE static Lanes<float> gathered(const std::uint16_t* x, const Index* i) {
    return kWiden(Bits8{x[i[0]], x[i[1]], x[i[2]], x[i[3]], x[i[4]], x[i[5]], x[i[6]], x[i[7]]});
  }
  LANKY_INLINE static void add_one(One<float>::Type& sum, const std::uint16_t* a,
                                   const std::uint16_t* x) {
    const Lanes<float> both = kWiden(Bits8{*a, *x});
    sum = fused(One<float>::Type{both.part[0][0]}, One<float>::Type{both.part[0][1]}, sum);
  }
};

LANKY_INLINE Lanes<float> widened_f16(Bits8 bits) {
  Lanes<float> lanes;
  widen_f16(bits, reinterpret_cast<float*>(&lanes));
  return lanes;
}
LANKY_INLINE Lanes<float> widened_bf16(Bits8 bits) {
  Lanes<float> lanes;
  widen_bf16(bits, reinterpret_cast<float*>(&lanes));
  return lanes;
}

/// Pairs of reals. The real parts of a times x and the imaginary ones have a sum each, which meet
/// at the end: re = sum(ar xr) - sum(ai xi), im = sum(ar xi) + sum(ai xr).
template <class RealType>
struct ComplexElements {
  using Real = RealType;
  using Stored = RealType;  // of which an element has two
  static constexpr int kReals = 2;
  struct Values {
    Lanes<Real> half[2];  // kRows pairs
  };
  struct Sums {
    Lanes<Real> by_real[2] = {};  // ar xr, ar xi
    Lanes<Real> by_imag[2] = {};  // ai xi, ai xr
  };

  LANKY_INLINE static Values values(const Real* from) { return {{load(from), load(from + kRows)}}; }
  LANKY_INLINE static Values contiguous(const Real* x) { return values(x); }
  template <class Index>
  LANKY_INLINE static Values gathered(const Real* x, const Index* index) {
    Values found;
#pragma GCC unroll 2
    for (int h = 0; h < 2; ++h)
      found.half[h] = pairs(x, index + h * kRows / 2);
    return found;
  }
  LANKY_INLINE static void add(Sums& sums, const Values& a, const Values& x) {
#pragma GCC unroll 2
    for (int h = 0; h < 2; ++h) {
      multiply_add(sums.by_real[h], doubled<0>(a.half[h]), x.half[h]);
      multiply_add(sums.by_imag[h], doubled<1>(a.half[h]), swapped(x.half[h]));
    }
  }
  LANKY_INLINE static void add(Sums& sums, const Values& a, const Values& x,
                               const Masks<Real>* masks) {
#pragma GCC unroll 2
    for (int h = 0; h < 2; ++h) {
      multiply_add(sums.by_real[h], doubled<0>(a.half[h]), x.half[h], masks[h]);
      multiply_add(sums.by_imag[h], doubled<1>(a.half[h]), swapped(x.half[h]), masks[h]);
    }
  }
  LANKY_INLINE static void merge(Sums& sums, const Sums& others) {
#pragma GCC unroll 2
    for (int h = 0; h < 2; ++h) {
#pragma GCC unroll 4
      for (int p = 0; p < kParts<Real>; ++p) {
        sums.by_real[h].part[p] += others.by_real[h].part[p];
        sums.by_imag[h].part[p] += others.by_imag[h].part[p];
      }
    }
  }
  LANKY_INLINE static Values finished(const Sums& sums) {
    Values found;
#pragma GCC unroll 2
    for (int h = 0; h < 2; ++h) {
#pragma GCC unroll 4
      for (int p = 0; p < kParts<Real>; ++p)
        found.half[h].part[p] = fused(sums.by_imag[h].part[p], signs(), sums.by_real[h].part[p]);
    }
    return found;
  }
  LANKY_INLINE static Values scaled(const Real* by, const Values& sums) {
    Values found;
#pragma GCC unroll 2
    for (int h = 0; h < 2; ++h) {
      const Lanes<Real> others = swapped(sums.half[h]);
#pragma GCC unroll 4
      for (int p = 0; p < kParts<Real>; ++p)
        found.half[h].part[p] = fused(in_each_lane<typename VectorOf<Real>::Type>(by[0]),
                                      sums.half[h].part[p], (by[1] * others.part[p]) * signs());
    }
    return found;
  }
  LANKY_INLINE static void add_scaled(Values& sums, const Real* by, const Values& others) {
    const Values added = scaled(by, others);
#pragma GCC unroll 2
    for (int h = 0; h < 2; ++h) {
#pragma GCC unroll 4
      for (int p = 0; p < kParts<Real>; ++p)
        sums.half[h].part[p] += added.half[h].part[p];
    }
  }
  LANKY_INLINE static Values loaded(const Real* from) {
    return values(from);
  }
  LANKY_INLINE static void stored(Real* to, const Values& values) {
    store(to, values.half[0]);
    store(to + kRows, values.half[1]);
  }
  LANKY_INLINE static void reduce(const Sums& sums, Real* to) {
    Real s[2 * kRows];
    stored(s, finished(sums));
#pragma GCC unroll 2
    for (int c = 0; c < 2; ++c)
      to[c] = ((s[c] + s[8 + c]) + (s[4 + c] + s[12 + c])) +
              ((s[2 + c] + s[10 + c]) + (s[6 + c] + s[14 + c]));
  }
  LANKY_INLINE static void add_one(typename One<Real>::Type& sum, const Real* a, const Real* x) {
    const typename One<Real>::Type factor = first_pair(x);
    using Type = typename One<Real>::Type;
    sum += fused(in_each_lane<Type>(a[0]), factor, a[1] * crossed(factor));
  }

 private:
  /// Pairs of 16 bytes meet in registers: a vector read from memory right after narrower stores to
  /// it waits for them (c128 took twice as long). GCC does as much with shorter ones itself.
  template <class Index>
  LANKY_INLINE static Lanes<Real> pairs(const Real* x, const Index* index) {
    if constexpr (sizeof(Pair) == 16) {
      Lanes<Real> lanes;
#pragma GCC unroll 4
      for (int p = 0; p < kParts<Real>; ++p) {
        const Index* const i = index + p * kWidth<Real> / 2;
        if constexpr (kWidth<Real> == 2) {
          lanes.part[p] = pair(x, i[0]);
        } else if constexpr (kWidth<Real> == 4) {
          lanes.part[p] = joined(pair(x, i[0]), pair(x, i[1]));
        } else {
          lanes.part[p] =
              joined(joined(pair(x, i[0]), pair(x, i[1])), joined(pair(x, i[2]), pair(x, i[3])));
        }
      }
      return lanes;
    } else {
      Real found[kRows];
#pragma GCC unroll 4
      for (int i = 0; i < kRows / 2; ++i)
        __builtin_memcpy(found + 2 * i, x + 2 * static_cast<std::int64_t>(index[i]),
                         2 * sizeof(Real));
      return load(found);
    }
  }
  typedef Real Pair __attribute__((vector_size(2 * sizeof(Real))));
  LANKY_INLINE static Pair pair(const Real* x, std::int64_t index) {
    typedef Real Unaligned
        __attribute__((vector_size(2 * sizeof(Real)), aligned(sizeof(Real)), may_alias));
    return *reinterpret_cast<const Unaligned*>(x + 2 * index);
  }
  template <class Vector>
  LANKY_INLINE static auto joined(Vector a, Vector b) {
    if constexpr (sizeof(Vector) == sizeof(Pair)) {
      return __builtin_shufflevector(a, b, 0, 1, 2, 3);
    } else {
      return __builtin_shufflevector(a, b, 0, 1, 2, 3, 4, 5, 6, 7);
    }
  }
  /// A pair, and zeros behind it.
  LANKY_INLINE static typename One<Real>::Type first_pair(const Real* x) {
    if constexpr (sizeof(Pair) == 16) {
      return pair(x, 0);
    } else {
      typedef double Both __attribute__((vector_size(16)));
      double both;
      __builtin_memcpy(&both, x, sizeof(both));
      return reinterpret_cast<typename One<Real>::Type>(Both{both});
    }
  }
  /// i times the first pair. Signs change by an exclusive or, and not by -x: for that compilers
  /// take the vector apart.
  LANKY_INLINE static typename One<Real>::Type crossed(typename One<Real>::Type x) {
    using Type = typename One<Real>::Type;
    using Integer = typename VectorOf<Real>::Integer;
    typedef Integer Bits __attribute__((vector_size(16)));
    constexpr Bits kSign = {static_cast<Integer>(Integer{1} << (8 * sizeof(Real) - 1))};
    Type swapped;
    if constexpr (sizeof(Real) == 8) {
      swapped = __builtin_shufflevector(x, x, 1, 0);
    } else {
      swapped = __builtin_shufflevector(x, x, 1, 0, 2, 3);
    }
    return reinterpret_cast<Type>(reinterpret_cast<Bits>(swapped) ^ kSign);
  }
  /// -1 for real parts, 1 for imaginary ones: a product by these is exact.
  LANKY_INLINE static typename VectorOf<Real>::Type signs() {
    typename VectorOf<Real>::Type found;
#pragma GCC unroll 8
    for (int lane = 0; lane < kWidth<Real>; ++lane)
      found[lane] = lane % 2 == 0 ? -1 : 1;
    return found;
  }
  /// The real (0) or imaginary (1) part of each pair, twice.
  template <int kPart>
  LANKY_INLINE static Lanes<Real> doubled(const Lanes<Real>& a) {
    Lanes<Real> found;
#pragma GCC unroll 4
    for (int p = 0; p < kParts<Real>; ++p)
      found.part[p] = paired<kPart, kPart>(a.part[p]);
    return found;
  }
  LANKY_INLINE static Lanes<Real> swapped(const Lanes<Real>& x) {
    Lanes<Real> found;
#pragma GCC unroll 4
    for (int p = 0; p < kParts<Real>; ++p)
      found.part[p] = paired<1, 0>(x.part[p]);
    return found;
  }
  /// Elements kEven and kOdd of each pair.
  template <int kEven, int kOdd, class Vector>
  LANKY_INLINE static Vector paired(Vector a) {
    if constexpr (kWidth<Real> == 2) {
      return __builtin_shufflevector(a, a, kEven, kOdd);
    } else if constexpr (kWidth<Real> == 4) {
      return __builtin_shufflevector(a, a, kEven, kOdd, 2 + kEven, 2 + kOdd);
    } else {
      return __builtin_shufflevector(a, a, kEven, kOdd, 2 + kEven, 2 + kOdd, 4 + kEven, 4 + kOdd,
                                     6 + kEven, 6 + kOdd);
    }
  }
};

// Where sums go.

/// The types of a plan.
template <class ElementsType, class StoredResult, void (*kNarrow)(const float*, std::uint16_t*),
          void (*kWiden)(Bits8, float*)>
struct Types {
  using Elements = ElementsType;
  using Real = typename Elements::Real;
  using Values = typename Elements::Values;
  using Result = StoredResult;
  static constexpr int kReals = Elements::kReals;

  LANKY_INLINE static Values widened(const Result* from) {
    if constexpr (std::is_same_v<Real, Result>) {
      return Elements::loaded(from);
    } else {
      Real found[kRows];
      kWiden(*reinterpret_cast<const UnalignedBits8*>(from), found);
      return Elements::loaded(found);
    }
  }
  LANKY_INLINE static void narrowed(Result* to, const Values& values) {
    if constexpr (std::is_same_v<Real, Result>) {
      Elements::stored(to, values);
    } else {
      Real found[kRows];
      Elements::stored(found, values);
      kNarrow(found, to);
    }
  }
};

/// alpha sums + beta y to the rows of chunks.
template <class Types>
class Writer {
 public:
  using Elements = typename Types::Elements;
  using Real = typename Types::Real;
  using Values = typename Types::Values;
  using Result = typename Types::Result;
  static constexpr int kReals = Types::kReals;

  LANKY_INLINE explicit Writer(const TaskArguments& task) : y_(static_cast<Result*>(task.y)) {
#pragma GCC unroll 2
    for (int c = 0; c < kReals; ++c) {
      alpha_[c] = static_cast<const Real*>(task.alpha)[c];
      beta_[c] = static_cast<const Real*>(task.beta)[c];
      adds_ = adds_ || beta_[c] != 0;
    }
  }

  /// kRows rows from `row` on.
  LANKY_INLINE void consecutive(std::int64_t row, const Values& sums) const {
    Result* const y = y_ + row * kReals;
    Values found = Elements::scaled(alpha_, sums);
    if (adds_) Elements::add_scaled(found, beta_, Types::widened(y));
    Types::narrowed(y, found);
  }
  /// `rows` rows, `listed` from `row` on.
  LANKY_INLINE void listed(std::int64_t row, int rows, const std::uint16_t* listed,
                           const Values& sums) const {
    Result* const y = y_ + row * kReals;
    Values scaled = Elements::scaled(alpha_, sums);
    if (adds_) {
      Result old[kReals * kRows] = {};
      for (int i = 0; i < rows; ++i)
        __builtin_memcpy(old + kReals * i, y + listed[i] * kReals, kReals * sizeof(Result));
      Elements::add_scaled(scaled, beta_, Types::widened(old));
    }
    Result found[kReals * kRows];
    Types::narrowed(found, scaled);
    for (int i = 0; i < rows; ++i)
      __builtin_memcpy(y + listed[i] * kReals, found + kReals * i, kReals * sizeof(Result));
  }
  /// Elements of one row of several columns, real ones of the accumulators' type, from `at` on.
  template <class Line>
  LANKY_INLINE void some(std::int64_t at, const Real* sums) const {
    Line found = Line::loaded(sums);
    found.part[0] = alpha_[0] * found.part[0];
    if (adds_)
      found.part[0] = fused(in_each_lane<typename Line::Part>(beta_[0]),
                            Line::loaded(y_ + at).part[0], found.part[0]);
    found.store(y_ + at);
  }
  /// The rows of any chunk.
  LANKY_INLINE void any(const Chunk& chunk, const CodeParts& parts, const Values& sums) const {
    constexpr std::uint16_t kEach[kRows] = {0, 1, 2, 3, 4, 5, 6, 7};
    const bool lists = chunk.kind.target == Target::listed;
    listed(chunk.first_row, chunk.kind.rows, lists ? parts.listed : kEach, sums);
  }

 private:
  Result* y_;
  Real alpha_[kReals];
  Real beta_[kReals];
  bool adds_ = false;
};

// Chunks.

/// Of codes 0 .. 2 and 4 bytes wide; none of kind 0 are read.
template <int kBytes>
struct CodeOf {
  using Type = std::int32_t;
  static constexpr Codes kCodes = kBytes == 0 ? Codes::none : Codes::absolute;
};
template <>
struct CodeOf<1> {
  using Type = std::uint8_t;
  static constexpr Codes kCodes = Codes::offset8;
};
template <>
struct CodeOf<2> {
  using Type = std::uint16_t;
  static constexpr Codes kCodes = Codes::offset16;
};

LANKY_INLINE bool same_kind(const ChunkKind& a, const ChunkKind& b) {
  std::uint32_t of_a = 0;
  std::uint32_t of_b = 0;
  __builtin_memcpy(&of_a, &a, sizeof(of_a));
  __builtin_memcpy(&of_b, &b, sizeof(of_b));
  return of_a == of_b;
}

/// Of rows side by side, and the lanes of them that have a step k: a lane for each real.
template <class Elements>
struct LanesOfRows {
  Lanes<typename Elements::Real> half[Elements::kReals];
};
template <class Elements>
struct MasksOfRows {
  Masks<typename Elements::Real> half[Elements::kReals];
};
template <class Elements>
LANKY_INLINE LanesOfRows<Elements> lengths_of(const CodeParts& parts) {
  using Real = typename Elements::Real;
  constexpr int kReals = Elements::kReals;
  Real lengths[kReals * kRows];
#pragma GCC unroll 8
  for (int i = 0; i < kRows; ++i) {
    for (int c = 0; c < kReals; ++c)
      lengths[kReals * i + c] = static_cast<Real>(parts.beside_lengths[i]);
  }
  LanesOfRows<Elements> found;
#pragma GCC unroll 2
  for (int h = 0; h < kReals; ++h)
    found.half[h] = load(lengths + h * kRows);
  return found;
}
template <class Elements>
LANKY_INLINE MasksOfRows<Elements> active_of(const LanesOfRows<Elements>& lengths,
                                             typename Elements::Real k) {
  MasksOfRows<Elements> found;
#pragma GCC unroll 2
  for (int h = 0; h < Elements::kReals; ++h)
    found.half[h] = active(lengths.half[h], k);
  return found;
}
template <class Elements>
LANKY_INLINE void add_masked(typename Elements::Sums& sums, const typename Elements::Values& a,
                             const typename Elements::Values& x,
                             const MasksOfRows<Elements>& masks) {
  if constexpr (Elements::kReals == 1) {
    Elements::add(sums, a, x, masks.half[0]);
  } else {
    Elements::add(sums, a, x, masks.half);
  }
}

/// Rows side by side.
template <class Elements, int kBytes>
LANKY_INLINE typename Elements::Values walk_beside(const Chunk& chunk, const CodeParts& parts,
                                                   const typename Elements::Stored* values,
                                                   const typename Elements::Stored* x) {
  using Real = typename Elements::Real;
  using Code = typename CodeOf<kBytes>::Type;
  constexpr int kReals = Elements::kReals;
  const auto* const codes = reinterpret_cast<const Code*>(parts.codes);
  const auto factors = [&](std::int64_t k) {
    if constexpr (kBytes == 4) {
      return Elements::gathered(x, codes + k * kRows);
    } else {
      const auto* const from = x + std::int64_t{parts.bases[k]} * kReals;
      if constexpr (kBytes == 0) {
        return Elements::contiguous(from);
      } else {
        return Elements::gathered(from, codes + k * kRows);
      }
    }
  };
  typename Elements::Sums sums;
  std::int64_t k = 0;
  for (; k < chunk.shortest; ++k)
    Elements::add(sums, Elements::values(values + k * kRows * kReals), factors(k));
  if (k < chunk.depth) {
    const auto lengths = lengths_of<Elements>(parts);
    for (; k < chunk.depth; ++k) {
      const auto a = Elements::values(values + k * kRows * kReals);
      add_masked<Elements>(sums, a, factors(k), active_of<Elements>(lengths, static_cast<Real>(k)));
    }
  }
  return Elements::finished(sums);
}

/// The sum of one row, in two times kRows parts and what is left.
template <class Elements, int kBytes>
LANKY_INLINE void walk_row(std::int64_t entries, const typename CodeOf<kBytes>::Type* codes,
                           const typename Elements::Stored* values,
                           const typename Elements::Stored* x, typename Elements::Real* sum) {
  constexpr int kReals = Elements::kReals;
  using Real = typename Elements::Real;
  const auto factors = [&](std::int64_t e) {
    if constexpr (kBytes == 0) {
      return Elements::contiguous(x + e * kReals);
    } else {
      return Elements::gathered(x, codes + e);
    }
  };
  std::int64_t e = 0;
  typename One<Real>::Type total = {};
  if (entries >= kRows) {
    typename Elements::Sums sums;
    if (entries >= 2 * kRows) {
      typename Elements::Sums others;
      for (; e + 2 * kRows <= entries; e += 2 * kRows) {
        Elements::add(sums, Elements::values(values + e * kReals), factors(e));
        Elements::add(others, Elements::values(values + (e + kRows) * kReals), factors(e + kRows));
      }
      Elements::merge(sums, others);
    }
    if (e + kRows <= entries) {
      Elements::add(sums, Elements::values(values + e * kReals), factors(e));
      e += kRows;
    }
    Real reduced[kReals];
    Elements::reduce(sums, reduced);
#pragma GCC unroll 2
    for (int c = 0; c < kReals; ++c)
      total[c] = reduced[c];
  }
  for (; e < entries; ++e) {
    std::int64_t column = e;
    if constexpr (kBytes != 0) column = codes[e];
    Elements::add_one(total, values + e * kReals, x + column * kReals);
  }
#pragma GCC unroll 2
  for (int c = 0; c < kReals; ++c)
    sum[c] = total[c];
}

/// sums[i] = the same sum, of a row of X and the row of Y that entry first + i names, of which
/// there are `entries`: those behind them have that of the last one. What is loaded of X serves
/// all.
template <class Elements, int kCount>
LANKY_INLINE void find_dots(const DotsArguments& task, std::int64_t first, int entries,
                            typename Elements::Real* dots) {
  using Stored = typename Elements::Stored;
  using Real = typename Elements::Real;
  constexpr int kReals = Elements::kReals;
  const auto* const x = static_cast<const Stored*>(task.x);
  const Stored* rows[kCount];
#pragma GCC unroll 8
  for (int i = 0; i < kCount; ++i) {
    const std::int64_t entry = first + (i < entries ? i : entries - 1);
    rows[i] = static_cast<const Stored*>(task.y) + task.columns[entry] * task.y_pitch * kReals;
  }
  std::int64_t c = 0;
  for (int i = 0; i < kCount * kReals; ++i)
    dots[i] = 0;
  if (task.length >= kRows) {
    typename Elements::Sums sums[kCount];
    const auto add = [&](typename Elements::Sums(&to)[kCount], std::int64_t from) {
      const auto values = Elements::values(x + from * kReals);
#pragma GCC unroll 8
      for (int i = 0; i < kCount; ++i)
        Elements::add(to[i], values, Elements::contiguous(rows[i] + from * kReals));
    };
    if (task.length >= 2 * kRows) {
      typename Elements::Sums others[kCount];
      for (; c + 2 * kRows <= task.length; c += 2 * kRows) {
        add(sums, c);
        add(others, c + kRows);
      }
#pragma GCC unroll 8
      for (int i = 0; i < kCount; ++i)
        Elements::merge(sums[i], others[i]);
    }
    if (c + kRows <= task.length) {
      add(sums, c);
      c += kRows;
    }
    if constexpr (kCount == 4) {
      Elements::reduce_four(sums, dots);
    } else {
#pragma GCC unroll 8
      for (int i = 0; i < kCount; ++i)
        Elements::reduce(sums[i], dots + i * kReals);
    }
  }
  if (c == task.length) return;
#pragma GCC unroll 8
  for (int i = 0; i < kCount; ++i) {
    typename One<Real>::Type total = {};
#pragma GCC unroll 2
    for (int r = 0; r < kReals; ++r)
      total[r] = dots[i * kReals + r];
    for (std::int64_t rest = c; rest < task.length; ++rest)
      Elements::add_one(total, x + rest * kReals, rows[i] + rest * kReals);
#pragma GCC unroll 2
    for (int r = 0; r < kReals; ++r)
      dots[i * kReals + r] = total[r];
  }
}

template <class Elements>
void add_dots(const DotsArguments& task) {
  using Real = typename Elements::Real;
  constexpr int kReals = Elements::kReals;
  constexpr int kAtOnce = kReals == 1 ? 4 : 2;
  for (std::int64_t i = 0; i < task.entries; i += kAtOnce) {
    const auto entries = static_cast<int>(kAtOnce < task.entries - i ? kAtOnce : task.entries - i);
    Real dots[kAtOnce * kReals];
    if (entries > 1) {
      find_dots<Elements, kAtOnce>(task, i, entries, dots);
    } else {
      const auto* const x = static_cast<const typename Elements::Stored*>(task.x);
      const auto* const y = static_cast<const typename Elements::Stored*>(task.y);
      walk_row<Elements, 0>(task.length, nullptr, x, y + task.columns[i] * task.y_pitch * kReals,
                            dots);
    }
    auto* const sums = static_cast<Real*>(task.sums) + i * kReals;
    for (int r = 0; r < entries * kReals; ++r)
      sums[r] = (task.adds ? sums[r] : Real{0}) + dots[r];
  }
}

/// Rows one after another. Returns their slots.
template <class Elements, int kBytes>
LANKY_INLINE std::int64_t walk_alone(const Chunk& chunk, const CodeParts& parts,
                                     const typename Elements::Stored* values,
                                     const typename Elements::Stored* x,
                                     typename Elements::Real* sums_of_rows) {
  using Code = typename CodeOf<kBytes>::Type;
  constexpr int kReals = Elements::kReals;
  const auto* codes = reinterpret_cast<const Code*>(parts.codes);
  std::int64_t slots = 0;
  for (int i = 0; i < chunk.kind.rows; ++i) {
    const std::int64_t entries = parts.alone_lengths[i];
    const auto* from = x;
    if constexpr (kBytes != 4) from += std::int64_t{parts.bases[i]} * kReals;
    walk_row<Elements, kBytes>(entries, codes + slots, values + slots * kReals, from,
                               sums_of_rows + i * kReals);
    slots += entries;
  }
  return slots;
}

/// Where a task stands in its arrays.
template <class Elements>
struct Place {
  const Chunk* chunk;
  const std::byte* codes;
  const typename Elements::Stored* values;

  LANKY_INLINE void pass(std::int64_t slots) {
    codes += codes_size(*chunk, slots);
    values += slots * Elements::kReals;
    ++chunk;
  }
};

/// Whole chunks of one kind, side by side. Not inlined: registers are shared out for each kind
/// alone.
template <class Types, int kBytes, Target kTarget>
[[gnu::noinline]] void run_beside(Place<typename Types::Elements>& place,
                                  const TaskArguments& task) {
  using Elements = typename Types::Elements;
  const auto* const x = static_cast<const typename Elements::Stored*>(task.x);
  const Writer<Types> writer(task);
  Place<Elements> at = place;
  do {
    Chunk chunk = *at.chunk;
    chunk.kind = {CodeOf<kBytes>::kCodes, 1, kTarget, kRows};  // which the compiler knows now
    const CodeParts parts = parts_of(chunk, at.codes);
    const auto sums = walk_beside<Elements, kBytes>(chunk, parts, at.values, x);
    if constexpr (kTarget == Target::listed) {
      writer.listed(chunk.first_row, kRows, parts.listed, sums);
    } else {
      writer.consecutive(chunk.first_row, sums);
    }
    const std::int64_t slots = std::int64_t{chunk.depth} * kRows;
    at.codes += codes_size(chunk, slots);
    at.values += slots * Elements::kReals;
    ++at.chunk;
  } while (at.chunk != task.chunks_end && same_kind(at.chunk->kind, place.chunk->kind));
  place = at;
}

/// Chunks of one kind, rows alone, or one chunk of fewer rows.
template <class Types, int kBytes>
[[gnu::noinline]] void run_any(Place<typename Types::Elements>& place, const TaskArguments& task) {
  using Elements = typename Types::Elements;
  using Real = typename Types::Real;
  const auto* const x = static_cast<const typename Elements::Stored*>(task.x);
  const Writer<Types> writer(task);
  Place<Elements> at = place;
  do {
    const Chunk chunk = *at.chunk;
    const CodeParts parts = parts_of(chunk, at.codes);
    std::int64_t slots = std::int64_t{chunk.depth} * kRows;
    typename Types::Values sums;
    if (chunk.kind.beside == 1) {
      sums = walk_beside<Elements, kBytes>(chunk, parts, at.values, x);
    } else {
      Real of_rows[Types::kReals * kRows] = {};
      slots = walk_alone<Elements, kBytes>(chunk, parts, at.values, x, of_rows);
      sums = Elements::loaded(of_rows);
    }
    if (chunk.kind.target == Target::partial) {
      Real found[Types::kReals * kRows];
      Elements::stored(found, sums);
      __builtin_memcpy(
          static_cast<Real*>(task.partials) + std::int64_t{chunk.first_row} * Types::kReals, found,
          Types::kReals * sizeof(Real));
    } else {
      writer.any(chunk, parts, sums);
    }
    at.pass(slots);
  } while (at.chunk != task.chunks_end && same_kind(at.chunk->kind, place.chunk->kind));
  place = at;
}

template <class Types, int kBytes>
LANKY_INLINE void run_kind(Place<typename Types::Elements>& place, const TaskArguments& task) {
  const ChunkKind kind = place.chunk->kind;
  if (kind.beside == 0 || kind.rows < kRows) return run_any<Types, kBytes>(place, task);
  if (kind.target == Target::listed) return run_beside<Types, kBytes, Target::listed>(place, task);
  run_beside<Types, kBytes, Target::consecutive>(place, task);
}

template <class Types>
void run_task(const TaskArguments& task) {
  using Elements = typename Types::Elements;
  Place<Elements> place{task.chunks, task.codes,
                        static_cast<const typename Elements::Stored*>(task.values)};
  while (place.chunk != task.chunks_end) {
    switch (place.chunk->kind.codes) {
      case Codes::none:
        run_kind<Types, 0>(place, task);
        break;
      case Codes::offset8:
        run_kind<Types, 1>(place, task);
        break;
      case Codes::offset16:
        run_kind<Types, 2>(place, task);
        break;
      case Codes::absolute:
        run_kind<Types, 4>(place, task);
        break;
    }
  }
}

template <class Types>
void write_row(const TaskArguments& task, std::int64_t row, const void* sum) {
  using Real = typename Types::Real;
  Real sums[Types::kReals * kRows] = {};
  __builtin_memcpy(sums, sum, Types::kReals * sizeof(Real));
  const std::uint16_t first = 0;
  Writer<Types>(task).listed(row, 1, &first, Types::Elements::loaded(sums));
}

}  // namespace

}  // namespace lanky::sparse::cpu
