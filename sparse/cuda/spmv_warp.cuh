// y = alpha A x + beta y: what one warp does. A launch gives each warp one unit of work; units are
// numbered through all row classes: pieces of long rows, blocks, short tiles, empty rows. So one
// launch serves every class, and warps of different classes share an SM.
#pragma once

#include <cstdint>

#include "device/element.cuh"
#include "device/launch.cuh"
#include "device/memory.cuh"
#include "sparse/backend.hpp"
#include "sparse/cuda/row_sum.cuh"

namespace lanky::sparse::cuda {

/// A Product as a kernel argument: E, EOut are the device's names of T, TOut.
template <class E, class EOut, class Sum>
struct DeviceProduct {
  const E* x;  // [cols]
  EOut* y;     // [rows]
  device::DeviceScalar<Sum> alpha;
  device::DeviceScalar<Sum> beta;
  Sum* partials;  // [split_pieces]
};

/// Units of short group `length`.
__host__ __device__ inline std::int64_t short_units(const PackedHeader& header, int length) {
  return device::ceil_div<std::int64_t>(header.short_groups[length - 1].tiles, kShortTilesPerUnit);
}

__host__ __device__ inline std::int64_t empty_units(const PackedHeader& header) {
  return device::ceil_div<std::int64_t>(header.empty_rows, kEmptyRowsPerUnit);
}

inline std::int64_t units(const PackedHeader& header) {
  std::int64_t total = header.pieces + header.blocks + empty_units(header);
  for (int length = 1; length <= kShortMost; ++length)
    total += short_units(header, length);
  return total;
}

/// Writes rows of y with alpha and beta, which are read once a warp.
template <class EOut, class Sum>
class RowWriter {
 public:
  template <class E>
  __device__ explicit RowWriter(const DeviceProduct<E, EOut, Sum>& product)
      : y_(product.y), alpha_(product.alpha.load()), beta_(product.beta.load()) {}

  /// y[row] = alpha sum + beta y[row]; with beta = 0, y is not read.
  __device__ void write(std::int32_t row, Sum sum) const {
    const Sum scaled = alpha_ * sum;
    y_[row] = device::narrow<EOut>(
        beta_ == Sum{} ? scaled : fma(beta_, static_cast<Sum>(device::widen(y_[row])), scaled));
  }

