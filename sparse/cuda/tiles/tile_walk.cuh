// Steps of a block of tiles times a strip of columns on tensor cores, by a warp. What lane
// l = g * 4 + t has, of row g of the block, or of the strip's word g of a row of X:
//   f64, f32 (as doubles)
//         m8n8k4, for each j: a[8 rows, 4 vectors]: the entry of row g in vector [t][j]
//                             b[4 vectors, 8 words]: x of word g, in the row of X of [t][j]
//                             c[8 rows, 8 words]: row g, words 2t and 2t + 1
//   half  m16n8k16:           a[16 columns, 16 vectors]: x of word g, its two halves in rows g and
//                             g + 8, in the rows of X of [t][0 .. 3]
//                             b[16 vectors, 8 rows]: the entries of row g in [t][0 .. 3]
//                             c[16 columns, 8 rows]: word g, rows 2t and 2t + 1
// The products of a column are the same, in the same order, in every strip.
#pragma once

#include <cstdint>

#include "device/guarded_load.cuh"
#include "device/memory.cuh"
#include "device/mma.cuh"
#include "sparse/cuda/columns/columns_writer.cuh"
#include "sparse/cuda/multiply/cells.cuh"
#include "sparse/cuda/tiles/arguments.cuh"
#include "sparse/cuda/tiles/strip.hpp"
#include "sparse/cuda/warp.cuh"

namespace lanky::sparse::cuda {

/// Where a warp is in its part of a block: the columns and masks of a step, loaded one ahead.
class TileSteps {
 public:
  template <class E>
  __device__ TileSteps(const DeviceTiles<E>& a, const TilePart& part, int lane)
      : columns_(device::opaque(a.columns + lane % 4 * kLaneVectors)),
        masks_(device::opaque(a.masks)),
        step_(part.step),
        end_(part.end) {
    load();
  }

  __device__ bool any() const { return step_ < end_; }
  /// That of vector [t][j].
  __device__ std::uint32_t column(int j) const { return static_cast<std::uint32_t>(column_[j]); }
  __device__ std::uint32_t mask(int j) const { return mask_[j]; }
  __device__ void advance() {
    ++step_;
    load();
  }

 private:
  __device__ void load() {
    device::load_in_order(column_,
                          device::advanced(columns_, step_, kStepVectors * sizeof(column_[0])));
    device::load_in_order(mask_, device::advanced(masks_, step_, kLaneVectors * sizeof(mask_[0])));
  }

  const std::int32_t* columns_;
  const std::uint32_t* masks_;
  std::uint32_t step_;
  std::uint32_t end_;
  std::int32_t column_[kLaneVectors];
  std::uint32_t mask_[kLaneVectors];
};

/// A lane's words of X.
template <class E>
struct LaneColumns {
  const E* first;           // of row 0
  std::int64_t next;        // elements to the next column, where columns are apart
  std::uint32_t row_bytes;  // from row to row
};

/// A lane's sums of a block and a strip, of doubles or floats: kEach * kWords products of 8 x 8 of
/// doubles, one for each element of a lane's words.
template <class E, class Strip>
class TileSums {
 public:
  using Sum = double;
  static constexpr int kRows = 1;                // that a lane has
  static constexpr int kRuns = Strip::kWords;    // of adjacent columns
  static constexpr int kRun = 2 * Strip::kEach;  // columns of each
  static constexpr int kCount = kRows * kRuns * kRun;
  static constexpr int kTiles = Strip::kWords > 1 ? 2 : 4;  // in flight

  __device__ static int row(int lane, int /*i*/) { return lane / 4; }
  __device__ static int column(int lane, int run) {
    return (run * kBlockRows + lane % 4 * 2) * Strip::kEach;
  }
  /// Element e of a run.
  __device__ double& at(int /*row*/, int run, int e) {
    return sums_[run][e % Strip::kEach][e / Strip::kEach];
  }
  /// Each of them, in any order.
  __device__ double& operator[](int k) {
    return sums_[k / (2 * Strip::kEach)][k / 2 % Strip::kEach][k % 2];
  }

