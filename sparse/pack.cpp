// Packing on the host: one pass over the row lengths places every row, then threads fill the tiles
// of pieces, blocks and short tiles independently of each other.
#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include "sparse/packed.hpp"

namespace lanky::sparse {

namespace {

using Rows = std::vector<std::int32_t>;

std::int64_t count(const Rows& rows) {
  return static_cast<std::int64_t>(rows.size());
}

constexpr std::int64_t ceil_div(std::int64_t a, std::int64_t b) {
  return (a + b - 1) / b;
}

/// Row numbers by class, each ascending.
struct Classes {
  Rows split;  // long, several pieces
  Rows whole;  // long, a single piece
  Rows medium;
  std::array<Rows, kShortMost + 1> by_length;  // [0]: empty rows
};

Classes classify(std::span<const std::int64_t> offsets) {
  Classes classes;
  const auto rows = static_cast<std::int32_t>(offsets.size() - 1);
  for (std::int32_t row = 0; row < rows; ++row) {
    const std::int64_t length = offsets[row + 1] - offsets[row];
    if (length <= kShortMost) {
      classes.by_length[length].push_back(row);
    } else if (length < kLongLeast) {
      classes.medium.push_back(row);
    } else {
      (length > kPieceSlots ? classes.split : classes.whole).push_back(row);
    }
  }
  return classes;
}

/// Sorts each window of medium rows by tiles, most first, equal ones in row order.
template <class E>
void sort_windows(Rows& medium, std::span<const std::int64_t> offsets) {
  const auto tiles = [&](std::int32_t row) {
    return ceil_div(offsets[row + 1] - offsets[row], kDepth<E>);
  };
  const std::int64_t windows = ceil_div(count(medium), kWindowRows);
#pragma omp parallel for schedule(dynamic) if (windows > 4)
  for (std::int64_t window = 0; window < windows; ++window) {
    const auto first = medium.begin() + window * kWindowRows;
    const auto last = medium.begin() + std::min((window + 1) * kWindowRows, count(medium));
    std::stable_sort(first, last,
                     [&](std::int32_t a, std::int32_t b) { return tiles(a) > tiles(b); });
  }
}

/// The rows of each short group in the order of their segments, group L at [L - 1].
std::array<Rows, kShortMost> group_short_rows(const std::array<Rows, kShortMost + 1>& by_length) {
  const Rows& ones = by_length[1];
  const Rows& threes = by_length[3];
  const std::int64_t pairs = std::min(count(ones), count(threes));
  std::array<Rows, kShortMost> groups;
  groups[0].assign(ones.begin() + pairs, ones.end());
  groups[1] = by_length[2];
  groups[2].reserve(2 * pairs);
  for (std::int64_t pair = 0; pair < pairs; ++pair) {
    groups[2].push_back(threes[pair]);
    groups[2].push_back(ones[pair]);
  }
  std::merge(by_length[4].begin(), by_length[4].end(), threes.begin() + pairs, threes.end(),
             std::back_inserter(groups[3]));
  return groups;
}

/// Appends pieces of long rows; the pieces of split rows are counted, and each row's first noted.
template <class E>
void place_long(Placement& placement, const Classes& classes,
                std::span<const std::int64_t> offsets) {
  PackedHeader& header = placement.header;
  std::vector<std::int64_t> split_starts = {0};
  placement.tile_starts = {0};
  const auto place_row = [&](std::int32_t row) {
    const std::int64_t end =
        header.tiles + ceil_div(offsets[row + 1] - offsets[row], kTileSlots<E>);
    while (header.tiles < end) {
      header.tiles = std::min<std::int64_t>(header.tiles + kPieceTiles<E>, end);
      placement.tile_starts.push_back(header.tiles);
      ++header.pieces;
    }
    header.long_entries += offsets[row + 1] - offsets[row];
    placement.row_numbers.push_back(row);
  };
  for (const std::int32_t row : classes.split) {
    place_row(row);
    split_starts.push_back(header.pieces);
  }
  header.split_rows = count(classes.split);
  header.split_pieces = header.pieces;
  for (const std::int32_t row : classes.whole)
    place_row(row);
  header.long_rows = count(classes.split) + count(classes.whole);
  placement.tile_starts.insert(placement.tile_starts.end(), split_starts.begin(),
                               split_starts.end());
}

template <class E>
void place_medium(Placement& placement, const Rows& medium, std::span<const std::int64_t> offsets) {
  PackedHeader& header = placement.header;
  header.medium_rows = count(medium);
  header.blocks = ceil_div(count(medium), kTileRows);
  placement.tile_starts.push_back(header.tiles);
  for (std::int64_t block = 0; block < header.blocks; ++block) {
    // The first row of a block is its longest, for windows are sorted and hold whole blocks.
    const std::int32_t longest = medium[block * kTileRows];
    header.tiles += ceil_div(offsets[longest + 1] - offsets[longest], kDepth<E>);
    placement.tile_starts.push_back(header.tiles);
  }
  for (const std::int32_t row : medium)
    header.medium_entries += offsets[row + 1] - offsets[row];
  Rows& numbers = placement.row_numbers;
  numbers.insert(numbers.end(), medium.begin(), medium.end());
  numbers.resize(numbers.size() + header.blocks * kTileRows - count(medium), -1);
}

template <class E>
void place_short(Placement& placement, const std::array<Rows, kShortMost + 1>& by_length) {
  PackedHeader& header = placement.header;
  const std::array<Rows, kShortMost> groups = group_short_rows(by_length);
  std::int64_t first_row = 0;
  for (int length = 1; length <= kShortMost; ++length) {
    const Rows& rows = groups[length - 1];
    const int rows_per_tile = short_rows_per_tile<E>(length);
    ShortGroup& group = header.short_groups[length - 1];
    group = {header.tiles, ceil_div(count(rows), rows_per_tile), first_row};
    const std::int64_t places = group.tiles * rows_per_tile;
    header.tiles += group.tiles;
    header.short_rows += count(rows);
    first_row += places;
    Rows& numbers = placement.row_numbers;
    numbers.insert(numbers.end(), rows.begin(), rows.end());
    numbers.resize(numbers.size() + places - count(rows), -1);
  }
}

/// The CSR entries of a row that are still to be placed.
struct Entries {
  std::int64_t next = 0;
  std::int64_t end = 0;

