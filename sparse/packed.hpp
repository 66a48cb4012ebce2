// The packed matrix: a header and four arrays, made of tiles for MMA-shaped products.
// Method: DASP (Lu and Liu, SC '23). The contract: docs/packed_format.md; its test: check_packed().
#pragma once

#include <cstdint>
#include <lanky/buffer.hpp>
#include <span>
#include <vector>

#include "sparse/policy.hpp"

namespace lanky::sparse {

// A tile is 8 tile rows of D slots (D = 4 for 4- and 8-byte elements, 8 for 2-byte ones), stored in
// the order of the lanes of a warp: slot (i, k) of tile t stands at (t * 8 + i) * D + k, and
// belongs to lane i * 4 + k / (D / 4).
//
//            k = 0     1     2     3            A slot is a value of A and its column. Lane l loads
//   i = 0   lane 0  lane 1 lane 2 lane 3        both, gathers x[column], and holds an element of an
//   i = 1   lane 4  lane 5 lane 6 lane 7        8 x D fragment a[i][k] and of a D x 8 fragment
//    ...                                        b[k][i]. The diagonal of c = a b is the product:
//   i = 7   lane 28 ...           lane 31       c[i][i] = sum over k of a[i][k] * x[column[i][k]].
//
// Off-diagonals of c mix rows and are thrown away, so a NaN stays in its row. Padding is a slot of
// column -1 and value 0: x is not loaded but taken as 0, so padding adds 0 * 0.
//
// Tiles stand in the order long, medium, short:
//   long    row cut into pieces of kPieceTiles tiles (its last: fewer); all 8 tile rows of a tile
//           belong to the row, slots in storage order. Rows of several pieces ("split") come first.
//   medium  blocks of 8 rows, tile row i = row i of the block; tiles as its longest row needs
//   short   groups L = 1..4; each 4 adjacent slots (a quad) are cut every L slots, a row a segment:
//           L = 4: 4 (or 3), L = 3: 3 + 1, L = 2: 2 + 2, L = 1: 1 + 1 + 1 + 1
//
// Several vectors (later): values and columns are read once, a slot gathers a row of X, and the
// fragment a serves every vector. Tile rows share no columns, hence one diagonal product a vector;
// a layout whose tile rows share columns, which fills b, would be a further class of this contract.

/// Short rows of one group: quads cut every L slots.
struct ShortGroup {
  std::int64_t first_tile;
  std::int64_t tiles;
  std::int64_t first_row;  // in short_rows, which holds short_rows_per_tile<E>(L) numbers a tile
};

/// Rows that share a quad of slots cut every `length` slots: 4, 2, 2, 1 for length 1, 2, 3, 4.
constexpr int quad_rows(int length) {
  return (kQuad + length - 1) / length;
}
/// Row numbers that a tile of group `length` holds.
template <class E>
constexpr int short_rows_per_tile(int length) {
  return kTileRows * kLaneSlots<E> * quad_rows(length);
}

/// Counts of a packed matrix. All of them 64 bits wide: slots = tiles * kTileSlots passes 2^31.
struct PackedHeader {
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  std::int64_t nnz = 0;
  std::int64_t tiles = 0;
  std::int64_t pieces = 0;        // of all long rows; piece p is tiles piece_tiles[p .. p + 1)
  std::int64_t split_pieces = 0;  // the first of them, which belong to split rows
  std::int64_t split_rows = 0;    // long rows of several pieces
  std::int64_t long_rows = 0;
  std::int64_t long_entries = 0;
  std::int64_t medium_rows = 0;
  std::int64_t medium_entries = 0;
  std::int64_t blocks = 0;      // block b is tiles block_tiles[b .. b + 1)
  std::int64_t short_rows = 0;  // rows, without the places left free
  std::int64_t short_entries = 0;
  ShortGroup short_groups[kShortMost] = {};  // group L at [L - 1]
  std::int64_t empty_rows = 0;
};

/// True where the CPU should share the work on a packed matrix among threads.
template <class E>
bool worth_threads(const PackedHeader& header) {
  return header.tiles * kTileSlots<E> + header.rows >= kThreadsLeast;
}

/// The arrays of a packed matrix on either side, ready to be a kernel argument.
template <class E>
struct PackedView {
  PackedHeader header;
  const E* values;                   // [tiles, 8, D]
  const std::int32_t* columns;       // [tiles, 8, D], zero-based; -1: padding
  const std::int64_t* piece_tiles;   // [pieces + 1]
  const std::int64_t* split_starts;  // [split_rows + 1] first piece of each split row
  const std::int64_t* block_tiles;   // [blocks + 1]
  const std::int32_t* long_rows;     // [long_rows] split rows, then those of a single piece
  const std::int32_t* medium_rows;   // [blocks, 8]; -1: no row
  const std::int32_t* short_rows;    // groups 1..4, each [tiles, 8, segments of a tile row]; -1
  const std::int32_t* empty_rows;    // [empty_rows]
};

/// Where each row goes: all of a packed matrix that depends on the row lengths alone.
struct Placement {
  PackedHeader header;
  std::vector<std::int64_t> tile_starts;  // piece_tiles, split_starts, block_tiles
  std::vector<std::int32_t> row_numbers;  // long_rows, medium_rows, short_rows, empty_rows
};

/// A CSR matrix in host memory with its row offsets made 64 bits wide and zero-based.
template <class T>
struct HostCsr {
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  std::vector<std::int64_t> row_offsets;  // [rows + 1]
  const std::int32_t* columns = nullptr;  // [nnz]
  const T* values = nullptr;              // [nnz]
  int index_base = 0;                     // of the columns

