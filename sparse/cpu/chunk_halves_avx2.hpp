// Eight halves or codes at once by AVX2 and F16C, for the chunk kernels of AVX2 and of AVX-512.
// Included by one source of each: what is inlined here is compiled with that source's flags.
#pragma once

#include <immintrin.h>

#include <cstdint>

namespace {

typedef std::uint16_t Bits8 __attribute__((vector_size(16)));

[[gnu::always_inline]] inline void widen_f16(Bits8 bits, float* to) {
  _mm256_storeu_ps(to, _mm256_cvtph_ps(reinterpret_cast<__m128i>(bits)));
}
[[gnu::always_inline]] inline void widen_bf16(Bits8 bits, float* to) {
  const __m256i words = _mm256_cvtepu16_epi32(reinterpret_cast<__m128i>(bits));
  _mm256_storeu_ps(to, _mm256_castsi256_ps(_mm256_slli_epi32(words, 16)));
}
[[gnu::always_inline]] inline void narrow_f16(const float* from, std::uint16_t* to) {
  _mm_storeu_si128(reinterpret_cast<__m128i*>(to),
                   _mm256_cvtps_ph(_mm256_loadu_ps(from), _MM_FROUND_TO_NEAREST_INT));
}
/// Round to nearest even; a NaN stays one.
[[gnu::always_inline]] inline void narrow_bf16(const float* from, std::uint16_t* to) {
  const __m256 value = _mm256_loadu_ps(from);
  const __m256i bits = _mm256_castps_si256(value);
  const __m256i upper = _mm256_srli_epi32(bits, 16);
  const __m256i odd = _mm256_and_si256(upper, _mm256_set1_epi32(1));
  const __m256i rounded = _mm256_srli_epi32(
      _mm256_add_epi32(_mm256_add_epi32(bits, _mm256_set1_epi32(0x7fff)), odd), 16);
  const __m256i quiet = _mm256_or_si256(upper, _mm256_set1_epi32(0x40));
  const __m256i is_nan = _mm256_castps_si256(_mm256_cmp_ps(value, value, _CMP_UNORD_Q));
  const __m256i words = _mm256_blendv_epi8(rounded, quiet, is_nan);
  const __m128i packed =
      _mm_packus_epi32(_mm256_castsi256_si128(words), _mm256_extracti128_si256(words, 1));
  _mm_storeu_si128(reinterpret_cast<__m128i*>(to), packed);
}

[[gnu::always_inline]] inline void widen_codes(const std::uint8_t* codes, std::int32_t* to) {
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), _mm256_cvtepu8_epi32(_mm_loadu_si64(codes)));
}
[[gnu::always_inline]] inline void widen_codes(const std::uint16_t* codes, std::int32_t* to) {
  _mm256_storeu_si256(
      reinterpret_cast<__m256i*>(to),
      _mm256_cvtepu16_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(codes))));
}

}  // namespace