  /// The next one, or -1 when there is none left: padding.
  std::int64_t take() { return next < end ? next++ : -1; }
};

/// Calls visit(slot, entry) for each slot of a packed matrix with the CSR entry that it holds, or
/// -1 for padding. Threads share the work by pieces, blocks and short tiles.
template <class E, class Visit>
class SlotWalk {
 public:
  SlotWalk(const Placement& placement, std::span<const std::int64_t> offsets, Visit visit)
      : a_(view_of<E>(placement.header, nullptr, nullptr, placement.tile_starts.data(),
                      placement.row_numbers.data())),
        offsets_(offsets),
        visit_(visit) {}

  void run() const {
    const PackedHeader& header = a_.header;
    const bool threads = worth_threads<E>(header);
#pragma omp parallel if (threads)
    {
#pragma omp for schedule(static) nowait
      for (std::int64_t piece = 0; piece < header.pieces; ++piece)
        walk_piece(piece);
#pragma omp for schedule(static) nowait
      for (std::int64_t block = 0; block < header.blocks; ++block)
        walk_block(block);
      for (int length = 1; length <= kShortMost; ++length) {
#pragma omp for schedule(static) nowait
        for (std::int64_t tile = 0; tile < header.short_groups[length - 1].tiles; ++tile) {
          walk_short_tile(length, tile);
        }
      }
    }
  }

 private:
  Entries entries_of(std::int32_t row) const {
    return row < 0 ? Entries{} : Entries{offsets_[row], offsets_[row + 1]};
  }

  /// Entries of the row that `piece` belongs to, less those of the row's earlier pieces.
  Entries entries_of_piece(std::int64_t piece) const {
    const PackedHeader& header = a_.header;
    if (piece >= header.split_pieces) {
      return entries_of(a_.long_rows[header.split_rows + piece - header.split_pieces]);
    }
    const std::int64_t* const starts = a_.split_starts;
    const std::int64_t* const start =
        std::upper_bound(starts, starts + header.split_rows, piece) - 1;
    Entries entries = entries_of(a_.long_rows[start - starts]);
    entries.next += (piece - *start) * kPieceSlots;
    return entries;
  }

  void walk_piece(std::int64_t piece) const {
    Entries entries = entries_of_piece(piece);
    const std::int64_t end = a_.piece_tiles[piece + 1] * kTileSlots<E>;
    for (std::int64_t slot = a_.piece_tiles[piece] * kTileSlots<E>; slot < end; ++slot) {
      visit_(slot, entries.take());
    }
  }

