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

enum class Isa : std::uint8_t { baseline, avx2, avx512 };

Isa isa_of_this_processor() {
#if LANKY_X86_64
  if (__builtin_cpu_supports("avx512f")) return Isa::avx512;
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return Isa::avx2;
#endif
  return Isa::baseline;
}

Isa isa() {
  static const Isa instance = isa_of_this_processor();
  return instance;
}

}  // namespace

#if LANKY_X86_64
template <>
const RegisterTiles<double>& register_tiles() {
  return isa() == Isa::avx512 ? avx512::tiles_f64
         : isa() == Isa::avx2 ? avx2::tiles_f64
                              : baseline::tiles_f64;
}
template <>
const RegisterTiles<float>& register_tiles() {
  return isa() == Isa::avx512 ? avx512::tiles_f32
         : isa() == Isa::avx2 ? avx2::tiles_f32
                              : baseline::tiles_f32;
}
const HalfConversion& half_conversion() {
  return isa() == Isa::baseline ? kPlainConversion : avx2::f16c_conversion;
}
#else
template <>
const RegisterTiles<double>& register_tiles() {
  return baseline::tiles_f64;
}
template <>
const RegisterTiles<float>& register_tiles() {
  return baseline::tiles_f32;
}
const HalfConversion& half_conversion() {
  return kPlainConversion;
}
#endif

}  // namespace lanky::dense::cpu
