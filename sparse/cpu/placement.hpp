// What row lengths alone decide of a packed matrix: its windows, their pieces in slice order, and
// the slots of each slice. Columns decide the rest (pack.cpp).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sparse/packed.hpp"
#include "sparse/policy.hpp"

namespace lanky::sparse::cpu {

/// A piece of a window.
struct Piece {
  std::uint32_t first_entry;  // from the window's
  std::uint16_t stride;       // from entry to entry
  std::uint16_t cell;
  std::uint8_t length;
  std::uint8_t group;  // group_of() its number in the row; read only where pieces are sorted

  std::uint32_t entry(int step) const {
    return first_entry + static_cast<std::uint32_t>(step) * stride;
  }
};

/// Lists the pieces of windows, one window after another.
class WindowPieces {
 public:
  WindowPieces(const std::int64_t* row_offsets, const Shape& shape);

  /// The pieces of `window` in slice order; overwritten by the next call.
  std::span<const Piece> of(const Window& window);

 private:
  void list(const Window& window);
  void list_row(int row, std::int64_t begin, std::int64_t end, bool cut);
  template <int kKeys, class Key>
  void sort(Key key);

  const std::int64_t* row_offsets_;
  const Shape& shape_;
  std::vector<Piece> pieces_;
  std::vector<Piece> sorted_;
};

/// The pieces of one slice among those of its window.
inline std::span<const Piece> pieces_in(const Slice& slice, std::span<const Piece> window) {
  return window.subspan(slice.first_piece, slice.width);
}

inline int entries_of(std::span<const Piece> pieces) {
  int entries = 0;
  for (const Piece& piece : pieces)
    entries += piece.length;
  return entries;
}

/// A packed matrix without its arrays of entries. Kinds, first_index and first_base are zero yet,
/// and so are the header's counts of what depends on them.
struct Placement {
  PackedHeader header;
  std::vector<Window> windows;
  std::vector<Slice> slices;                     // [windows, slices_most]
  std::vector<std::int32_t> split_rows;          // [split_rows]
  std::vector<std::int64_t> split_starts = {0};  // [split_rows + 1]
  std::vector<std::uint32_t> order;              // [ordered_windows()]
};

/// Throws Error(unsupported) for a shape that gives a window more cells than kCellsLimit.
Placement place_rows(std::int64_t rows, std::int64_t cols, const std::int64_t* row_offsets,
                     const Shape& shape);

/// Counts become offsets: `next` is where the window's part of an array begins.
inline void place_part(std::int64_t& count, std::int64_t& next, std::int64_t align = 1) {
  const std::int64_t size = round_up(count, align);
  count = next;
  next += size;
}

/// Whether packing or multiplying a matrix is worth waking threads.
inline bool worth_threads(const PackedHeader& header) {
  return header.nnz + header.rows >= kThreadsLeast;
}

/// Calls visit(step, piece, slot) for each entry of a slice, in the order of slots, counted from
/// the slice's first; length(i) is that of its piece i.
template <class Length, class Visit>
void for_each_slot(const Slice& slice, int lane_pieces, Length length, Visit visit) {
  int slot = 0;
  if (is_wide(slice)) {
    for (int step = 0; step < slice.depth; ++step) {
      for (int lane = 0; lane < kLanes; ++lane) {
        for (int piece = lane; piece < kLanes * lane_pieces; piece += kLanes, ++slot) {
          if (piece < slice.width && step < length(piece)) visit(step, piece, slot);
        }
      }
    }
    return;
  }
  int active = slice.width;
  for (int step = 0; step < slice.depth; ++step) {
    while (length(active - 1) <= step)
      --active;
    for (int piece = 0; piece < active; ++piece)
      visit(step, piece, slot++);
  }
}

}  // namespace lanky::sparse::cpu
