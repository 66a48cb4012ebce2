// The packed matrix: windows of rows, cut into slices of pieces side by side, columns compressed.
// The contract: docs/packed_format.md; its test: check_packed().
#pragma once

#include <cstddef>
#include <cstdint>
#include <lanky/buffer.hpp>

#include "sparse/buffer_bytes.hpp"

namespace lanky::sparse {

inline constexpr int kLanes = 32;

/// Pieces of a slice that one lane has, at most: their values in a step fill a word of 16 bytes (of
/// 8 for 2-byte elements: 16 lost to it on an H200, 68 against 50 us for a 27-point stencil).
constexpr int lane_pieces_most(std::size_t element_bytes) {
  return element_bytes <= 4 ? 4 : static_cast<int>(16 / element_bytes);
}
template <class E>
inline constexpr int kLanePiecesMost = lane_pieces_most(sizeof(E));

/// What a plan chooses for a whole matrix.
struct Shape {
  std::int32_t lane_pieces = 1;     // of wide slices: kLanePiecesMost, or 1 for none
  std::int32_t wide_fill = 100;     // percent of a wide slice's slots that are entries, 25 .. 100
  std::int32_t piece_most = 255;    // entries of a piece, 4 .. 255
  std::int32_t row_cost = 4;        // of a row, in entries, where windows are cut
  std::int32_t granule = 1;         // rows a window begins at are multiples of it
  std::int32_t window_cost = 8192;  // a multiple of piece_most, at most kWindowCostMost
  std::int32_t stage_most = 0;      // columns of x that a window may stage in shared memory
  std::int32_t bands = 0;           // up to 65536 that windows are ordered by if rows are split
  // Sampled entries of a hot column; 0: none is. Needs stage_most 0 and wide_fill 100.
  std::int32_t hot_least = 0;
  std::int32_t warps = 4;  // of a block of a GPU where slices are wide and no columns are staged
  friend bool operator==(const Shape&, const Shape&) = default;
};

constexpr bool has_wide_slices(const Shape& shape) {
  return shape.lane_pieces > 1;
}

inline constexpr int kPieceMostLimit = 255;
inline constexpr int kWindowCostMost = 65536;
inline constexpr int kCellsLimit = 12288;  // of a window; their sums stand in shared memory

// Sampled entries are those whose number in the CSR arrays is a multiple of this.
inline constexpr int kColumnSample = 8;
/// Marks the index of a hot column in a slice of absolute ones: its place among hot_columns[].
inline constexpr std::uint32_t kHotBit = std::uint32_t{1} << 31;

// Windows that a block of a GPU multiplies at once, at most, sharing x of the hot columns.
inline constexpr int kHotTeams = 8;

/// How the columns of a slice are stored.
enum class IndexKind : std::uint8_t { shared, staged, offset8, offset16, absolute, diagonal };
inline constexpr int kIndexKinds = 6;

/// What a warp multiplies: pieces side by side, at most kLanes or, of a wide slice, more than that
/// and at most kLanes * lane_pieces.
struct Slice {
  std::uint16_t first_slot;   // from the window's, in units of kSlotUnit slots
  std::uint16_t first_index;  // from the window's, in units of kIndexUnit bytes
  std::uint16_t first_base;   // from the window's, in units of kBaseUnit bases
  std::uint16_t first_piece;  // of the window's
  std::uint16_t first_cell;   // of piece 0, where cells follow each other; else 0
  std::uint8_t depth;         // longest piece
  std::uint8_t shortest;      // shortest piece
  std::uint8_t width;         // pieces
  IndexKind kind;
  std::uint8_t listed;  // 1: cells[] tells the cell of each piece
  std::uint8_t unused;  // 0, which products count on
};
static_assert(sizeof(Slice) == 16);

inline constexpr int kSlotUnit = 4;          // slots; 65536 units hold 4 kWindowCostMost of them
inline constexpr int kWindowSlotAlign = 16;  // slots
inline constexpr int kIndexUnit = 16;        // bytes
inline constexpr int kBaseUnit = 4;          // bases
inline constexpr int kPieceUnit = 4;         // of a window's lengths and cells

/// What a thread block multiplies.
struct alignas(16) Window {
  std::int64_t first_entry;  // of the CSR entries
  std::int64_t first_slot;
  std::int64_t first_index;     // in units of kIndexUnit bytes
  std::int64_t first_base;      // a multiple of kBaseUnit
  std::int64_t first_piece;     // in lengths[] and cells[]; -1: the window needs neither
  std::int64_t first_row_cell;  // in row_cells[]; -1: no row is cut, or all is of one split row
  std::int32_t first_row;
  std::uint16_t rows;
  std::uint16_t pieces;
  std::int32_t partial;       // of a split row's window: its number among the partial sums; else -1
  std::int32_t split;         // of a split row's window: the row's among split_rows[]; else -1
  std::int32_t first_column;  // of those that are staged; 0 where none are
  std::int32_t columns;       // staged ones
  std::uint16_t slices;
  std::uint8_t direct;  // 1: no row is cut or empty, and pieces in slice order are in_runs()
  std::uint8_t gaps;    // 1: no row is cut, some are empty
  std::uint8_t unused[4];
};
static_assert(sizeof(Window) == 80);

/// Rows or, where some are cut, pieces.
constexpr std::int32_t cells_of(const Window& window) {
  return window.first_row_cell >= 0 || window.partial >= 0 ? window.pieces : window.rows;
}

/// A row's class by its entries; long rows are those cut into pieces.
enum class RowClass : std::uint8_t { empty, short_row, medium, long_row };
inline constexpr int kRowClasses = 4;
inline constexpr int kShortMost = 4;
constexpr RowClass class_of(std::int64_t length, const Shape& shape) {
  if (length == 0) return RowClass::empty;
  if (length <= kShortMost) return RowClass::short_row;
  return length <= shape.piece_most ? RowClass::medium : RowClass::long_row;
}

/// Extents of the arrays, and what explain() tells.
struct PackedHeader {
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  std::int64_t nnz = 0;
  Shape shape;
  std::int32_t slices_most = 0;   // of a window
  std::int32_t cells_most = 0;    // of a window that is not direct
  std::int32_t columns_most = 0;  // that a window stages
  std::int64_t windows = 0;
  std::int64_t slots = 0;
  std::int64_t index_units = 0;
  std::int64_t bases = 0;
  std::int64_t pieces_told = 0;  // entries of lengths[] and of cells[]
  std::int64_t row_cells = 0;
  std::int64_t split_rows = 0;
  std::int64_t partials = 0;
  std::int64_t hot = 0;          // columns
  std::int64_t hot_sampled = 0;  // sampled entries that are in them
  std::int64_t class_rows[kRowClasses] = {};
  std::int64_t class_entries[kRowClasses] = {};
  std::int64_t kind_entries[kIndexKinds] = {};
  friend bool operator==(const PackedHeader&, const PackedHeader&) = default;
};

/// Windows that are listed in the order of their bands: all or none.
constexpr std::int64_t ordered_windows(const PackedHeader& header) {
  return header.shape.bands > 0 && header.split_rows > 0 ? header.windows : 0;
}

/// Whether windows have so few slices, none wide, that each has a warp of a block of a GPU.
inline constexpr int kSingleWarps = 8;
constexpr bool one_slice_a_warp(const PackedHeader& header) {
  return header.shape.lane_pieces == 1 && header.slices_most <= kSingleWarps;
}
/// Counters that products have in their workspace: of the windows of each split row that have ended
/// and, of a matrix with hot columns, of the windows that are taken.
constexpr std::int64_t counters(const PackedHeader& header) {
  return header.split_rows + (header.hot > 0 ? 1 : 0);
}

/// The arrays of a packed matrix but its values, on either side, ready to be a kernel argument.
struct PatternView {
  PackedHeader header;
  const Window* windows;             // [windows]
  const Slice* slices;               // [windows, slices_most]
  const std::uint8_t* indices;       // [index_units * kIndexUnit]
  const std::uint32_t* bases;        // [bases]
  const std::uint8_t* lengths;       // [pieces_told]
  const std::uint16_t* cells;        // [pieces_told]
  const std::uint16_t* row_cells;    // [row_cells]
  const std::int32_t* split_rows;    // [split_rows]
  const std::int64_t* split_starts;  // [split_rows + 1]: windows' partial sums of each split row
  const std::uint32_t* order;        // [ordered_windows()]: the window that each block multiplies
  const std::int32_t* hot_columns;   // [hot], ascending

