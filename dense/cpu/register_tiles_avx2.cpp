// Register tiles of AVX2 with FMA: 16 vectors of 32 bytes. And F16C's conversion, which every
// processor with AVX2 has.
#include <immintrin.h>

#include <cstdint>

#define LANKY_OUTER_COLUMNS 4
#define LANKY_INNER_COLUMNS 2

namespace {

constexpr char kIsa[] = "AVX2";
constexpr int kVectorBytes = 32;

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

const RegisterTiles<double> kTilesF64 = kTiles<double>;
const RegisterTiles<float> kTilesF32 = kTiles<float>;

void widen_half(const std::uint16_t* source, float* target, std::int64_t count) {
  std::int64_t i = 0;
  for (; i + 8 <= count; i += 8) {
    const __m128i bits = _mm_loadu_si128(reinterpret_cast<const __m128i*>(source + i));
    _mm256_storeu_ps(target + i, _mm256_cvtph_ps(bits));
  }
  for (; i < count; ++i)
    target[i] = _cvtsh_ss(source[i]);
}

}  // namespace lanky::dense::cpu::avx2
