// C[m, n] = alpha A[m, k] B[k, n] + beta C on CUDA cores, A and C row-major without gaps, long m, k
// = n small: rows shorter than 16 bytes or of odd length, read and written as one flat stream.
#pragma once

#include "dense/cuda/update/arguments.cuh"

namespace lanky::dense::cuda {

/// words[v] of lane l stands at flat place v * 32 + l of the warp's part; turns it into place l *
/// kWords + v, the words of a thread's own rows. Or the way back. All lanes take part.
template <bool kToOwnRows, int kWords>
__device__ void turn(uint4* tile, uint4 (&words)[kWords]) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const auto flat = [&](int v) { return v * 32 + lane; };
  const auto own = [&](int v) { return lane * kWords + v; };
  __syncwarp();  // earlier reads of the tile are done
#pragma unroll
  for (int v = 0; v < kWords; ++v)
    tile[kToOwnRows ? flat(v) : own(v)] = words[v];
  __syncwarp();  // the words of all lanes are written before they are read
#pragma unroll
  for (int v = 0; v < kWords; ++v)
    words[v] = tile[kToOwnRows ? own(v) : flat(v)];
}

/// A thread's sums of kRows rows of A, [row][p], and B in shared memory.
template <int kSide, int kRows, class Element, class Acc, int kPitch>
__device__ void multiply_packed(Acc (&sums)[kRows][kPitch], const Element (&values)[kRows * kSide],
                                const Acc* b_rows) {
#pragma unroll
  for (int p = 0; p < kSide; ++p) {
    Acc column[kPitch];
    device::load_words(column, b_rows + p * kPitch);
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      const Acc value = device::widen(values[r * kSide + p]);
#pragma unroll
      for (int j = 0; j < kSide; ++j)
        sums[r][j] = fma(value, column[j], sums[r][j]);
    }
  }
}

/// C = alpha sums + beta C for a thread's words of C, from the first on 32 apart, before `end`.
template <class Result, int kRows, int kSide, int kWords, class Acc, int kPitch>
__device__ void leave_packed(uint4* c, std::int64_t first, std::int64_t end, uint4* tile,
                             const Factors<Acc>& factors, const Acc (&sums)[kRows][kPitch]) {
  uint4 words[kWords];
  Result out[kRows * kSide];
  if (factors.adds()) {
#pragma unroll
    for (int v = 0; v < kWords; ++v)
      if (first + v * 32 < end) words[v] = c[first + v * 32];
    turn<true>(tile, words);
    memcpy(out, words, sizeof(out));
#pragma unroll
    for (int x = 0; x < kRows * kSide; ++x)
      out[x] = factors.of(sums[x / kSide][x % kSide], out[x], true);
  } else {
#pragma unroll
    for (int x = 0; x < kRows * kSide; ++x)
      out[x] = factors.of(sums[x / kSide][x % kSide], Result{}, false);
  }
  memcpy(words, out, sizeof(out));
  turn<false>(tile, words);
#pragma unroll
  for (int v = 0; v < kWords; ++v)
    if (first + v * 32 < end) __stcs(c + first + v * 32, words[v]);
}

/// k = n = kSide. A thread computes R adjacent rows, R elements of A being 16 bytes; m is a
/// multiple of R. Warp: 32 R rows. Shared memory: B, and a tile of each warp.
template <int kVariant, class T, class TOut>
__global__ void __launch_bounds__(128) update_packed_kernel(UpdateArguments<T, TOut> g) {
  using Acc = device::DeviceAccumulator<T>;
  using Element = device::DeviceElement<T>;
  using Result = device::DeviceElement<TOut>;
  constexpr int kSide = kUpdatePacked[kVariant].side;
  constexpr int kRows = kWide<Element>;
  constexpr int kWordsA = kSide;
  constexpr int kWordsC = kSide * static_cast<int>(sizeof(Result) / sizeof(Element));
  constexpr int kPitch = (kSide * static_cast<int>(sizeof(Acc)) + 15) / 16 * kWide<Acc>;
  __shared__ __align__(16) Acc b_rows[kSide * kPitch];
  __shared__ uint4 tiles[4][32 * kWordsC];
  uint4* const tile = tiles[threadIdx.x / 32];
  device::let_next_kernel_start();
  device::wait_for_kernel_ahead();
  const Factors<Acc> factors(g);
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const std::int64_t warp =
      static_cast<std::int64_t>(blockIdx.x) * (blockDim.x / 32) + threadIdx.x / 32;
  const std::int64_t threads = g.m / kRows;  // that have rows
  const std::int64_t first_a = warp * (32 * kWordsA) + lane;
  const std::int64_t first_c = warp * (32 * kWordsC) + lane;
  const auto* const a = reinterpret_cast<const uint4*>(g.a);
  auto* const c = reinterpret_cast<uint4*>(g.c);

  uint4 words[kWordsA];
#pragma unroll
  for (int v = 0; v < kWordsA; ++v) {
    if (factors.k > 0 && first_a + v * 32 < threads * kWordsA) {
      words[v] = __ldg(a + first_a + v * 32);
    } else {
      words[v] = make_uint4(0, 0, 0, 0);
    }
  }
  stage<1>(
      kSide * kPitch,
      [&](int slot) {
        const int p = slot / kPitch;
        const int j = slot % kPitch;
        return j < kSide && factors.k > 0
                   ? device::widen(g.b[p * g.b_strides.row + j * g.b_strides.col])
                   : Acc(0);
      },
      [&](int slot, Acc value) { b_rows[slot] = value; });
  turn<true>(tile, words);
  Element values[kRows * kSide];
  memcpy(values, words, sizeof(values));
  __syncthreads();  // B is written before it is read
  Acc sums[kRows][kPitch] = {};
  multiply_packed<kSide>(sums, values, b_rows);
  leave_packed<Result, kRows, kSide, kWordsC>(c, first_c, threads * kWordsC, tile, factors, sums);
}

}  // namespace lanky::dense::cuda
