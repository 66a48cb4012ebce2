// Tiles of C that a block of gram_fma_kernel computes.
#pragma once

#include "dense/cuda/gram/ring.cuh"

namespace lanky::dense::cuda {

/// What a block computes: m x n of C by `groups` groups of warps that take the segments in turn. A
/// warp is lanes_m x lanes_n lanes of thread_m x thread_n sums; where that is less than 32, lanes
/// share out the k of a segment.
struct FmaTile {
  int m;
  int n;
  int thread_m;
  int thread_n;
  int lanes_m;
  int lanes_n;
  int groups;
  int segments;  // of a slot
  int slots;
  bool wide = false;  // on the tensor cores of double

  __host__ __device__ constexpr int warp_m() const noexcept { return thread_m * lanes_m; }
  __host__ __device__ constexpr int warp_n() const noexcept { return thread_n * lanes_n; }
  __host__ __device__ constexpr int lanes_k() const noexcept { return 32 / (lanes_m * lanes_n); }
  __host__ __device__ constexpr int warps_m() const noexcept { return m / warp_m(); }
  __host__ __device__ constexpr int group_warps() const noexcept {
    return warps_m() * (n / warp_n());
  }
  /// Threads that multiply; one more warp copies, wide in a warp group of its own.
  __host__ __device__ constexpr int workers() const noexcept { return groups * group_warps() * 32; }
  __host__ __device__ constexpr int threads() const noexcept {
    return workers() + (wide ? 128 : 32);
  }
  __host__ __device__ constexpr int sums() const noexcept { return thread_m * thread_n; }
  /// Row-major, rows are cut into panels of kSegmentBytes: a slot has whole ones.
  template <class E>
  __host__ __device__ constexpr int slot_bytes(bool row_major) const noexcept {
    constexpr int kPanel = kSegmentBytes / sizeof(E);
    return (m + (row_major && n < kPanel ? kPanel : n)) * segments * kSegmentBytes;
  }
};

/// Tiles by element type, in the order of choose_fma (dense/cuda/gram/policy.cpp). A ring must hold
/// twice what the groups work on: twelve warps, for which totals leave six slots, were slower than
/// eight (H200, f32 n = 64, k = 1e7: 2.09 instead of 1.92 ms).
template <class T>
struct FmaTiles {
  static constexpr FmaTile kTiles[] = {
      {32, 32, 8, 8, 4, 4, 8, 2, 8},       {128, 16, 8, 8, 8, 2, 4, 1, 8},
      {64, 64, 8, 8, 4, 8, 4, 1, 8},       {64, 64, 8, 4, 4, 8, 2, 1, 8, true},
      {32, 32, 8, 4, 4, 8, 8, 2, 8, true}, {128, 16, 8, 2, 4, 8, 2, 1, 8, true}};
};
template <>
struct FmaTiles<std::complex<float>> {
  static constexpr FmaTile kTiles[] = {
      {16, 16, 4, 4, 4, 4, 12, 4, 9},      {32, 32, 8, 4, 4, 8, 8, 2, 8},
      {128, 16, 8, 4, 4, 4, 2, 1, 8},      {64, 64, 8, 4, 4, 8, 2, 1, 8},
      {32, 32, 4, 2, 4, 8, 2, 2, 8, true}, {128, 16, 4, 2, 4, 8, 1, 1, 8, true},
      {64, 64, 4, 4, 4, 8, 1, 1, 8, true}, {16, 16, 4, 2, 4, 8, 8, 4, 8, true}};
};
template <>
struct FmaTiles<std::complex<double>> {
  static constexpr FmaTile kTiles[] = {{8, 8, 4, 4, 2, 2, 12, 8, 6},
                                       {16, 16, 4, 4, 4, 4, 12, 4, 6},
                                       {32, 32, 4, 2, 4, 8, 2, 2, 8, true},
                                       {64, 64, 4, 4, 4, 8, 1, 1, 8, true},
                                       {16, 16, 4, 2, 4, 8, 8, 4, 8, true}};
};
template <class T, int kIndex>
inline constexpr FmaTile kFmaTile = FmaTiles<T>::kTiles[kIndex];

/// Where a warp stands in its block, and what of C it has.
struct FmaWarp {
  int group;
  int i0;  // first row and column in the tile
  int j0;
  int rows;  // that exist from there on
  int columns;
  int ahead;  // of its first row to its first column, where what lies above the diagonal is left
              // out
};

}  // namespace lanky::dense::cuda
