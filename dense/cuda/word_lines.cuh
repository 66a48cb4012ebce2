// Copies of lines off 16 bytes between global and shared memory, in the aligned words of 16 bytes
// that hold them (WordLinesPlan).
#pragma once

#include <cstdint>
#include <type_traits>

#include "dense/word_lines.hpp"
#include "device/matrix_copy.cuh"
#include "device/memory.cuh"

namespace lanky::dense::cuda {

/// index / divisor and the remainder for index < 2^16, by one multiplication.
class SmallDivision {
 public:
  __device__ explicit SmallDivision(unsigned divisor)
      : divisor_(divisor), inverse_(0xffffffffU / divisor + 1) {}
  __device__ int quotient(int index) const {
    return divisor_ == 1 ? index
                         : static_cast<int>(__umulhi(static_cast<unsigned>(index), inverse_));
  }
  __device__ int remainder(int index) const {
    return index - quotient(index) * static_cast<int>(divisor_);
  }

 private:
  unsigned divisor_;
  unsigned inverse_;
};

/// One past the last element of a strided rows x columns matrix.
template <class E>
__device__ E* end_of(E* first, Strides strides, std::int64_t rows, std::int64_t columns) {
  return first + (rows - 1) * strides.row + (columns - 1) * strides.col + 1;
}

/// target[e] = element e of the word for first <= e < last; `target` is aligned to 16 bytes.
template <class E>
__device__ void store_part(E* target, const uint4& word, int first, int last) {
  if constexpr (sizeof(E) >= 4) {
    constexpr int kCount = 16 / static_cast<int>(sizeof(E));
    E elements[kCount];
    memcpy(elements, &word, sizeof(word));
#pragma unroll
    for (int e = 0; e < kCount; ++e)
      if (first <= e && e < last) target[e] = elements[e];
  } else {
    std::uint32_t pairs[4];
    memcpy(pairs, &word, sizeof(word));
    auto* const halves = reinterpret_cast<unsigned short*>(target);
#pragma unroll
    for (int pair = 0; pair < 4; ++pair) {
      const bool low = first <= 2 * pair && 2 * pair < last;
      const bool high = first <= 2 * pair + 1 && 2 * pair + 1 < last;
      if (low && high) {
        reinterpret_cast<std::uint32_t*>(target)[pair] = pairs[pair];
      } else if (low) {
        halves[2 * pair] = static_cast<unsigned short>(pairs[pair]);
      } else if (high) {
        halves[2 * pair + 1] = static_cast<unsigned short>(pairs[pair] >> 16);
      }
    }
  }
}

/// Part of a strided matrix of E: lines of adjacent elements. In shared memory every element has
/// the address, modulo 16, that it has in global memory: a line's words of 16 bytes stay words.
template <class E>
struct WordLines {
  using Byte = std::conditional_t<std::is_const_v<E>, const char, char>;

  E* global;            // its first element
  std::int64_t stride;  // bytes, from line to line
  int lines;
  int bytes;     // of a line
  char* shared;  // the first element
  WordLinesPlan pitch;

