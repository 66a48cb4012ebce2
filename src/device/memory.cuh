// Loads of a few adjacent elements by one lane, as a single instruction of 2 to 16 bytes.
#pragma once

#include <cstdint>
#include <cstring>

namespace lanky::device {

namespace detail {
template <int kBytes>
struct WordOf;
template <>
struct WordOf<1> {
  using Type = unsigned char;
};
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

/// out[i] = source[i] for data that no kernel writes meanwhile; source is aligned to kCount
/// elements.
template <int kCount, class E>
__device__ void load_constant(E (&out)[kCount], const E* source) {
  using Word = typename detail::WordOf<kCount * sizeof(E)>::Type;
  const Word word = __ldg(reinterpret_cast<const Word*>(source));
  memcpy(out, &word, sizeof(word));
}

/// out[i] = source[i] in one instruction; source is aligned to kCount elements.
template <int kCount, class E>
__device__ void load_wide(E (&out)[kCount], const E* source) {
  using Word = typename detail::WordOf<kCount * sizeof(E)>::Type;
  const Word word = *reinterpret_cast<const Word*>(source);
  memcpy(out, &word, sizeof(word));
}

/// out[i] = source[i] in words of at most 16 bytes, to whose size source is aligned.
template <int kCount, class E>
__device__ void load_words(E (&out)[kCount], const E* source) {
  constexpr int kWord = kCount * sizeof(E) < 16 ? kCount : 16 / static_cast<int>(sizeof(E));
  static_assert(kCount % kWord == 0);
  using Word = typename detail::WordOf<kWord * sizeof(E)>::Type;
#pragma unroll
  for (int w = 0; w < kCount; w += kWord) {
    const Word word = *reinterpret_cast<const Word*>(source + w);
    memcpy(out + w, &word, sizeof(word));
  }
}

/// target[i] = values[i] for data that is not read again soon; target is aligned to kCount
/// elements.
template <int kCount, class E>
__device__ void store_streaming(E* target, const E (&values)[kCount]) {
  using Word = typename detail::WordOf<kCount * sizeof(E)>::Type;
  Word word;
  memcpy(&word, values, sizeof(word));
  __stcs(reinterpret_cast<Word*>(target), word);
}

/// target[i] = values[i] in one instruction; target is aligned to kCount elements.
template <int kCount, class E>
__device__ void store_wide(E* target, const E (&values)[kCount]) {
  using Word = typename detail::WordOf<kCount * sizeof(E)>::Type;
  Word word;
  memcpy(&word, values, sizeof(word));
  *reinterpret_cast<Word*>(target) = word;
}

/// store_streaming() for values of several words of 16 bytes, or less than one.
template <int kCount, class E>
__device__ void store_words(E* target, const E (&values)[kCount]) {
  constexpr int kWord = kCount * sizeof(E) < 16 ? kCount : 16 / static_cast<int>(sizeof(E));
#pragma unroll
  for (int w = 0; w < kCount; w += kWord) {
    E word[kWord];
    memcpy(word, values + w, sizeof(word));
    store_streaming(target + w, word);
  }
}

/// values = those of lane `source`. All lanes of the warp take part.
template <int kCount, class E>
__device__ void exchange(E (&values)[kCount], int source) {
  static_assert(sizeof(values) % 4 == 0);
  std::uint32_t words[sizeof(values) / 4];
  memcpy(words, values, sizeof(values));
#pragma unroll
  for (std::uint32_t& word : words)
    word = __shfl_sync(0xffffffffU, word, source);
  memcpy(values, words, sizeof(values));
}

/// Elements from the word of kCount of them that `place` is in to `place` itself.
template <int kCount, class E>
__device__ int place_in_word(const E* place) {
  return static_cast<int>(reinterpret_cast<std::uintptr_t>(place) / sizeof(E) % kCount);
}

/// Has the L2 fetch what stands at `place`.
__device__ inline void prefetch(const void* place) {
  asm volatile("prefetch.global.L2 [%0];" ::"l"(place));
}

/// `value`, of which the compiler knows nothing: what is computed from it in a loop is not kept in
/// registers from one pass to the next.
__device__ inline std::int64_t opaque(std::int64_t value) {
  asm volatile("" : "+l"(value));
  return value;
}

/// The same of an address: what it was computed from is not computed with again.
template <class E>
__device__ const E* opaque(const E* pointer) {
  asm volatile("" : "+l"(pointer));
  return pointer;
}

/// `first` and `count` times `bytes` further, in one instruction.
template <class E>
__device__ const E* advanced(const E* first, std::uint32_t count, std::uint32_t bytes) {
  std::uint64_t distance;
  asm("mul.wide.u32 %0, %1, %2;" : "=l"(distance) : "r"(count), "r"(bytes));
  return reinterpret_cast<const E*>(reinterpret_cast<const unsigned char*>(first) + distance);
}

/// load_constant() of 16 bytes that hold parts of 8: these arrive in the pairs of registers that
/// they are used in.
template <int kCount, class E>
__device__ void load_constant_pairs(E (&out)[kCount], const E* source) {
  static_assert(sizeof(out) == 16);
  const ulonglong2 word = __ldg(reinterpret_cast<const ulonglong2*>(source));
  memcpy(out, &word, sizeof(word));
}

/// A 16-byte (or 8-byte) word that is read once or twice; zeros where it does not exist.
template <class Word>
__device__ Word load_word(const void* source, bool exists) {
  Word word{};
  if (exists) word = __ldg(static_cast<const Word*>(source));
  return word;
}

/// A 16-byte word of data that no kernel writes meanwhile; anything where it does not exist, which
/// saves the instructions that would make zeros of it.
__device__ inline uint4 load_word_if(const void* source, bool exists) {
  uint4 word;
  asm volatile(
      "{\n"
      ".reg .pred exists;\n"
      "setp.ne.s32 exists, %5, 0;\n"
      "@exists ld.global.nc.v4.u32 {%0, %1, %2, %3}, [%4];\n"
      "}"
      : "=r"(word.x), "=r"(word.y), "=r"(word.z), "=r"(word.w)
      : "l"(source), "r"(static_cast<int>(exists)));
  return word;
}

/// sizeof(Word) bytes, from byte `offset` (a multiple of E's size) of two neighbouring words on.
template <class E, class Word>
__device__ Word realigned(Word low, Word high, unsigned offset) {
  constexpr int kWords = sizeof(Word) / 4;
  std::uint32_t w[2 * kWords];
  memcpy(w, &low, sizeof(Word));
  memcpy(w + kWords, &high, sizeof(Word));
#pragma unroll
  for (int by = kWords / 2; by > 0 && by * 4 >= static_cast<int>(sizeof(E)); by /= 2) {
#pragma unroll
    for (int i = 0; i + by < 2 * kWords; ++i)
      w[i] = (offset & (by * 4U)) != 0 ? w[i + by] : w[i];
  }
  if constexpr (sizeof(E) == 2) {
#pragma unroll
    for (int i = 0; i < kWords; ++i)
      w[i] = __funnelshift_r(w[i], w[i + 1], (offset & 2U) * 8);
  }
  Word word;
  memcpy(&word, w, sizeof(word));
  return word;
}

/// The elements that fill a word, from an aligned address on: the first `count` of them, at least.
template <class Word>
struct AlignedUnit {
  Word word{};

