// Multiply-adds of vectors (GCC's vector extension) that are rounded as they are written, whatever
// compiles them: for kernels that are compiled for several instruction sets, without contraction.
#pragma once

#ifdef __FMA__
#include <immintrin.h>
#endif

#include <cstddef>
#include <type_traits>

namespace lanky {

namespace {  // a function that is shared could be one of an instruction set that is not there

/// a in each lane.
template <class Vector, class Real>
[[gnu::always_inline]] inline Vector in_each_lane(Real a) {
  return a - Vector{};  // a + 0 would make 0 of -0
}

/// a b + c, rounded once where the instruction set has that. Which product of a sum a compiler
/// would fuse depends on the code around it, and equal sums need equal choices.
template <class Vector>
[[gnu::always_inline]] inline Vector fused(Vector a, Vector b, Vector c) {
#ifdef __FMA__
  constexpr std::size_t kBytes = sizeof(Vector);
  if constexpr (std::is_same_v<std::remove_cvref_t<decltype(a[0])>, double>) {
    if constexpr (kBytes == 16) return Vector(_mm_fmadd_pd(__m128d(a), __m128d(b), __m128d(c)));
    if constexpr (kBytes == 32) return Vector(_mm256_fmadd_pd(__m256d(a), __m256d(b), __m256d(c)));
#ifdef __AVX512F__
    if constexpr (kBytes == 64) return Vector(_mm512_fmadd_pd(__m512d(a), __m512d(b), __m512d(c)));
#endif
  } else {
    if constexpr (kBytes == 16) return Vector(_mm_fmadd_ps(__m128(a), __m128(b), __m128(c)));
    if constexpr (kBytes == 32) return Vector(_mm256_fmadd_ps(__m256(a), __m256(b), __m256(c)));
#ifdef __AVX512F__
    if constexpr (kBytes == 64) return Vector(_mm512_fmadd_ps(__m512(a), __m512(b), __m512(c)));
#endif
  }
#else
  return a * b + c;
#endif
}

}  // namespace

}  // namespace lanky