  /// Rows x columns from `first` on, in memory from `place`, a multiple of 16, on that is laid out
  /// by `plan`.
  __device__ WordLines(E* first, Strides strides, WordLinesPlan plan, int rows, int columns,
                       char* place)
      : global(first), pitch(plan) {
    constexpr int kBytes = static_cast<int>(sizeof(E));
    stride = (plan.by_columns ? strides.col : strides.row) * kBytes;
    lines = plan.tight ? 1 : plan.by_columns ? columns : rows;
    bytes = (plan.tight ? rows * columns : plan.by_columns ? rows : columns) * kBytes;
    shared = place + reinterpret_cast<std::uintptr_t>(first) % 16;
  }
  /// visit(global address, shared address, first byte, last byte + 1) for each word of each line,
  /// by the kThreads threads of the block; the bytes from first to last belong to the line.
  template <int kThreads, class Visit>
  __device__ void for_each_word(Visit visit) const {
    if (lines <= 0 || bytes <= 0) return;
    const int words = (bytes + 14) / 16 + 1;  // that a line touches at most
    const SmallDivision division(static_cast<unsigned>(words));
    const int line_pitch = pitch.by_columns ? pitch.column : pitch.row;
#pragma unroll 2
    for (int e = static_cast<int>(threadIdx.x); e < lines * words; e += kThreads) {
      const int line = division.quotient(e);
      Byte* const begin = reinterpret_cast<Byte*>(global) + line * stride;
      const int past = static_cast<int>(reinterpret_cast<std::uintptr_t>(begin) % 16);
      const int byte = division.remainder(e) * 16 - past;  // of the line, where the word begins
      if (byte >= bytes) continue;
      visit(begin + byte, shared + line * line_pitch + byte, max(0, -byte), min(16, bytes - byte));
    }
  }
  /// Starts copies into shared memory. Other bytes of a line's words are read, too, but none at
  /// `end`, where the matrix ends, or beyond it.
  template <int kThreads>
  __device__ void fetch(const E* end) const {
    for_each_word<kThreads>([end](Byte* from, char* to, int /*first*/, int last) {
      if (reinterpret_cast<const char*>(end) - from >= 16) return device::copy_word(to, from);
      for (int byte = 0; byte < last; byte += static_cast<int>(sizeof(E)))
        *reinterpret_cast<std::remove_const_t<E>*>(to + byte) =
            *reinterpret_cast<const E*>(from + byte);
    });
  }
  /// Copies from shared memory.
  template <int kThreads>
  __device__ void leave() const {
    for_each_word<kThreads>([](Byte* to, char* from, int first, int last) {
      if (first == 0 && last == 16) {
        __stcs(reinterpret_cast<uint4*>(to), *reinterpret_cast<const uint4*>(from));
      } else {
        for (int byte = first; byte < last; byte += static_cast<int>(sizeof(E)))
          *reinterpret_cast<E*>(to + byte) = *reinterpret_cast<const E*>(from + byte);
      }
    });
  }

  /// for_each_word() by a warp: a line by as many lanes, a power of two, as it has words.
  template <class Visit>
  __device__ void for_each_word_of_warp(Visit visit) const {
    if (lines <= 0 || bytes <= 0) return;
    const int words = (bytes + 14) / 16 + 1;  // that a line touches at most
    const int width_bits = min(5, 32 - __clz(words - 1));
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const int line_pitch = pitch.by_columns ? pitch.column : pitch.row;
    int line = lane >> width_bits;
    Byte* begin = reinterpret_cast<Byte*>(global) + line * stride;
    char* place = shared + line * line_pitch;
    const int step = 32 >> width_bits;
    for (; line < lines; line += step, begin += step * stride, place += step * line_pitch) {
      const int past = static_cast<int>(reinterpret_cast<std::uintptr_t>(begin) % 16);
      for (int byte = (lane & ((1 << width_bits) - 1)) * 16 - past; byte < bytes;
           byte += 16 << width_bits)
        visit(begin + byte, place + byte, max(0, -byte), min(16, bytes - byte));
    }
  }
  /// Copies of whole words into shared memory, each of which holds an element; none at `end` or
  /// beyond it, as fetch().
  __device__ void fetch_by_warp(const E* end) const {
    for_each_word_of_warp([end](const char* from, char* to, int /*first*/, int /*last*/) {
      const auto* const word = reinterpret_cast<const uint4*>(from);
      *reinterpret_cast<uint4*>(to) =
          reinterpret_cast<const char*>(end) - from >= 16 ? *word : device::load_until(word, end);
    });
  }
  /// Copies from shared memory.
  __device__ void leave_by_warp() const {
    for_each_word_of_warp(leave_word);
  }
  /// The bytes from first to last of a word.
  static __device__ void leave_word(char* to, const char* from, int first, int last) {
    const uint4 word = *reinterpret_cast<const uint4*>(from);
    if (first == 0 && last == 16) {
      __stcs(reinterpret_cast<uint4*>(to), word);
    } else {
      store_part(reinterpret_cast<E*>(to), word, first / static_cast<int>(sizeof(E)),
                 last / static_cast<int>(sizeof(E)));
    }
  }
};

}  // namespace lanky::dense::cuda
