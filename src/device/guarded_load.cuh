// Loads under a condition, of 1 to 16 bytes in one instruction, of data that no kernel writes
// meanwhile; zeros of what does not exist. (Anything would do, but ptxas keeps a register that is
// written under a condition alone alive from the kernel's beginning on.) They stay in the order in
// which they are written: left to itself, nvcc moves loads behind the first use of others, and each
// waits for the one before.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "device/memory.cuh"

namespace lanky::device {

/// How long what is loaded stays in the caches.
enum class Stay : std::uint8_t {
  // Not in the first one, and the L2 gives it up before anything else, even before what nobody
  // reads any more: for more than the L2 holds.
  briefly,
  normally
};

namespace detail {

// How long it stays, and the type, are a part of the text. As operands ("C") CUDA 12.4 does not
// know them, 12.5 does.
#define LANKY_LOAD_IF(modifier, exists, load, ...)                                              \
  asm volatile("{\n.reg .pred p;\nsetp.ne.s32 p, " exists ", 0;\n@p ld.global.nc" modifier load \
               "\n}" __VA_ARGS__)
#define LANKY_LOAD_FOR_IF(exists, load, ...)                      \
  if constexpr (kStay == Stay::briefly)                           \
    LANKY_LOAD_IF(".L1::no_allocate", exists, load, __VA_ARGS__); \
  else                                                            \
    LANKY_LOAD_IF("", exists, load, __VA_ARGS__)

// Bytes and halves arrive in a register of their own: in half of one they would wait for the rest.
template <Stay kStay, class Index>
__device__ void load_widened_if(std::uint32_t& wide, const Index* source, bool exists) {
  wide = 0;
  if constexpr (std::is_same_v<Index, std::uint8_t>) {
    LANKY_LOAD_FOR_IF("%2", ".u8 %0, [%1];",
                      : "+r"(wide)
                      : "l"(source), "r"(static_cast<int>(exists)));
  } else if constexpr (std::is_same_v<Index, std::uint16_t>) {
    LANKY_LOAD_FOR_IF("%2", ".u16 %0, [%1];",
                      : "+r"(wide)
                      : "l"(source), "r"(static_cast<int>(exists)));
  } else {
    LANKY_LOAD_FOR_IF("%2", ".u32 %0, [%1];",
                      : "+r"(wide)
                      : "l"(source), "r"(static_cast<int>(exists)));
  }
}
template <Stay kStay>
__device__ void load_if(unsigned long long& word, const void* source, bool exists) {
  word = {};
  LANKY_LOAD_FOR_IF("%2", ".u64 %0, [%1];",
                    : "+l"(word)
                    : "l"(source), "r"(static_cast<int>(exists)));
}
template <Stay kStay>
__device__ void load_if(uint2& word, const void* source, bool exists) {
  word = {};
  LANKY_LOAD_FOR_IF("%3", ".v2.u32 {%0, %1}, [%2];",
                    : "+r"(word.x), "+r"(word.y)
                    : "l"(source), "r"(static_cast<int>(exists)));
}
template <Stay kStay>
__device__ void load_if(uint4& word, const void* source, bool exists) {
  word = {};
  LANKY_LOAD_FOR_IF("%5", ".v4.u32 {%0, %1, %2, %3}, [%4];",
                    : "+r"(word.x), "+r"(word.y), "+r"(word.z), "+r"(word.w)
                    : "l"(source), "r"(static_cast<int>(exists)));
}
#undef LANKY_LOAD_FOR_IF
#undef LANKY_LOAD_IF

template <Stay kStay, class Word>
__device__ void load_if(Word& word, const void* source, bool exists) {
  static_assert(sizeof(Word) <= 4);
  std::uint32_t wide;
  load_widened_if<kStay>(wide, static_cast<const Word*>(source), exists);
  word = static_cast<Word>(wide);
}

__device__ inline void load_in_order(unsigned int& word, const void* source) {
  asm volatile("ld.global.nc.u32 %0, [%1];" : "=r"(word) : "l"(source));
}
__device__ inline void load_in_order(uint2& word, const void* source) {
  asm volatile("ld.global.nc.v2.u32 {%0, %1}, [%2];" : "=r"(word.x), "=r"(word.y) : "l"(source));
}
__device__ inline void load_in_order(uint4& word, const void* source) {
  asm volatile("ld.global.nc.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(word.x), "=r"(word.y), "=r"(word.z), "=r"(word.w)
               : "l"(source));
}
__device__ inline void load_in_order(double& word, const void* source) {
  asm volatile("ld.global.nc.f64 %0, [%1];" : "=d"(word) : "l"(source));
}
__device__ inline void load_in_order(double2& word, const void* source) {
  asm volatile("ld.global.nc.v2.f64 {%0, %1}, [%2];" : "=d"(word.x), "=d"(word.y) : "l"(source));
}

}  // namespace detail

/// out[i] = source[i], in any case; source is aligned to kCount elements.
template <int kCount, class E>
__device__ void load_in_order(E (&out)[kCount], const E* source) {
  constexpr bool kDoubles = std::is_same_v<E, double>;
  using Doubles = std::conditional_t<kCount == 1, double, double2>;
  std::conditional_t<kDoubles, Doubles, typename detail::WordOf<kCount * sizeof(E)>::Type> word;
  static_assert(sizeof(word) == sizeof(out));
  detail::load_in_order(word, source);
  memcpy(out, &word, sizeof(word));
}

/// out = *source, a half's bits, in any case.
__device__ inline void load_widened_in_order(std::uint32_t& out, const void* source) {
  asm volatile("ld.global.nc.u16 %0, [%1];" : "=r"(out) : "l"(source));
}

/// out[i] = source[i]; source is aligned to kCount elements.
template <Stay kStay, int kCount, class E>
__device__ void load_if(E (&out)[kCount], const E* source, bool exists) {
  typename detail::WordOf<kCount* static_cast<int>(sizeof(E))>::Type word;
  detail::load_if<kStay>(word, source, exists);
  memcpy(out, &word, sizeof(word));
}

/// out = *source.
template <Stay kStay, class E>
__device__ void load_if(E& out, const E* source, bool exists) {
  constexpr auto kBytes = static_cast<int>(sizeof(E));
  std::conditional_t<kBytes == 8, unsigned long long, typename detail::WordOf<kBytes>::Type> word;
  detail::load_if<kStay>(word, source, exists);
  memcpy(&out, &word, sizeof(word));
}

/// out = *source, an unsigned integer, widened.
template <Stay kStay, class Index>
__device__ void load_widened_if(std::uint32_t& out, const Index* source, bool exists) {
  static_assert(sizeof(Index) <= 4);
  detail::load_widened_if<kStay>(out, source, exists);
}

}  // namespace lanky::device