  template <class E>
  __device__ void load(const E* source, int count = 1) {
    if (count > 0) word = __ldg(reinterpret_cast<const Word*>(source));
  }
  template <class E>
  __device__ Word unit(const E* /*source*/) const {
    return word;
  }
};

/// The word at `place`, with zeros for its elements from `end` on, which are not read.
template <class Word, class E>
__device__ Word load_until(const Word* place, const E* end) {
  constexpr int kCount = sizeof(Word) / sizeof(E);
  const E* const first = reinterpret_cast<const E*>(place);
  E elements[kCount];
#pragma unroll
  for (int e = 0; e < kCount; ++e)
    elements[e] = first + e < end ? __ldg(first + e) : E(0.F);
  Word word;
  memcpy(&word, elements, sizeof(word));
  return word;
}

/// The same from any address, put together from the aligned words that hold one of the `count`
/// elements. They may reach beyond what was allocated if the elements are its last ones: there,
/// load with its end.
template <class Word>
struct UnalignedUnit {
  Word low{};
  Word high{};

  template <class E>
  __device__ static unsigned offset(const E* source) {
    return static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(source)) % sizeof(Word);
  }
  template <class E>
  __device__ static bool reaches_high(const E* source, int count) {
    return static_cast<int>(offset(source)) + count * static_cast<int>(sizeof(E)) >
           static_cast<int>(sizeof(Word));
  }
  template <class E>
  __device__ void load(const E* source, int count = sizeof(Word) / sizeof(E)) {
    const auto* const words = reinterpret_cast<const Word*>(
        reinterpret_cast<const unsigned char*>(source) - offset(source));
    if (count > 0) low = __ldg(words);
    if (reaches_high(source, count)) high = __ldg(words + 1);
  }
  template <class E>
  __device__ void load(const E* source, int count, const E* end) {
    const auto* const words = reinterpret_cast<const Word*>(
        reinterpret_cast<const unsigned char*>(source) - offset(source));
    if (count > 0) low = load_until(words, end);
    if (reaches_high(source, count)) high = load_until(words + 1, end);
  }
  /// `source`, or one that is whole words away from it.
  template <class E>
  __device__ Word unit(const E* source) const {
    return realigned<E>(low, high, offset(source));
  }
};

/// 16 bytes at an address in shared memory (shared_address()), a multiple of 16. Stays behind the
/// waits for barriers that stand before it.
__device__ inline uint4 load_shared(std::uint32_t address) {
  uint4 word;
  asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(word.x), "=r"(word.y), "=r"(word.z), "=r"(word.w)
               : "r"(address));
  return word;
}

/// yes ? a : b. Copying whole arrays of words under a condition loses some of them (nvcc 13.0.88).
__device__ inline uint4 select(bool yes, uint4 a, uint4 b) {
  return make_uint4(yes ? a.x : b.x, yes ? a.y : b.y, yes ? a.z : b.z, yes ? a.w : b.w);
}
__device__ inline std::uint32_t select(bool yes, std::uint32_t a, std::uint32_t b) {
  return yes ? a : b;
}
__device__ inline uint2 select(bool yes, uint2 a, uint2 b) {
  return make_uint2(yes ? a.x : b.x, yes ? a.y : b.y);
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
