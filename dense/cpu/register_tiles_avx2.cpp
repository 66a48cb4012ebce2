// Register tiles of AVX2 with FMA: 16 vectors of 32 bytes. And F16C's conversion, which every
// processor with AVX2 has.
#include <immintrin.h>

#include <cstdint>

#define LANKY_OUTER_COLUMNS 4
#define LANKY_INNER_COLUMNS 2

namespace {

constexpr char kIsa[] = "AVX2";
constexpr int kVectorBytes = 32;

/// The first `count` lanes.
inline __m256i lanes_of(const double* /*type*/, int count) {
  const __m256i lanes = _mm256_setr_epi64x(0, 1, 2, 3);
  return _mm256_cmpgt_epi64(_mm256_set1_epi64x(count), lanes);
}
inline __m256i lanes_of(const float* /*type*/, int count) {
  const __m256i lanes = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
  return _mm256_cmpgt_epi32(_mm256_set1_epi32(count), lanes);
}
/// These lanes, and 0 in the others.
inline __m256d load_lanes(const double* from, __m256i lanes) {
  return _mm256_maskload_pd(from, lanes);
}
inline __m256 load_lanes(const float* from, __m256i lanes) {
  return _mm256_maskload_ps(from, lanes);
}
inline void store_part(double* to, __m256d value, int count) {
  _mm256_maskstore_pd(to, lanes_of(to, count), value);
}
inline void store_part(float* to, __m256 value, int count) {
  _mm256_maskstore_ps(to, lanes_of(to, count), value);
}
/// Half a vector of floats and back.
inline __m256d to_doubles(__m128 value) {
  return _mm256_cvtps_pd(value);
}
inline __m128 to_floats(__m256d value) {
  return _mm256_cvtpd_ps(value);
}
inline void stream_vector(double* to, __m256d value) {
  _mm256_stream_pd(to, value);
}
inline void stream_vector(float* to, __m256 value) {
  _mm256_stream_ps(to, value);
}
void stream_end() {
  _mm_sfence();
}

}  // namespace

#include "dense/cpu/register_tiles_isa.hpp"

namespace lanky::dense::cpu::avx2 {

const RegisterTiles<double> tiles_f64 = kTiles<double>;
const RegisterTiles<float> tiles_f32 = kTiles<float>;

namespace {

void widen(const std::uint16_t* source, float* target, std::int64_t count) {
  std::int64_t i = 0;
  for (; i + 8 <= count; i += 8) {
    const __m128i bits = _mm_loadu_si128(reinterpret_cast<const __m128i*>(source + i));
    _mm256_storeu_ps(target + i, _mm256_cvtph_ps(bits));
  }
  for (; i < count; ++i)
    target[i] = _cvtsh_ss(source[i]);
}

void narrow(const float* source, std::uint16_t* target, std::int64_t count) {
  std::int64_t i = 0;
  for (; i + 8 <= count; i += 8) {
    const __m128i bits = _mm256_cvtps_ph(_mm256_loadu_ps(source + i), _MM_FROUND_TO_NEAREST_INT);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(target + i), bits);
  }
  for (; i < count; ++i)
    target[i] = static_cast<std::uint16_t>(
        _mm_extract_epi16(_mm_cvtps_ph(_mm_set_ss(source[i]), _MM_FROUND_TO_NEAREST_INT), 0));
}

}  // namespace

const HalfConversion f16c_conversion = {widen, narrow};

}  // namespace lanky::dense::cpu::avx2