  std::int64_t nnz() const { return row_offsets.back(); }
};

/// The slots of a packed matrix.
template <class T>
struct PackedSlots {
  Buffer<T> values;              // [tiles, 8, D]
  Buffer<std::int32_t> columns;  // [tiles, 8, D]
};

/// Classifies rows by the lengths that `row_offsets` [rows + 1] tells, and gives each its place in
/// tiles of E's shape.
template <class E>
Placement place_rows(std::int64_t cols, std::span<const std::int64_t> row_offsets);

/// Fills slots in host memory (`cpu` is a stream of the CPU) with columns and values.
template <class T>
PackedSlots<T> pack_slots(const Stream& cpu, const HostCsr<T>& a, const Placement& placement,
                          Allocator* allocator = nullptr);

/// Fills `slot_values` [tiles, 8, D] from values in CSR order; the map of slots to entries follows
/// from the placement and the row offsets, and takes no memory.
template <class T>
void pack_values(const Placement& placement, std::span<const std::int64_t> row_offsets,
                 const T* values, T* slot_values);

/// The view of four arrays laid out as Placement and PackedSlots say.
template <class E>
PackedView<E> view_of(const PackedHeader& header, const E* values, const std::int32_t* columns,
                      const std::int64_t* tile_starts, const std::int32_t* row_numbers);

/// The view of a packed matrix in host memory.
template <class T>
PackedView<T> view_of(const Placement& placement, const PackedSlots<T>& slots) {
  return view_of(placement.header, slots.values.data(), slots.columns.data(),
                 placement.tile_starts.data(), placement.row_numbers.data());
}

/// Row numbers of short_rows, free places included.
template <class E>
std::int64_t short_places(const PackedHeader& header) {
  std::int64_t places = 0;
  for (int length = 1; length <= kShortMost; ++length) {
    places += header.short_groups[length - 1].tiles * short_rows_per_tile<E>(length);
  }
  return places;
}

template <class E>
PackedView<E> view_of(const PackedHeader& header, const E* values, const std::int32_t* columns,
                      const std::int64_t* tile_starts, const std::int32_t* row_numbers) {
  PackedView<E> view{};
  view.header = header;
  view.values = values;
  view.columns = columns;
  view.piece_tiles = tile_starts;
  view.split_starts = view.piece_tiles + header.pieces + 1;
  view.block_tiles = view.split_starts + header.split_rows + 1;
  view.long_rows = row_numbers;
  view.medium_rows = view.long_rows + header.long_rows;
  view.short_rows = view.medium_rows + header.blocks * kTileRows;
  view.empty_rows = view.short_rows + short_places<E>(header);
  return view;
}

}  // namespace lanky::sparse
