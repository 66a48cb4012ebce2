// What a warp of update_stream_kernel multiplies: its rows of A, in shared memory as in global
// memory (dense/word_lines.hpp), by some n-tiles of B in fragments.
#pragma once

#include "dense/cuda/stream_operand.cuh"
#include "dense/cuda/update/arguments.cuh"
#include "dense/cuda/update/mma.cuh"
#include "dense/word_lines.hpp"

namespace lanky::dense::cuda {

/// What of a fragment of A counts in the last step of k: bits of the two k of a register.
template <class E>
struct StreamTail {
  std::uint32_t bits[2];

  /// k from `first` on, of which `count` exist.
  __device__ StreamTail(int count, int lane) {
    constexpr int kTurn = StreamOperand<E, true>::kTurn;
    const int left = count - lane % 4 * kTurn;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      if constexpr (kTurn == 4) {
        const int pair = left - 2 * half;
        bits[half] = pair >= 2 ? 0xffffffffU : pair == 1 ? 0xffffU : 0;
      } else {
        bits[half] = left > half ? 0xffffffffU : 0;
      }
    }
  }
};

/// Halves, and floats as tf32: 16 kFragments rows by up to 8 kTiles_ columns at once.
template <class T, int kTiles_, bool kColumnsOfA>
struct StreamOfWords {
  using E = device::DeviceElement<T>;
  using A = StreamOperand<E, kColumnsOfA>;
  using B = uint2;  // of a step and an n-tile, in the order of k that A has
  static constexpr int kTiles = kTiles_;
  static constexpr int kFragments = update_stream_fragments(kTiles);
  static constexpr int kDepth = 4 * A::kTurn;  // of a step
  static constexpr int kReadDepth = kDepth;    // A is read in wholes of it
  using Sums = float[kFragments][kTiles][4];

  static constexpr int kSpanOfB = A::kTurn;  // a lane's k of a fragment
  static constexpr int kStrideOfB = 1;       // from one to the next
  static __device__ int first_of_b(int step, int lane) { return (step * 4 + lane % 4) * A::kTurn; }
  static __device__ B fragment_of(const E (&values)[kSpanOfB]) {
    B fragment;
    if constexpr (A::kTurn == 4) {
      memcpy(&fragment, values, sizeof(fragment));
    } else {
      fragment = {device::round_to_tf32(values[0]), device::round_to_tf32(values[1])};
    }
    return fragment;
  }
  /// Adds the products of `rows` rows of A at `slot`, from `own` on, which begin `past` bytes
  /// behind a multiple of 16, and of the first `tiles` n-tiles at b, `pitch` of which are a step.
  static __device__ void multiply(Sums& sums, const WordLinesPlan& plan, const char* slot, int past,
                                  int own, int rows, const B* b, int pitch, int tiles, int k,
                                  int lane) {
    const A a(plan.column, plan.row, past, own, rows, A::kTurn, lane);
    const int steps = (k + kDepth - 1) / kDepth;
    const StreamTail<E> tail(k - (steps - 1) * kDepth, lane);
    b += lane;
#pragma unroll 1
    for (int s = 0; s < steps; ++s, b += pitch * 32) {
      StreamFragment lines[kFragments];
      const std::uint32_t low = s + 1 < steps ? 0xffffffffU : tail.bits[0];
      const std::uint32_t high = s + 1 < steps ? 0xffffffffU : tail.bits[1];
#pragma unroll
      for (int i = 0; i < kFragments; ++i) {
        a.load(lines[i], slot + s * kDepth * a.pitch_k(), i);
#pragma unroll
        for (auto& line : lines[i]) {
          line[0] &= low;
          line[1] &= high;
        }
      }
#pragma unroll
      for (int tile = 0; tile < kTiles; ++tile) {
        if (tile % 4 == 0 && tile >= tiles) break;
        const B column = b[tile * 32];
#pragma unroll
        for (int i = 0; i < kFragments; ++i)
          multiply_stream<E>(sums[i][tile], lines[i], column.x, column.y);
      }
    }
  }
  /// Which of 16 rows is row `half` of lane group g.
  static __device__ int line(int g, int half) {
    return A::line(g, half);
  }
};

/// Doubles, and floats, whose products are exact in double: 32 rows by up to 32 columns at once.
/// Element e of lane (g, t) in a step's fragments is the one with k = t + 4 e.
template <class T>
struct StreamOfDoubles {
  using E = device::DeviceElement<T>;
  using F = Fragment<E>;
  using B = typename F::B;
  static constexpr int kTiles = kUpdateStreamTilesOfDoubles;
  static constexpr int kFragments = update_stream_fragments(kTiles);
  static constexpr int kDepth = 4 * F::kSpan;  // of a step
  static constexpr int kReadDepth = 1;
  using Sums = double[kFragments][kTiles][4];

  static constexpr int kSpanOfB = F::kSpan;
  static constexpr int kStrideOfB = 4;
  static __device__ int first_of_b(int step, int lane) { return step * kDepth + lane % 4; }
  static __device__ B fragment_of(const E (&values)[kSpanOfB]) {
    B fragment;
#pragma unroll
    for (int e = 0; e < kSpanOfB; ++e)
      fragment.e[e] = values[e];
    return fragment;
  }
  /// As StreamOfWords has it.
  static __device__ void multiply(Sums& sums, const WordLinesPlan& plan, const char* slot, int past,
                                  int own, int /*rows*/, const B* b, int pitch, int tiles, int k,
                                  int lane) {
    const char* source = slot + past + (own + lane / 4) * plan.row + lane % 4 * plan.column;
    b += lane;
    const auto step = [&](int depth, auto partly) {
      multiply_step<decltype(partly)::value>(sums, source, plan, depth, b, tiles);
      source += kDepth * plan.column;
      b += pitch * 32;
    };
#pragma unroll 1
    for (int s = 0; s < k / kDepth; ++s)
      step(kDepth, std::false_type());
    if (k % kDepth != 0) step(k % kDepth, std::true_type());
  }
  static __device__ int line(int g, int half) {
    return g + 8 * half;
  }

 private:
  /// kPartly: of the step's elements of k the first `depth` exist.
  template <bool kPartly>
  static __device__ void multiply_step(Sums& sums, const char* source, const WordLinesPlan& plan,
                                       int depth, const B* b, int tiles) {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    typename F::A fragments[kFragments];
#pragma unroll
    for (int i = 0; i < kFragments; ++i) {
      E values[F::kSpan][2];
#pragma unroll
      for (int e = 0; e < F::kSpan; ++e) {
        const bool exists = !kPartly || lane % 4 + 4 * e < depth;
#pragma unroll
        for (int half = 0; half < 2; ++half) {
          values[e][half] = E(0.F);
          if (exists) {
            values[e][half] = *reinterpret_cast<const E*>(source + (16 * i + 8 * half) * plan.row +
                                                          4 * e * plan.column);
          }
        }
      }
      F::from_columns(fragments[i], values, 0);
    }
#pragma unroll
    for (int tile = 0; tile < kTiles; ++tile) {
      if (tile >= tiles) break;
      const B column = b[tile * 32];
#pragma unroll
      for (int i = 0; i < kFragments; ++i)
        F::multiply(sums[i][tile], fragments[i], column);
    }
  }
};

}  // namespace lanky::dense::cuda
