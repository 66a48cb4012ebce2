// Loads of a few adjacent elements by one lane, as a single instruction of 2 to 16 bytes.
#pragma once

#include <cstdint>
#include <cstring>

namespace lanky::device {

namespace detail {
template <int kBytes>
struct WordOf;
template <>
struct WordOf<2> {
  using Type = unsigned short;
};
template <>
struct WordOf<4> {
  using Type = unsigned int;
};
template <>
struct WordOf<8> {
  using Type = uint2;
};
template <>
struct WordOf<16> {
  using Type = uint4;
};
}  // namespace detail

/// out[i] = source[i] for data that is read once: it does not displace what the caches hold.
/// source is aligned to kCount elements.
template <int kCount, class E>
__device__ void load_streaming(E (&out)[kCount], const E* source) {
  using Word = typename detail::WordOf<kCount * sizeof(E)>::Type;
  const Word word = __ldcs(reinterpret_cast<const Word*>(source));
  memcpy(out, &word, sizeof(word));
}

/// The 32 bits of two adjacent elements, the first in the low half: an operand of mma.
template <class E>
__device__ std::uint32_t pair_bits(E low, E high) {
  static_assert(sizeof(E) == 2);
  const E pair[2] = {low, high};
  std::uint32_t bits;
  memcpy(&bits, pair, sizeof(bits));
  return bits;
}

}  // namespace lanky::device