  /// The cell of piece `i` of a slice, and the entries of the piece.
  constexpr int cell_of(const Window& window, const Slice& slice, int i) const {
    return slice.listed == 1 ? int{cells[window.first_piece + slice.first_piece + i]}
                             : slice.first_cell + i;
  }
  constexpr int length_of(const Window& window, const Slice& slice, int i) const {
    return slice.depth != slice.shortest ? int{lengths[window.first_piece + slice.first_piece + i]}
                                         : slice.depth;
  }
};

template <class E>
struct PackedView : PatternView {
  const E* values;  // [slots]
};

/// The arrays themselves, all on one device. Values decide none of them.
struct PackedPattern {
  PackedHeader header;
  Buffer<Window> windows;
  Buffer<Slice> slices;
  Buffer<std::uint8_t> indices;
  Buffer<std::uint32_t> bases;
  Buffer<std::uint8_t> lengths;
  Buffer<std::uint16_t> cells;
  Buffer<std::uint16_t> row_cells;
  Buffer<std::int32_t> split_rows;
  Buffer<std::int64_t> split_starts;
  Buffer<std::uint32_t> order;
  Buffer<std::int32_t> hot_columns;
};

/// The columns that a pattern lists as hot, while it is packed.
struct HotColumns {
  Buffer<std::int32_t> columns;  // ascending
  Buffer<std::int32_t> places;   // [cols] place in `columns`, or -1; empty where none is hot
  std::int64_t sampled = 0;      // entries in them
};

template <class T>
struct PackedMatrix : PackedPattern {
  Buffer<T> values;

