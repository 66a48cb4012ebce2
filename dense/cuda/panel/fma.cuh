// The product of a chunk of A with a group of columns of B on the CUDA cores, in the arithmetic of
// the element type itself: every lane 2 or 8 rows x kColumns sums of every eighth part of k.
#pragma once

#include "dense/cuda/panel/product.cuh"
#include "device/element.cuh"
#include "device/matrix_copy.cuh"

namespace lanky::dense::cuda {

/// What both layouts of A have in common: lane sums of kLaneRows rows x kColumns.
template <class E, int kLaneRows, int kColumnCount>
struct FmaSums : PanelProduct {
  static constexpr char kName[] = "fma";
  using Element = E;
  using Acc = E;
  static constexpr int kVector = 16 / sizeof(E);
  static constexpr int kColumns = kColumnCount;
  static constexpr int kColumnPitch = 1;
  static constexpr bool kAlwaysPacked = false;
  // With 4 columns their sums would take the place of a slot of the ring (H200, 20480 squared,
  // n = 8: .90 of the floor with five slots).
  static constexpr int kSlice = kColumns < 2 ? kColumns : 2;

  E sums[kLaneRows][kColumns];
  bool conjugated;

  /// From here on; conjugated: b^* in place of b.
  __device__ void clear(bool conjugate, int /*columns*/) {
    conjugated = conjugate;
#pragma unroll
    for (int i = 0; i < kLaneRows; ++i) {
#pragma unroll
      for (int j = 0; j < kColumns; ++j)
        sums[i][j] = E(0);
    }
  }

  /// sums += column[i] row[j]; `row` in shared memory, aligned to 16 bytes where it fills them.
  __device__ void add(const E (&column)[kLaneRows], const E* row) {
    E values[kColumns];
    if constexpr (kColumns * sizeof(E) % 16 == 0) {
#pragma unroll
      for (int j = 0; j < kColumns; j += kVector) {
        const uint4 word = *reinterpret_cast<const uint4*>(row + j);
        memcpy(values + j, &word, sizeof(word));
      }
    } else {
#pragma unroll
      for (int j = 0; j < kColumns; ++j)
        values[j] = row[j];
    }
#pragma unroll
    for (int j = 0; j < kColumns; ++j)
      values[j] = device::conjugate_if(conjugated, values[j]);
#pragma unroll
    for (int j = 0; j < kColumns; ++j) {
#pragma unroll
      for (int i = 0; i < kLaneRows; ++i)
        sums[i][j] = fma(column[i], values[j], sums[i][j]);
    }
  }
};

/// Column-major A. A chunk is four columns of 64 kVector rows; lane l has the rows of the 16 bytes
/// l of both halves of each column.
template <class E, int kColumnCount>
struct FmaColumns : FmaSums<E, 2 * (16 / sizeof(E)), kColumnCount> {
  using Base = FmaSums<E, 2 * (16 / sizeof(E)), kColumnCount>;
  using Base::kColumns;
  using Base::kVector;
  using Base::sums;
  static constexpr bool kAlongK = false;
  static constexpr int kBoxes = 1;
  static constexpr bool kSwizzled = false;
  static constexpr int kRows = 64 * kVector;
  static constexpr int kDepth = 4;
  static constexpr int kLineBytes = 1024;
  static constexpr int kBytesB = kDepth * (kColumns * sizeof(E) + 15) / 16 * 16;

  static __device__ int place_k(int p) { return p * kColumns; }
  static __device__ void pack(char* small, int p, int j, E value) {
    reinterpret_cast<E*>(small)[place_k(p) + j] = value;
  }

  __device__ void multiply(const char* a, const char* b, int lane) {
    const auto* const units = reinterpret_cast<const uint4*>(a) + lane;
#pragma unroll
    for (int p = 0; p < kDepth; ++p) {
      const uint4 words[2] = {units[p * 64], units[p * 64 + 32]};
      E column[2 * kVector];
      memcpy(column, words, sizeof(words));
      this->add(column, reinterpret_cast<const E*>(b) + p * kColumns);
    }
  }

