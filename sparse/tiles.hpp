// Tiles: a second copy of op(A) on a GPU, which tensor cores multiply with several columns. Rows
// are taken in blocks of kBlockRows. Where one of them has an entry, the block has a column vector,
// whose row of X is gathered once for all of them: the 8 x 1 vectors of FlashSparse (PPoPP 2025),
// with its swap of the operands of m16n8k16, so that the 8 rows are the narrow side. Columns of a
// block stand as in DTC-SpMM (ASPLOS 2024), one after the other without gaps.
#pragma once

#include <cstdint>
#include <lanky/buffer.hpp>
#include <lanky/dtype.hpp>

#include "core/host_device.hpp"
#include "sparse/buffer_bytes.hpp"

namespace lanky::sparse {

inline constexpr int kBlockRows = 8;
/// Column vectors of a step, in ascending order of columns where rows are sorted. Lane g * 4 + t of
/// a warp has row g of the block and four of the vectors, [t][0 .. 3].
inline constexpr int kStepVectors = 16;
inline constexpr int kLaneVectors = 4;

/// Whether tensor cores have an IEEE product of a type, and there are tiles of it. Floats are
/// multiplied and summed as doubles, which rounds once, to Y.
constexpr bool has_tiles(DType dtype) {
  return dtype == DType::f64 || dtype == DType::f32 || is_half(dtype);
}
template <class T>
inline constexpr bool kHasTiles = has_tiles(kDType<T>);

/// Values that stand together: those of a lane. Of doubles and floats each is by itself, and there
/// are no others; of halves, the four of a lane that has an entry, with zeros for those that are
/// none.
constexpr int unit_values(std::size_t element_bytes) {
  return element_bytes == 2 ? kLaneVectors : 1;
}

/// Place [t][j] of vector i of a step, as t * kLaneVectors + j. Of doubles and floats, four that
/// follow each other are those of one m8n8k4, [0 .. 3][j]; of halves, a lane's unit.
LANKY_HOST_DEVICE constexpr int place_of_vector(int vector, bool by_units) {
  return by_units ? vector : vector % 4 * kLaneVectors + vector / 4;
}

/// Blocks with an entry, and their steps, by the number of steps of a block: [i] counts the blocks
/// of 2^(i-1) + 1 to 2^i steps.
inline constexpr int kStepClasses = 32;
struct StepCounts {
  std::uint32_t blocks[kStepClasses] = {};
  unsigned long long steps[kStepClasses] = {};
};

/// What is counted before tiles are made.
struct TileFacts {
  std::int64_t steps = 0;
  std::int64_t units = 0;
  std::int64_t vectors = 0;
  std::int64_t sectors = 0;     // of a column of X, in which a block's vectors are: of 32 bytes
  std::int64_t steps_most = 0;  // of a block
  StepCounts by_steps = {};
};

/// A warp multiplies a block with a strip of columns, which is of one of these widths; the first
/// takes columns anywhere.
inline constexpr int kTileStrips = 4;
/// What that takes, as the plan predicts it, in microseconds.
struct StripTimes {
  double work = 0;     // of a strip, where warps of many strips fill the device
  double at_once = 0;  // strips whose warps the device holds
  double shared = 0;   // of the longest block that warps share
  double alone = 0;    // of the longest of the others
};

/// TileHeader::share_above where no block is shared.
inline constexpr std::uint32_t kNeverShared = ~std::uint32_t{0};

struct TileHeader {
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  std::int64_t nnz = 0;
  std::int64_t blocks = 0;
  TileFacts facts;
  // Products of up to so many columns gather from X by columns as it stands; wider ones, and X by
  // rows, from rows.
  std::int64_t direct_columns = 0;
  // The warps of a thread block share a block of more steps than this, which is a power of two, 0
  // or kNeverShared, and there are `shared_blocks` of these. One warp has a block of fewer steps.
  std::uint32_t share_above = kNeverShared;
  std::int64_t shared_blocks = 0;
  StripTimes times[kTileStrips] = {};

  /// Share of the vectors' elements that are entries.
  double fill() const {
    return facts.vectors == 0
               ? 0
               : static_cast<double>(nnz) / (static_cast<double>(facts.vectors) * kBlockRows);
  }
};

/// Matrices of more entries have no tiles: steps and units, which are no more, have 31 bits.
inline constexpr std::int64_t kTiledEntriesMost = 0x7fffffff;

/// Columns of a product from which on it is by tiles: with fewer, tensor cores win little or lose.
constexpr std::int64_t tiled_columns_least(DType dtype) {
  return is_half(dtype) ? 9 : 5;
}

/// Where a block begins.
struct alignas(8) TileStart {
  std::uint32_t step;
  std::uint32_t unit;
};

/// The consecutive steps of one block that a warp multiplies, and the unit where they begin.
struct alignas(16) TilePart {
  std::uint32_t block;
  std::uint32_t step;
  std::uint32_t end;  // the step behind the last
  std::uint32_t unit;
};

/// Device memory. Products load a step ahead: there is one more, of zeros, than they multiply.
template <class T>
struct Tiles {
  TileHeader header;
  Buffer<TileStart> starts;       // [blocks + 1]
  Buffer<std::uint32_t> entries;  // [blocks] the first, of the CSR entries
  Buffer<std::int32_t> columns;   // [steps + 1][t][j], zero-based; behind the last: that one again
  Buffer<std::uint32_t> masks;    // [steps + 1][j]: bit 4 g + t where row g has an entry in [t][j]
  // [units][unit_values]: doubles and floats by steps, then j, then lanes; halves by steps, then
  // lanes
  Buffer<T> values;
  Buffer<TilePart> parts;  // [shared blocks, about longest first][warps of a thread block]

  std::int64_t bytes() const { return bytes_of(starts, entries, columns, masks, values, parts); }
};

}  // namespace lanky::sparse
