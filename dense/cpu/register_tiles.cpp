#include "dense/cpu/register_tiles.hpp"

#include <lanky/half.hpp>

namespace lanky::dense::cpu {

namespace {

void widen(const std::uint16_t* source, float* target, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i)
    target[i] = detail::half_bits_to_float(source[i]);
}

void narrow(const float* source, std::uint16_t* target, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i)
    target[i] = detail::float_to_half_bits(source[i]);
}

constexpr HalfConversion kPlainConversion = {widen, narrow};

#if LANKY_X86_64
enum class Isa : std::uint8_t { baseline, avx2, avx512 };

Isa isa_of_this_processor() {
  if (__builtin_cpu_supports("avx512f")) return Isa::avx512;
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return Isa::avx2;
  return Isa::baseline;
}

Isa isa() {
  static const Isa instance = isa_of_this_processor();
  return instance;
}

#define LANKY_OF_THIS_PROCESSOR(tiles) \
  (isa() == Isa::avx512 ? avx512::tiles : isa() == Isa::avx2 ? avx2::tiles : baseline::tiles)
#else
#define LANKY_OF_THIS_PROCESSOR(tiles) baseline::tiles
#endif

}  // namespace

template <>
const RegisterTiles<double>& register_tiles() {
  return LANKY_OF_THIS_PROCESSOR(tiles_f64);
}
template <>
const RegisterTiles<float>& register_tiles() {
  return LANKY_OF_THIS_PROCESSOR(tiles_f32);
}
const HalfConversion& half_conversion() {
#if LANKY_X86_64
  if (isa() != Isa::baseline) return avx2::f16c_conversion;
#endif
  return kPlainConversion;
}

}  // namespace lanky::dense::cpu
