// The L2 fetches what a block reads first while the block waits for the kernel ahead: that shows
// the kernel nothing of memory, so that it need not wait for it.
#pragma once

#include "dense/cuda/gram/arguments.cuh"
#include "device/memory.cuh"

namespace lanky::dense::cuda {

/// Lines of `bytes` bytes each, `pitch` bytes apart.
struct PrefetchedLines {
  const void* data;
  std::int64_t pitch;
  std::int64_t bytes;
  int count;
};

/// Of each line's pieces of `bytes` bytes every gridDim.x-th, kPieces of them. Warp: a piece at a
/// time; lane: a cache line.
template <int kPieces>
__device__ void prefetch_pieces(const PrefetchedLines& lines, int bytes) {
  constexpr int kCacheLine = 128;
  const int warps = static_cast<int>(blockDim.x) / 32;
  const int lane = static_cast<int>(threadIdx.x) % 32;
#pragma unroll 1
  for (int q = static_cast<int>(threadIdx.x) / 32; q < lines.count * kPieces; q += warps) {
    const std::int64_t nth = std::int64_t{q % kPieces} * gridDim.x + blockIdx.x;
    const auto* const line =
        static_cast<const unsigned char*>(lines.data) + q / kPieces * lines.pitch;
#pragma unroll 1
    for (int within = lane * kCacheLine; within < bytes; within += 32 * kCacheLine)
      if (nth * bytes + within < lines.bytes) device::prefetch(line + nth * bytes + within);
  }
}

/// Columns with k adjacent.
template <int kPieces, class T>
__device__ void prefetch_columns(const GramArguments<T>& g, int bytes) {
  constexpr std::int64_t kBytes = sizeof(T);
  prefetch_pieces<kPieces>({g.a, g.a_strides.row * kBytes, g.k * kBytes, g.m}, bytes);
  if (!g.symmetric)
    prefetch_pieces<kPieces>({g.b, g.b_strides.col * kBytes, g.k * kBytes, g.n}, bytes);
}

/// Rows; a piece is `rows` of them.
template <int kPieces, class T>
__device__ void prefetch_rows(const GramArguments<T>& g, int rows) {
  constexpr std::int64_t kBytes = sizeof(T);
  const std::int64_t a_row = g.a_strides.col * kBytes;
  const std::int64_t b_row = g.b_strides.row * kBytes;
  prefetch_pieces<kPieces>({g.a, 0, (g.k - 1) * a_row + g.m * kBytes, 1},
                           static_cast<int>(rows * a_row));
  if (!g.symmetric)
    prefetch_pieces<kPieces>({g.b, 0, (g.k - 1) * b_row + g.n * kBytes, 1},
                             static_cast<int>(rows * b_row));
}

}  // namespace lanky::dense::cuda
