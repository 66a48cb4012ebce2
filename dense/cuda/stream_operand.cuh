// Fragments of tensor core products from lines that lie in shared memory as in global memory, off
// 16 bytes (dense/word_lines.hpp): halves, and floats as tf32, in words of 4 bytes. Of halves, two
// such words hold what a register wants, wherever lines begin.
#pragma once

#include <cstdint>
#include <cstring>

#include "device/mma.cuh"
#include "device/tf32.cuh"

namespace lanky::dense::cuda {

/// A lane's part of 16 lines of an operand, for one product: [line][k], k in two halves. It serves
/// as the A of a product (rows g and g + 8 are lines 0 and 1) and as the B of two (lines 0, lines
/// 1): registers are alike.
using StreamFragment = std::uint32_t[2][2];

inline __device__ std::uint32_t load_shared_word(const char* place) {
  return *reinterpret_cast<const std::uint32_t*>(place);
}

/// How a lane takes its fragments from a slot; (g, t) = (lane / 4, lane % 4). Along k it has, of
/// each product, kTurn neighbours from k = turn t on.
///   halves, the elements of one k adjacent (kRows):  lines 2g and 2g + 1, in pairs of k
///   otherwise                                        lines g and g + 8
template <class E, bool kRows>
class StreamOperand {
 public:
  static constexpr bool kHalves = sizeof(E) == 2;
  static constexpr int kTurn = kHalves ? 4 : 2;

  /// Bytes from one k, and from one line, to the next; past: bytes of a slot ahead of the first
  /// element; first: of `lines`, the warp's first.
  __device__ StreamOperand(int pitch_k, int pitch_line, int past, int first, int lines, int turn,
                           int lane)
      : pitch_k_(pitch_k), pitch_line_(pitch_line), last_((lines - first - 1) / 16) {
    const int g = lane / 4;
    const int line = first + (kPairs ? 2 * g : g);
    const int place = past + line * pitch_line_ + turn * (lane % 4) * pitch_k_;
    if constexpr (kPairs) {
#pragma unroll
      for (int j = 0; j < kTurn; ++j)
        places_[j] = (place + j * pitch_k_) & ~3;
      odd_[0] = (place & 2) != 0;
      odd_[1] = ((place + pitch_k_) & 2) != 0;
      // Bytes of the element of line 2g (2g + 1) in the words of the first and of the second k.
      select_[0] = (odd_[0] ? 0x32U : 0x10U) | (odd_[1] ? 0x7600U : 0x5400U);
      select_[1] = (odd_[0] ? 0x10U : 0x32U) | (odd_[1] ? 0x5400U : 0x7600U);
    } else {
      places_[0] = place & ~3;
      shift_ = (place & 2) * 8U;
    }
  }
  __device__ int pitch_k() const {
    return pitch_k_;
  }

  /// Of lines 16 f to 16 f + 15 from the warp's first on; slot: where the product's k begin.
  __device__ void load(StreamFragment& fragment, const char* slot, int f) const {
    if constexpr (kPairs) {
      const char* const source = slot + 32 * f;
#pragma unroll
      for (int pair = 0; pair < 2; ++pair) {
        const std::uint32_t low0 = load_shared_word(source + places_[2 * pair]);
        const std::uint32_t low1 = load_shared_word(source + places_[2 * pair + 1]);
        std::uint32_t high0 = low0;
        std::uint32_t high1 = low1;
        if (odd_[0]) high0 = load_shared_word(source + places_[2 * pair] + 4);
        if (odd_[1]) high1 = load_shared_word(source + places_[2 * pair + 1] + 4);
        fragment[0][pair] = __byte_perm(low0, low1, select_[0]);
        fragment[1][pair] = __byte_perm(high0, high1, select_[1]);
      }
    } else {
#pragma unroll
      for (int line = 0; line < 2; ++line) {
        const char* const source =
            slot + places_[0] + (16 * min(f, last_) + 8 * line) * pitch_line_;
        if constexpr (kHalves) {
          const std::uint32_t w0 = load_shared_word(source);
          const std::uint32_t w1 = load_shared_word(source + 4);
          const std::uint32_t w2 = load_shared_word(source + 8);
          fragment[line][0] = __funnelshift_r(w0, w1, shift_);
          fragment[line][1] = __funnelshift_r(w1, w2, shift_);
        } else {
#pragma unroll
          for (int e = 0; e < 2; ++e)
            fragment[line][e] =
                device::round_to_tf32(*reinterpret_cast<const float*>(source + e * pitch_k_));
        }
      }
    }
  }
  /// Which of 16 lines is line `half` of lane group g.
  static __device__ int line(int g, int half) {
    return kPairs ? 2 * g + half : g + 8 * half;
  }

 private:
  static constexpr bool kPairs = kHalves && kRows;

  int pitch_k_;  // bytes
  int pitch_line_;
  int last_;  // group of 16 lines that has one
  int places_[kPairs ? kTurn : 1];
  bool odd_[2];  // kPairs: the first and the second of a pair of k begin within a word of 4 bytes
  unsigned select_[2];
  unsigned shift_;  // halves by columns: bits of a word ahead of the first element
};

/// c[16, 8] += a b, of both operands' lanes alike.
template <class E>
__device__ void multiply_stream(float (&c)[4], const StreamFragment& a, std::uint32_t b0,
                                std::uint32_t b1) {
  if constexpr (sizeof(E) == 2) {
    device::mma_m16n8k16<E>(c, a[0][0], a[1][0], a[0][1], a[1][1], b0, b1);
  } else {
    device::mma_m16n8k8_tf32(c, a[0][0], a[1][0], a[0][1], a[1][1], b0, b1);
  }
}

}  // namespace lanky::dense::cuda
