// Loads under a condition, of 1 to 16 bytes in one instruction, of data that no kernel writes
// meanwhile; zeros of what does not exist. (Anything would do, but ptxas keeps a register that is
// written under a condition alone alive from the kernel's beginning on.) They stay in the order in
// which they are written: left to itself, nvcc moves loads behind the first use of others, and each
// waits for the one before.
#pragma once

#include <cstdint>
#include <cstring>

#include "device/memory.cuh"

namespace lanky::device {

namespace detail {

// Bytes and halves arrive in a register of their own: in half of one they would wait for the rest.
__device__ inline void load_if(std::uint8_t& word, const void* source, bool exists) {
  std::uint32_t wide = 0;
  asm volatile(
      "{\n.reg .pred p;\nsetp.ne.s32 p, %2, 0;\n"
      "@p ld.global.nc.L1::no_allocate.u8 %0, [%1];\n}"
      : "+r"(wide)
      : "l"(source), "r"(static_cast<int>(exists)));
  word = static_cast<std::uint8_t>(wide);
}
__device__ inline void load_if(std::uint16_t& word, const void* source, bool exists) {
  std::uint32_t wide = 0;
  asm volatile(
      "{\n.reg .pred p;\nsetp.ne.s32 p, %2, 0;\n"
      "@p ld.global.nc.L1::no_allocate.u16 %0, [%1];\n}"
      : "+r"(wide)
      : "l"(source), "r"(static_cast<int>(exists)));
  word = static_cast<std::uint16_t>(wide);
}
__device__ inline void load_if(std::uint32_t& word, const void* source, bool exists) {
  word = {};
  asm volatile(
      "{\n.reg .pred p;\nsetp.ne.s32 p, %2, 0;\n"
      "@p ld.global.nc.L1::no_allocate.u32 %0, [%1];\n}"
      : "+r"(word)
      : "l"(source), "r"(static_cast<int>(exists)));
}
__device__ inline void load_if(uint2& word, const void* source, bool exists) {
  word = {};
  asm volatile(
      "{\n.reg .pred p;\nsetp.ne.s32 p, %3, 0;\n"
      "@p ld.global.nc.L1::no_allocate.v2.u32 {%0, %1}, [%2];\n}"
      : "+r"(word.x), "+r"(word.y)
      : "l"(source), "r"(static_cast<int>(exists)));
}
__device__ inline void load_if(uint4& word, const void* source, bool exists) {
  word = {};
  asm volatile(
      "{\n.reg .pred p;\nsetp.ne.s32 p, %5, 0;\n"
      "@p ld.global.nc.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];\n}"
      : "+r"(word.x), "+r"(word.y), "+r"(word.z), "+r"(word.w)
      : "l"(source), "r"(static_cast<int>(exists)));
}

}  // namespace detail

/// out[i] = source[i] for what is read once: it takes no place in the first cache. source is
/// aligned to kCount elements.
template <int kCount, class E>
__device__ void load_stream_if(E (&out)[kCount], const E* source, bool exists) {
  typename detail::WordOf<kCount* static_cast<int>(sizeof(E))>::Type word;
  detail::load_if(word, source, exists);
  memcpy(out, &word, sizeof(word));
}

/// out = *source, an unsigned integer, widened; read once.
template <class Index>
__device__ void load_stream_widened_if(std::uint32_t& out, const Index* source, bool exists) {
  const int guard = static_cast<int>(exists);
  out = 0;
  if constexpr (sizeof(Index) == 1) {
    asm volatile(
        "{\n.reg .pred p;\nsetp.ne.s32 p, %2, 0;\n"
        "@p ld.global.nc.L1::no_allocate.u8 %0, [%1];\n}"
        : "+r"(out)
        : "l"(source), "r"(guard));
  } else if constexpr (sizeof(Index) == 2) {
    asm volatile(
        "{\n.reg .pred p;\nsetp.ne.s32 p, %2, 0;\n"
        "@p ld.global.nc.L1::no_allocate.u16 %0, [%1];\n}"
        : "+r"(out)
        : "l"(source), "r"(guard));
  } else {
    static_assert(sizeof(Index) == 4);
    detail::load_if(out, source, exists);
  }
}

/// out = *source for what is read again.
template <class E>
__device__ void load_if(E& out, const E* source, bool exists) {
  constexpr int kBytes = sizeof(E);
  const int guard = static_cast<int>(exists);
  if constexpr (kBytes == 2) {
    std::uint32_t wide = 0;
    asm volatile("{\n.reg .pred p;\nsetp.ne.s32 p, %2, 0;\n@p ld.global.nc.u16 %0, [%1];\n}"
                 : "+r"(wide)
                 : "l"(source), "r"(guard));
    const auto word = static_cast<std::uint16_t>(wide);
    memcpy(&out, &word, kBytes);
  } else if constexpr (kBytes == 4) {
    std::uint32_t word = 0;
    asm volatile("{\n.reg .pred p;\nsetp.ne.s32 p, %2, 0;\n@p ld.global.nc.u32 %0, [%1];\n}"
                 : "+r"(word)
                 : "l"(source), "r"(guard));
    memcpy(&out, &word, kBytes);
  } else if constexpr (kBytes == 8) {
    unsigned long long word = 0;
    asm volatile("{\n.reg .pred p;\nsetp.ne.s32 p, %2, 0;\n@p ld.global.nc.u64 %0, [%1];\n}"
                 : "+l"(word)
                 : "l"(source), "r"(guard));
    memcpy(&out, &word, kBytes);
  } else {
    static_assert(kBytes == 16);
    ulonglong2 word{};
    asm volatile(
        "{\n.reg .pred p;\nsetp.ne.s32 p, %3, 0;\n@p ld.global.nc.v2.u64 {%0, %1}, [%2];\n}"
        : "+l"(word.x), "+l"(word.y)
        : "l"(source), "r"(guard));
    memcpy(&out, &word, kBytes);
  }
}

}  // namespace lanky::device