  /// `values`: those of the steps.
  __device__ void add_steps(TileSteps& steps, const E* values, const LaneColumns<E>& x, int lane) {
    const std::uint32_t own = 1U << lane;
    const std::uint32_t before = own - 1;
    while (steps.any()) {
#pragma unroll
      for (int first = 0; first < kLaneVectors; first += kTiles) {
        E factor[kTiles][Strip::kWords][Strip::kEach];
        E value[kTiles];
#pragma unroll
        for (int j = 0; j < kTiles; ++j) {
          const E* const row = device::advanced(x.first, steps.column(first + j), x.row_bytes);
#pragma unroll
          for (int w = 0; w < Strip::kWords; ++w)
            device::load_in_order(factor[j][w], row + w * kBlockRows * Strip::kEach);
        }
#pragma unroll
        for (int j = 0; j < kTiles; ++j) {
          const std::uint32_t mask = steps.mask(first + j);
          device::load_if<device::Stay::normally>(
              value[j], device::advanced(values, __popc(mask & before), sizeof(E)),
              (mask & own) != 0);
          values = device::opaque(device::advanced(values, __popc(mask), sizeof(E)));
        }
        if (first + kTiles == kLaneVectors) steps.advance();
        __syncwarp();  // ptxas keeps the loads above it ahead of the products
#pragma unroll
        for (int j = 0; j < kTiles; ++j) {
#pragma unroll
          for (int w = 0; w < Strip::kWords; ++w) {
#pragma unroll
            for (int e = 0; e < Strip::kEach; ++e)
              device::mma_m8n8k4(sums_[w][e], Sum{value[j]}, Sum{factor[j][w][e]});
          }
        }
      }
    }
  }

 private:
  double sums_[Strip::kWords][Strip::kEach][2] = {};
};

/// Of halves: kEach / 2 products of 16 x 8, one for each pair of a lane's word.
template <class E, class Strip>
requires(sizeof(E) == 2) class TileSums<E, Strip> {
 public:
  static_assert(Strip::kWords == 1);
  using Sum = float;
  static constexpr int kRows = 2;
  static constexpr int kRuns = 1;
  static constexpr int kRun = Strip::kEach;
  static constexpr int kCount = kRows * kRuns * kRun;

  __device__ static int row(int lane, int i) { return lane % 4 * 2 + i; }
  __device__ static int column(int lane, int /*run*/) { return lane / 4 * Strip::kEach; }
  __device__ float& at(int row, int /*run*/, int e) { return sums_[e / 2][e % 2 * 2 + row]; }
  __device__ float& operator[](int k) { return sums_[k / 4][k % 4]; }

  /// `values`: those of the steps.
  __device__ void add_steps(TileSteps& steps, const E* values, const LaneColumns<E>& x, int lane) {
    const std::uint32_t own = 1U << lane;
    const std::uint32_t before = own - 1;
    while (steps.any()) {
      std::uint32_t factor[kLaneVectors][kPairs];
      E value[kLaneVectors];
#pragma unroll
      for (int j = 0; j < kLaneVectors; ++j)
        load_pairs(factor[j], device::advanced(x.first, steps.column(j), x.row_bytes), x.next);
      const std::uint32_t mask = steps.mask(0) | steps.mask(1) | steps.mask(2) | steps.mask(3);
      device::load_if<device::Stay::normally>(
          value, device::advanced(values, __popc(mask & before), sizeof(value)), (mask & own) != 0);
      values = device::opaque(device::advanced(values, __popc(mask), sizeof(value)));
      steps.advance();
      __syncwarp();  // ptxas keeps the loads above it ahead of the products
      const std::uint32_t low = device::pair_bits(value[0], value[1]);
      const std::uint32_t high = device::pair_bits(value[2], value[3]);
#pragma unroll
      for (int p = 0; p < kPairs; ++p) {
        device::mma_m16n8k16<E>(sums_[p], first_halves(factor[0][p], factor[1][p]),
                                second_halves(factor[0][p], factor[1][p]),
                                first_halves(factor[2][p], factor[3][p]),
                                second_halves(factor[2][p], factor[3][p]), low, high);
      }
    }
  }

 private:
  static constexpr int kPairs = Strip::kEach / 2;

  __device__ static void load_pairs(std::uint32_t (&pairs)[kPairs], const E* row,
                                    std::int64_t next) {
    if constexpr (Strip::kAdjacent) {
      device::load_in_order(pairs, reinterpret_cast<const std::uint32_t*>(row));
    } else {
      std::uint32_t first;
      std::uint32_t second;
      device::load_widened_in_order(first, row);
      device::load_widened_in_order(second, row + next);
      pairs[0] = first_halves(first, second);
    }
  }
  __device__ static std::uint32_t first_halves(std::uint32_t a, std::uint32_t b) {
    return __byte_perm(a, b, 0x5410);
  }
  __device__ static std::uint32_t second_halves(std::uint32_t a, std::uint32_t b) {
    return __byte_perm(a, b, 0x7632);
  }

  float sums_[kPairs][4] = {};
};

}  // namespace lanky::sparse::cuda