 private:
  EOut* y_;
  Sum alpha_;
  Sum beta_;
};

/// Loads a lane's slots of kCount tiles from `first` on and gathers their x; tiles from `end` on
/// and padding give 0 * 0. All loads of the batch are in flight before the first is used.
template <int kCount, class E>
__device__ void load_tiles(LaneSlots<E> (&tiles)[kCount], const PackedView<E>& a, const E* x,
                           std::int64_t first, std::int64_t end, int lane) {
  std::int32_t columns[kCount][kLaneSlots<E>];
#pragma unroll
  for (int t = 0; t < kCount; ++t) {
#pragma unroll
    for (int s = 0; s < kLaneSlots<E>; ++s) {
      columns[t][s] = -1;
      tiles[t].a[s] = E(0.0F);
    }
    if (first + t < end) {
      const std::int64_t slot = (first + t) * kTileSlots<E> + lane * kLaneSlots<E>;
      device::load_streaming(columns[t], a.columns + slot);
      device::load_streaming(tiles[t].a, a.values + slot);
    }
  }
#pragma unroll
  for (int t = 0; t < kCount; ++t) {
#pragma unroll
    for (int s = 0; s < kLaneSlots<E>; ++s) {
      tiles[t].x[s] = columns[t][s] < 0 ? E(0.0F) : __ldg(x + columns[t][s]);
    }
  }
}

/// The sum of tile row lane / 4 over tiles first .. end, kBatch of them in flight.
template <template <class> class TileSum, class E>
__device__ typename TileSum<E>::Sum sum_tiles(const PackedView<E>& a, const E* x,
                                              std::int64_t first, std::int64_t end, int lane) {
  constexpr int kBatch = 4;
  TileSum<E> sum;
  for (std::int64_t tile = first; tile < end; tile += kBatch) {
    LaneSlots<E> tiles[kBatch];
    load_tiles(tiles, a, x, tile, end, lane);
    sum.add(tiles);
  }
  return sum.row_sum(lane);
}

/// A piece of a long row: the eight tile rows add up to one sum, which is a partial sum of a split
/// row, or the row itself.
template <template <class> class TileSum, class E, class EOut, class Sum>
__device__ void run_piece(const PackedView<E>& a, const DeviceProduct<E, EOut, Sum>& product,
                          std::int64_t piece, int lane) {
  Sum sum = sum_tiles<TileSum>(a, product.x, a.piece_tiles[piece], a.piece_tiles[piece + 1], lane);
#pragma unroll
  for (int mask = 4; mask < 32; mask *= 2)
    sum += __shfl_xor_sync(kWholeWarp, sum, mask);
  if (lane != 0) return;
  const PackedHeader& header = a.header;
  if (piece < header.split_pieces) {
    product.partials[piece] = sum;
  } else {
    const std::int64_t long_row = header.split_rows + piece - header.split_pieces;
    RowWriter<EOut, Sum>(product).write(a.long_rows[long_row], sum);
  }
}

/// A block of 8 medium rows: tile row i is row i of the block.
template <template <class> class TileSum, class E, class EOut, class Sum>
__device__ void run_block(const PackedView<E>& a, const DeviceProduct<E, EOut, Sum>& product,
                          std::int64_t block, int lane) {
  const RowWriter<EOut, Sum> writer(product);
  const std::int32_t row = a.medium_rows[block * kTileRows + lane / kQuad];
  const Sum sum =
      sum_tiles<TileSum>(a, product.x, a.block_tiles[block], a.block_tiles[block + 1], lane);
  if (lane % kQuad == 0 && row >= 0) writer.write(row, sum);
}

/// Segments of a quad, as a constant for device code.
template <int kLength>
inline constexpr int kQuadRows = quad_rows(kLength);

/// Slots of a lane in segment `segment` of its tile row, zeros elsewhere, in a and x alike: what
/// stands in other segments, a NaN say, cannot reach the sum.
template <int kLength, class E>
__device__ LaneSlots<E> masked(const LaneSlots<E>& slots, int segment, int lane) {
  LaneSlots<E> kept;
#pragma unroll
  for (int s = 0; s < kLaneSlots<E>; ++s) {
    const int k = lane % kQuad * kLaneSlots<E> + s;  // slot of the tile row
    const bool inside = k / kQuad * kQuadRows<kLength> + k % kQuad / kLength == segment;
    kept.a[s] = inside ? slots.a[s] : E(0.0F);
    kept.x[s] = inside ? slots.x[s] : E(0.0F);
  }
  return kept;
}

/// Up to kShortTilesPerUnit tiles of the group cut every kLength slots. Each segment takes one
/// masked sum of its tile; four segments later, the four lanes of a tile row write one row each.
template <template <class> class TileSum, int kLength, class E, class EOut, class Sum>
__device__ void run_short(const PackedView<E>& a, const DeviceProduct<E, EOut, Sum>& product,
                          std::int64_t unit, int lane) {
  constexpr int kSegments = kLaneSlots<E> * kQuadRows<kLength>;  // of a tile row
  const RowWriter<EOut, Sum> writer(product);
  const ShortGroup& group = a.header.short_groups[kLength - 1];
  const std::int64_t first = unit * kShortTilesPerUnit;
  LaneSlots<E> tiles[kShortTilesPerUnit];
  load_tiles(tiles, a, product.x, group.first_tile + first, group.first_tile + group.tiles, lane);
#pragma unroll
  for (int t = 0; t < kShortTilesPerUnit; ++t) {
    if (first + t >= group.tiles) return;
    // [8, kSegments] row numbers of the tile; those of the lane's tile row.
    const std::int32_t* const rows =
        a.short_rows + group.first_row + ((first + t) * kTileRows + lane / kQuad) * kSegments;
    Sum kept = 0;
#pragma unroll
    for (int segment = 0; segment < kSegments; ++segment) {
      const LaneSlots<E> slots[1] = {masked<kLength>(tiles[t], segment, lane)};
      TileSum<E> sum;
      sum.add(slots);
      const Sum row_sum = sum.row_sum(lane);
      if (segment % kQuad == lane % kQuad) kept = row_sum;
      if (segment % kQuad == kQuad - 1 || segment == kSegments - 1) {
        const int mine = segment / kQuad * kQuad + lane % kQuad;
        if (mine <= segment && rows[mine] >= 0) writer.write(rows[mine], kept);
        __syncwarp();  // the next product needs the lanes together that the write let diverge
      }
    }
  }
}

/// kEmptyRowsPerUnit rows without entries: y = beta y, or 0.
template <class E, class EOut, class Sum>
__device__ void run_empty(const PackedView<E>& a, const DeviceProduct<E, EOut, Sum>& product,
                          std::int64_t unit, int lane) {
  const RowWriter<EOut, Sum> writer(product);
  const std::int64_t first = unit * kEmptyRowsPerUnit;
  const std::int64_t end = min(first + kEmptyRowsPerUnit, a.header.empty_rows);
  for (std::int64_t i = first + lane; i < end; i += 32)
    writer.write(a.empty_rows[i], Sum{});
}

/// Unit `unit` of all; the same for every lane of the warp.
template <template <class> class TileSum, class E, class EOut, class Sum>
__device__ void run_unit(const PackedView<E>& a, const DeviceProduct<E, EOut, Sum>& product,
                         std::int64_t unit, int lane) {
  const PackedHeader& header = a.header;
  if (unit < header.pieces) return run_piece<TileSum>(a, product, unit, lane);
  unit -= header.pieces;
  if (unit < header.blocks) return run_block<TileSum>(a, product, unit, lane);
  unit -= header.blocks;
  if (unit < short_units(header, 1)) return run_short<TileSum, 1>(a, product, unit, lane);
  unit -= short_units(header, 1);
  if (unit < short_units(header, 2)) return run_short<TileSum, 2>(a, product, unit, lane);
  unit -= short_units(header, 2);
  if (unit < short_units(header, 3)) return run_short<TileSum, 3>(a, product, unit, lane);
  unit -= short_units(header, 3);
  if (unit < short_units(header, 4)) return run_short<TileSum, 4>(a, product, unit, lane);
  unit -= short_units(header, 4);
  if (unit < empty_units(header)) run_empty(a, product, unit, lane);
}

}  // namespace lanky::sparse::cuda