  __device__ void store(int slice, E* target, int pitch, int lane) const {
#pragma unroll
    for (int j = 0; j < Base::kSlice; ++j) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        E values[kVector];
#pragma unroll
        for (int v = 0; v < kVector; ++v)
          values[v] = sums[half * kVector + v][slice + j];
        uint4 word;
        memcpy(&word, values, sizeof(word));
        reinterpret_cast<uint4*>(target + j * pitch)[half * 32 + lane] = word;
      }
    }
  }
};

/// A with adjacent k. A chunk is 32 rows (lines) of 8 kVector k, unit u (16 bytes) of line l at
/// u ^ (l % 8). Lane: rows r, r + 4, .., r + 28 and the k of unit kl; the eight lanes of a quarter
/// of a load read two units four apart, so that they hit all banks:
///
///   lane     0 1 2 3  4 5 6 7  8 9 10 11  12 13 14 15 ..
///   r        0 1 2 3  0 1 2 3  0 1 2  3   0  1  2  3
///   kl       0        4        1          5
template <class E, int kColumnCount>
struct FmaRows : FmaSums<E, 8, kColumnCount> {
  using Base = FmaSums<E, 8, kColumnCount>;
  using Base::kColumns;
  using Base::kVector;
  using Base::sums;
  static constexpr bool kAlongK = true;
  static constexpr int kBoxes = 1;
  static constexpr int kRows = 32;
  static constexpr int kDepth = 8 * kVector;
  static constexpr int kPad =
      kVector;  // after the k of a unit, so that eight units lie in all banks
  static constexpr int kBytesB = (kDepth * kColumns + 8 * kPad) * static_cast<int>(sizeof(E));

  static __device__ int place_k(int p) { return p * kColumns + p / kVector * kPad; }
  static __device__ void pack(char* small, int p, int j, E value) {
    reinterpret_cast<E*>(small)[place_k(p) + j] = value;
  }

  __device__ void multiply(const char* a, const char* b, int lane) {
    const int r = lane % 4;
    const int kl = lane / 8 + lane / 4 % 2 * 4;
    E rows[8][kVector];
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      const uint4 word = *reinterpret_cast<const uint4*>(a + device::place_of_unit(r + 4 * i, kl));
      memcpy(rows[i], &word, sizeof(word));
    }
    const E* const first = reinterpret_cast<const E*>(b) + place_k(kl * kVector);
#pragma unroll
    for (int p = 0; p < kVector; ++p) {
      E column[8];
#pragma unroll
      for (int i = 0; i < 8; ++i)
        column[i] = rows[i][p];
      this->add(column, first + p * kColumns);
    }
  }

  /// The eight lanes of equal r add up; each keeps one of their rows, that of its own number, in
  /// sums[0].
  __device__ void combine_lanes(int lane) {
    halve<4>(lane);
    halve<2>(lane);
    halve<1>(lane);
  }

  __device__ void store(int slice, E* target, int pitch, int lane) const {
#pragma unroll
    for (int j = 0; j < Base::kSlice; ++j)
      target[j * pitch + lane] = sums[0][slice + j];
  }

 private:
  /// Lanes that differ by 4 kHalf share out 2 kHalf rows.
  template <int kHalf>
  __device__ void halve(int lane) {
    const bool upper = (lane & 4 * kHalf) != 0;
#pragma unroll
    for (int i = 0; i < kHalf; ++i) {
#pragma unroll
      for (int j = 0; j < kColumns; ++j) {
        const E sent = upper ? sums[i][j] : sums[i + kHalf][j];
        const E kept = upper ? sums[i + kHalf][j] : sums[i][j];
        sums[i][j] = kept + device::shuffle_xor(sent, 4 * kHalf);
      }
    }
  }
};

}  // namespace lanky::dense::cuda