  void walk_block(std::int64_t block) const {
    for (int i = 0; i < kTileRows; ++i) {
      Entries entries = entries_of(a_.medium_rows[block * kTileRows + i]);
      for (std::int64_t tile = a_.block_tiles[block]; tile < a_.block_tiles[block + 1]; ++tile) {
        const std::int64_t slot = (tile * kTileRows + i) * kDepth<E>;
        for (int k = 0; k < kDepth<E>; ++k)
          visit_(slot + k, entries.take());
      }
    }
  }

  void walk_short_tile(int length, std::int64_t tile) const {
    const ShortGroup& group = a_.header.short_groups[length - 1];
    const std::int32_t* row =
        a_.short_rows + group.first_row + tile * short_rows_per_tile<E>(length);
    std::int64_t slot = (group.first_tile + tile) * kTileSlots<E>;
    for (int quad = 0; quad < kTileSlots<E> / kQuad; ++quad) {
      Entries entries;
      for (int k = 0; k < kQuad; ++k) {
        if (k % length == 0) entries = entries_of(*row++);
        visit_(slot++, entries.take());
      }
    }
  }

  PackedView<E> a_;  // placement only: no values, no columns
  std::span<const std::int64_t> offsets_;
  Visit visit_;
};

template <class E, class Visit>
void for_each_slot(const Placement& placement, std::span<const std::int64_t> offsets, Visit visit) {
  SlotWalk<E, Visit>(placement, offsets, visit).run();
}

}  // namespace

template <class E>
Placement place_rows(std::int64_t cols, std::span<const std::int64_t> row_offsets) {
  Placement placement;
  placement.header.rows = static_cast<std::int64_t>(row_offsets.size()) - 1;
  placement.header.cols = cols;
  placement.header.nnz = row_offsets.back();
  Classes classes = classify(row_offsets);
  sort_windows<E>(classes.medium, row_offsets);
  place_long<E>(placement, classes, row_offsets);
  place_medium<E>(placement, classes.medium, row_offsets);
  place_short<E>(placement, classes.by_length);
  const Rows& empty = classes.by_length[0];
  placement.header.short_entries =
      placement.header.nnz - placement.header.long_entries - placement.header.medium_entries;
  placement.header.empty_rows = count(empty);
  placement.row_numbers.insert(placement.row_numbers.end(), empty.begin(), empty.end());
  return placement;
}

template <class T>
PackedSlots<T> pack_slots(const Stream& cpu, const HostCsr<T>& a, const Placement& placement,
                          Allocator* allocator) {
  const std::int64_t size = placement.header.tiles * kTileSlots<T>;
  PackedSlots<T> slots{Buffer<T>(cpu, size, allocator), Buffer<std::int32_t>(cpu, size, allocator)};
  T* const values = slots.values.data();
  std::int32_t* const columns = slots.columns.data();
  for_each_slot<T>(placement, a.row_offsets, [&](std::int64_t slot, std::int64_t entry) {
    values[slot] = entry < 0 ? T{} : a.values[entry];
    columns[slot] = entry < 0 ? -1 : a.columns[entry] - a.index_base;
  });
  return slots;
}

template <class T>
void pack_values(const Placement& placement, std::span<const std::int64_t> row_offsets,
                 const T* values, T* slot_values) {
  for_each_slot<T>(placement, row_offsets, [&](std::int64_t slot, std::int64_t entry) {
    slot_values[slot] = entry < 0 ? T{} : values[entry];
  });
}

// NOLINTBEGIN(bugprone-macro-parentheses): T is a type
#define LANKY_INSTANTIATE(T)                                                             \
  template Placement place_rows<T>(std::int64_t, std::span<const std::int64_t>);         \
  template PackedSlots<T> pack_slots(const Stream&, const HostCsr<T>&, const Placement&, \
                                     Allocator*);                                        \
  template void pack_values(const Placement&, std::span<const std::int64_t>, const T*, T*);
LANKY_INSTANTIATE(double)
LANKY_INSTANTIATE(float)
LANKY_INSTANTIATE(half)
LANKY_INSTANTIATE(bfloat16)
#undef LANKY_INSTANTIATE
// NOLINTEND(bugprone-macro-parentheses)

}  // namespace lanky::sparse
