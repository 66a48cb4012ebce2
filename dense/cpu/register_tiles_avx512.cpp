// Register tiles of AVX-512: 32 vectors of 64 bytes.
#include <immintrin.h>

#include <cstdint>

#define LANKY_OUTER_COLUMNS 8
#define LANKY_INNER_COLUMNS 4

namespace {

constexpr char kIsa[] = "AVX-512";
constexpr int kVectorBytes = 64;

/// The first `count` lanes, in a register of masks: GCC 12 would load them again for each vector.
inline __mmask8 lanes_of(const double* /*type*/, int count) {
  auto lanes = static_cast<__mmask8>((1U << count) - 1);
  asm("" : "+k"(lanes));
  return lanes;
}
inline __mmask16 lanes_of(const float* /*type*/, int count) {
  auto lanes = static_cast<__mmask16>((1U << count) - 1);
  asm("" : "+k"(lanes));
  return lanes;
}
/// These lanes, and 0 in the others.
inline __m512d load_lanes(const double* from, __mmask8 lanes) {
  return _mm512_maskz_loadu_pd(lanes, from);
}
inline __m512 load_lanes(const float* from, __mmask16 lanes) {
  return _mm512_maskz_loadu_ps(lanes, from);
}
/// The first `count` lanes.
inline void store_part(double* to, __m512d value, int count) {
  _mm512_mask_storeu_pd(to, static_cast<__mmask8>((1U << count) - 1), value);
}
inline void store_part(float* to, __m512 value, int count) {
  _mm512_mask_storeu_ps(to, static_cast<__mmask16>((1U << count) - 1), value);
}
/// Half a vector of floats and back. The masks keep GCC 12 from warning of its own headers.
inline __m512d to_doubles(__m256 value) {
  return _mm512_maskz_cvtps_pd(0xff, value);
}
inline __m256 to_floats(__m512d value) {
  return _mm512_maskz_cvtpd_ps(0xff, value);
}
inline void stream_vector(double* to, __m512d value) {
  _mm512_stream_pd(to, value);
}
inline void stream_vector(float* to, __m512 value) {
  _mm512_stream_ps(to, value);
}
void stream_end() {
  _mm_sfence();
}

}  // namespace

#include "dense/cpu/register_tiles_isa.hpp"

namespace lanky::dense::cpu::avx512 {

const RegisterTiles<double> tiles_f64 = kTiles<double>;
const RegisterTiles<float> tiles_f32 = kTiles<float>;

}  // namespace lanky::dense::cpu::avx512
