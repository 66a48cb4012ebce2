// Copies of lines off 16 bytes between global and shared memory, in the aligned words of 16 bytes
// that hold them (WordLinesPlan).
#pragma once

#include <cstdint>
#include <type_traits>

#include "dense/word_lines.hpp"
#include "device/matrix_copy.cuh"
#include "device/memory.cuh"

namespace lanky::dense::cuda {

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
    bytes = (plan.by_columns ? rows : columns) * kBytes;
    if (plan.tight) bytes += (rows - 1) * plan.row;
    shared = place + reinterpret_cast<std::uintptr_t>(first) % 16;
  }
  /// Starts copies into shared memory, by threads 0 to 2^threads_log2 - 1. Other bytes of a line's
  /// words are read, too, but none at `end`, where the matrix ends, or beyond it.
  __device__ void fetch_by(int thread, int threads_log2, const E* end) const {
    const auto* const last = reinterpret_cast<const char*>(global) + (lines - 1) * stride + bytes;
    if (reinterpret_cast<const char*>(end) - last < 16) {
      return for_each_word_of(thread, threads_log2,
                              [end](Byte* from, char* to, int /*first*/, int until) {
                                start_copy(from, to, until, end);
                              });
    }
    for_each_word_by(thread, threads_log2,
                     [](const char* from, std::uint32_t to, int /*past*/, int /*left*/) {
                       device::copy_word(to, from);
                     });
  }
  /// Copies from shared memory, likewise.
  __device__ void leave_by(int thread, int threads_log2) const {
    for_each_word_by(thread, threads_log2,
                     [](const char* word, std::uint32_t from, int past, int left) {
                       auto* const to = const_cast<char*>(word);
                       const uint4 value = device::load_shared(from);
                       if (past <= 0 && left >= 16) {
                         __stcs(reinterpret_cast<uint4*>(to), value);
                       } else {
                         constexpr int kBytes = static_cast<int>(sizeof(E));
                         store_part(reinterpret_cast<E*>(to), value, max(past, 0) / kBytes,
                                    min(left, 16) / kBytes);
                       }
                     });
  }
  /// visit(word in global memory, its address in shared memory, bytes of it ahead of the line,
  /// bytes from it to the line's end) for each word, by threads 0 to 2^threads_log2 - 1.
  template <class Visit>
  __device__ void for_each_word_by(int thread, int threads_log2, Visit visit) const {
    // Lanes, a power of two, take a line of words together; of few lines, all threads.
    int width_bits = min(5, 32 - __clz((bytes + 14) / 16));
    while (lines << width_bits < 1 << threads_log2 && bytes > 16 << width_bits)
      ++width_bits;
    const int word = (thread & ((1 << width_bits) - 1)) * 16;
    const int line_pitch = pitch.by_columns ? pitch.column : pitch.row;
    const int step = 1 << (threads_log2 - width_bits);
    int line = thread >> width_bits;
    // A line begins as far from a multiple of 16 in shared memory as in global memory.
    const char* from = reinterpret_cast<const char*>(global) + line * stride + word;
    std::uint32_t to = device::shared_address(shared) + line * line_pitch;
#pragma unroll 1
    for (; line < lines; line += step, from += step * stride, to += step * line_pitch) {
      int past = static_cast<int>(to % 16);
      const char* source = from - past;
      std::uint32_t target = to - past + word;
      int left = past + bytes - word;  // from this thread's word on
      past -= word;
#pragma unroll 1
      for (; left > 0; left -= 64 << width_bits, past -= 64 << width_bits,
                       source += 64 << width_bits, target += 64 << width_bits) {
#pragma unroll
        for (int i = 0; i < 4; ++i) {
          const int at = i * 16 << width_bits;
          if (left > at) visit(source + at, target + at, past - at, left - at);
        }
      }
    }
  }
  static __device__ void start_copy(Byte* from, char* to, int last, const E* end) {
    if (reinterpret_cast<const char*>(end) - from >= 16) return device::copy_word(to, from);
#pragma unroll 1
    for (int byte = 0; byte < last; byte += static_cast<int>(sizeof(E)))
      *reinterpret_cast<std::remove_const_t<E>*>(to + byte) =
          *reinterpret_cast<const E*>(from + byte);
  }
  /// visit(global address, shared address, first byte, last byte + 1) for each word of each line;
  /// the bytes from first to last belong to the line. By threads 0 to 2^threads_log2 - 1, `thread`
  /// among them: a line by as many of them, a power of two, as it has words.
  template <class Visit>
  __device__ void for_each_word_of(int thread, int threads_log2, Visit visit) const {
    if (lines <= 0 || bytes <= 0) return;
    const int words = (bytes + 14) / 16 + 1;  // that a line touches at most
    const int width_bits = min(threads_log2, 32 - __clz(words - 1));
    const int line_pitch = pitch.by_columns ? pitch.column : pitch.row;
    int line = thread >> width_bits;
    Byte* begin = reinterpret_cast<Byte*>(global) + line * stride;
    char* place = shared + line * line_pitch;
    const int step = 1 << (threads_log2 - width_bits);
#pragma unroll 1
    for (; line < lines; line += step, begin += step * stride, place += step * line_pitch) {
      const int past = static_cast<int>(reinterpret_cast<std::uintptr_t>(begin) % 16);
      for (int byte = (thread & ((1 << width_bits) - 1)) * 16 - past; byte < bytes;
           byte += 16 << width_bits)
        visit(begin + byte, place + byte, max(0, -byte), min(16, bytes - byte));
    }
  }
  template <class Visit>
  __device__ void for_each_word_of_warp(Visit visit) const {
    for_each_word_of(static_cast<int>(threadIdx.x) % 32, 5, visit);
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