  PackedView<T> view() const {
    return {{header, windows.data(), slices.data(), indices.data(), bases.data(), lengths.data(),
             cells.data(), row_cells.data(), split_rows.data(), split_starts.data(), order.data(),
             hot_columns.data()},
            values.data()};
  }
  std::int64_t bytes() const {
    return bytes_of(windows, slices, values, indices, bases, lengths, cells, row_cells, split_rows,
                    split_starts, order, hot_columns);
  }
};

// The arithmetic of the contract, for packing and products on either side.

constexpr std::int64_t round_up(std::int64_t value, std::int64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

/// Entries of lengths[] and cells[] of a window that has any. With one_slice_a_warp() all windows
/// have them or none, kLanes for each slice: warps find theirs before they know window and slice.
constexpr std::int64_t told_of(const Window& window, const PackedHeader& header) {
  return one_slice_a_warp(header) ? header.slices_most * kLanes
                                  : round_up(window.pieces, kPieceUnit);
}
constexpr int pieces_of(std::int64_t length, int piece_most) {
  return static_cast<int>((length + piece_most - 1) / piece_most);
}
/// What a piece has of a row's entries.
struct PieceEntries {
  int first;
  int stride;  // from entry to entry
  int length;
};
/// Of piece `number` of a row of `length` entries: pieces are full where there are enough, and
/// entries are dealt to these in turn; the last piece has the rest.
constexpr PieceEntries piece_entries(int length, int piece_most, int number) {
  const int full = length / piece_most;
  if (number < full) return {number, full, piece_most};
  return {full * piece_most, 1, length % piece_most};
}
/// What sorts a window's pieces of equal length; those of one group keep the order of cells.
inline constexpr int kPieceGroups = 8;
constexpr int group_of(int piece_number) {
  return piece_number < kPieceGroups - 1 ? piece_number : kPieceGroups - 1;
}

constexpr bool is_split(std::int64_t length, const Shape& shape) {
  return length > shape.window_cost;
}
constexpr std::int64_t row_cost(std::int64_t length, const Shape& shape) {
  return is_split(length, shape) ? 0 : length + shape.row_cost;
}
/// Whether non-split row `row` begins a window; costs are c(row) and c(row - granule).
constexpr bool begins_window(std::int64_t row, std::int64_t cost, std::int64_t cost_before,
                             const Shape& shape) {
  return row % shape.granule == 0 && cost / shape.window_cost != cost_before / shape.window_cost;
}

/// The band of a window: its share of all rows before it or, of a split row, of the row's windows,
/// whose partial sums begin at split_starts[window.split].
constexpr std::uint16_t band_of(const Window& window, const PackedHeader& header,
                                const std::int64_t* split_starts) {
  const bool part = window.partial >= 0;
  const std::int64_t first = part ? split_starts[window.split] : 0;
  const std::int64_t before = part ? window.partial - first : window.first_row;
  const std::int64_t all = part ? split_starts[window.split + 1] - first : header.rows;
  return static_cast<std::uint16_t>(before * header.shape.bands / all);
}

/// The pieces that a slice could have, where `left` of a window's, sorted, are left.
struct NextPieces {
  int left;
  int depth;     // entries of the first one
  int shortest;  // entries of the last one of the first wide_width()
  int alike;     // of these, that have `depth` entries
};
constexpr int wide_width(int left, const Shape& shape) {
  const int most = kLanes * shape.lane_pieces;
  return left < most ? left : most;
}
/// Pieces of the slice: those of one length if they fill three quarters of a wide one, all of a
/// wide one if entries fill as much as they should, or as many as there are lanes. Slices begin at
/// multiples of kPieceUnit.
constexpr int slice_width(const NextPieces& next, const Shape& shape) {
  const int most = kLanes * shape.lane_pieces;
  const int wide = wide_width(next.left, shape);
  if (shape.lane_pieces > 1 && next.left > kLanes) {
    if (shape.wide_fill < 100 && 4 * next.alike >= 3 * most)
      return next.alike == next.left ? next.left : next.alike / kPieceUnit * kPieceUnit;
    if (100 * wide * next.shortest >= shape.wide_fill * most * next.depth) return wide;
  }
  return next.left < kLanes ? next.left : kLanes;
}
constexpr bool is_wide(const Slice& slice) {
  return slice.width > kLanes;
}
/// Slots of a slice that has so many entries: where it is wide, a step has one for each piece that
/// there could be.
constexpr int slots_of(const Slice& slice, int entries, int lane_pieces) {
  return is_wide(slice) ? slice.depth * kLanes * lane_pieces : entries;
}
/// Whether sums of rows can go to y piece by piece, for most lanes write side by side: of `pieces`
/// in slice order, `breaks` have another cell than the next of the piece before.
constexpr bool in_runs(int pieces, int breaks) {
  constexpr int kRun = 8;  // pieces, on average; 16 bytes of halves
  return kRun * breaks <= pieces;
}
/// Whether a window of `entries` stages `span` columns, from its least to its greatest, for those
/// of its entries that are in slices whose kind is not is_repeated(). The last part of a split row
/// stages where a whole part whose columns lie as close would: all blocks have the room of one.
constexpr bool stages(std::int64_t span, std::int64_t others, std::int64_t entries, bool split,
                      const Shape& shape) {
  const std::int64_t room =
      split ? shape.stage_most * entries / shape.window_cost : shape.stage_most;
  return span <= room && 8 * others >= span && 2 * others >= entries;
}
/// Columns of steps alone are stored, and at most an offset for each piece.
constexpr bool is_repeated(IndexKind kind) {
  return kind == IndexKind::diagonal || kind == IndexKind::shared;
}
/// Whether a slice may be of kind diagonal: a full wide one of two steps or more.
constexpr bool may_be_diagonal(int width, int depth, int lane_pieces, bool any_hot) {
  return lane_pieces > 1 && width == kLanes * lane_pieces && depth > 1 && !any_hot;
}
constexpr bool has_bases(IndexKind kind) {
  return kind != IndexKind::staged && kind != IndexKind::absolute;
}
constexpr int index_bytes(IndexKind kind) {
  switch (kind) {
    case IndexKind::diagonal:
    case IndexKind::shared:
      return 0;
    case IndexKind::offset8:
      return 1;
    case IndexKind::staged:
    case IndexKind::offset16:
      return 2;
    case IndexKind::absolute:
      break;
  }
  return 4;
}
/// Bytes of the columns of a slice that has so many slots: of a shared one, an offset a piece.
constexpr int index_bytes(const Slice& slice, int slots) {
  return slice.kind == IndexKind::shared ? slice.width * static_cast<int>(sizeof(std::uint16_t))
                                         : slots * index_bytes(slice.kind);
}
/// The first kind with offsets from each step's base that can hold columns so far from each other.
constexpr IndexKind offset_kind(std::uint32_t spread) {
  return spread <= 0xffU     ? IndexKind::offset8
         : spread <= 0xffffU ? IndexKind::offset16
                             : IndexKind::absolute;
}

}  // namespace lanky::sparse
