// Chunks for every processor: vectors of 16 bytes, and halves converted by integer arithmetic.
#include <cstdint>

namespace {

constexpr char kIsa[] = "vectors of 16 bytes";
constexpr int kVectorBytes = 16;
constexpr int kOfVector = 8;  // halves

typedef std::uint16_t Bits8 __attribute__((vector_size(16)));

[[gnu::always_inline]] inline float float_of(std::uint32_t bits) {
  float value = 0;
  __builtin_memcpy(&value, &bits, sizeof(value));
  return value;
}
[[gnu::always_inline]] inline std::uint32_t bits_of(float value) {
  std::uint32_t bits = 0;
  __builtin_memcpy(&bits, &value, sizeof(bits));
  return bits;
}

[[gnu::always_inline]] inline void widen_f16(Bits8 bits, float* to) {
  for (int i = 0; i < kOfVector; ++i) {
    const std::uint32_t sign = (bits[i] & 0x8000U) << 16;
    const std::uint32_t magnitude = bits[i] & 0x7fffU;
    const float small = static_cast<float>(magnitude) * 5.9604644775390625e-8F;  // 2^-24
    const std::uint32_t found = magnitude >= 0x7c00U  ? 0x7f800000U | ((magnitude & 0x3ffU) << 13)
                                : magnitude >= 0x400U ? (magnitude << 13) + 0x38000000U
                                                      : bits_of(small);
    to[i] = float_of(sign | found);
  }
}
[[gnu::always_inline]] inline void widen_bf16(Bits8 bits, float* to) {
  for (int i = 0; i < kOfVector; ++i)
    to[i] = float_of(static_cast<std::uint32_t>(bits[i]) << 16);
}
/// Round to nearest even; below 2^-14 in units of 2^-24, by the rounding of an addition.
[[gnu::always_inline]] inline void narrow_f16(const float* from, std::uint16_t* to) {
  for (int i = 0; i < kOfVector; ++i) {
    const std::uint32_t bits = bits_of(from[i]);
    const std::uint32_t sign = (bits >> 16) & 0x8000U;
    const std::uint32_t magnitude = bits & 0x7fffffffU;
    const std::uint32_t rounded =
        (magnitude + 0xfffU + ((magnitude >> 13) & 1U) - 0x38000000U) >> 13;
    const std::uint32_t small = bits_of(float_of(magnitude) + 0.5F) - bits_of(0.5F);
    const std::uint32_t found = magnitude > 0x7f800000U    ? 0x7e00U | ((magnitude >> 13) & 0x3ffU)
                                : magnitude >= 0x477ff000U ? 0x7c00U
                                : magnitude < 0x38800000U  ? small
                                                           : rounded;
    to[i] = static_cast<std::uint16_t>(sign | found);
  }
}
[[gnu::always_inline]] inline void narrow_bf16(const float* from, std::uint16_t* to) {
  for (int i = 0; i < kOfVector; ++i) {
    const std::uint32_t bits = bits_of(from[i]);
    const bool is_nan = (bits & 0x7fffffffU) > 0x7f800000U;
    const std::uint32_t rounded = (bits + 0x7fffU + ((bits >> 16) & 1U)) >> 16;
    to[i] = static_cast<std::uint16_t>(is_nan ? (bits >> 16) | 0x40U : rounded);
  }
}

template <class Code>
[[gnu::always_inline]] inline void widen_codes(const Code* codes, std::int32_t* to) {
  for (int i = 0; i < kOfVector; ++i)
    to[i] = codes[i];
}

}  // namespace

#include "sparse/cpu/column_kernels_isa.hpp"

namespace lanky::sparse::cpu::baseline {

const ChunkKernels chunk_kernels = kKernels;

}  // namespace lanky::sparse::cpu::baseline
