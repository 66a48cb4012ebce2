// Packing on the host: row lengths place windows and slices, columns choose how each slice stores
// them, then every window is filled. Threads share the windows.
#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <utility>

#include "core/ceil_div.hpp"
#include "core/plan_types.hpp"
#include "sparse/cpu/placement.hpp"
#include "sparse/cpu/steps.hpp"

namespace lanky::sparse::cpu {

namespace {

/// The columns of a slice, zero-based.
class SliceColumns {
 public:
  /// `columns` is that of the window's first entry.
  SliceColumns(std::span<const Piece> pieces, const std::int32_t* columns, int index_base)
      : pieces_(pieces), columns_(columns), index_base_(index_base) {}

  std::int64_t at(int piece, int step) const {
    return std::int64_t{columns_[pieces_[piece].entry(step)]} - index_base_;
  }
  int width() const { return static_cast<int>(pieces_.size()); }
  int depth() const { return pieces_[0].length; }
  int length(int piece) const { return pieces_[piece].length; }

  /// Least and greatest column of each step.
  struct Ranges {
    std::array<std::int64_t, kPieceMostLimit> least;
    std::array<std::int64_t, kPieceMostLimit> most;
  };
  Ranges ranges() const {
    Ranges ranges;
    for (int step = 0; step < depth(); ++step)
      ranges.least[step] = ranges.most[step] = at(0, step);
    for (int piece = 1; piece < width(); ++piece) {
      for (int step = 0; step < length(piece); ++step) {
        ranges.least[step] = std::min(ranges.least[step], at(piece, step));
        ranges.most[step] = std::max(ranges.most[step], at(piece, step));
      }
    }
    return ranges;
  }

  /// The greatest distance of two columns in one step.
  std::uint32_t spread() const {
    const Ranges found = ranges();
    std::int64_t spread = 0;
    for (int step = 0; step < depth(); ++step)
      spread = std::max(spread, found.most[step] - found.least[step]);
    return static_cast<std::uint32_t>(spread);
  }

  /// Whether piece i is piece 0, shifted by i columns and cut short.
  bool follow_diagonals() const {
    for (int piece = 1; piece < width(); ++piece) {
      for (int step = 0; step < length(piece); ++step) {
        if (at(piece, step) - at(0, step) != piece) return false;
      }
    }
    return true;
  }

  /// Whether all pieces are piece 0, shifted and cut short, and the shifts fit 16 bits.
  bool repeat_shifted() const {
    if (width() < 2 || depth() < 2) return false;
    std::int64_t least_shift = 0;
    std::int64_t most_shift = 0;
    for (int piece = 1; piece < width(); ++piece) {
      const std::int64_t shift = at(piece, 0) - at(0, 0);
      for (int step = 1; step < length(piece); ++step) {
        if (at(piece, step) - at(0, step) != shift) return false;
      }
      least_shift = std::min(least_shift, shift);
      most_shift = std::max(most_shift, shift);
    }
    return most_shift - least_shift <= std::numeric_limits<std::uint16_t>::max();
  }

 private:
  std::span<const Piece> pieces_;
  const std::int32_t* columns_;
  int index_base_;
};

/// Visits the windows with their pieces in slice order: visit(number, pieces). Threads share them.
template <class Visit>
void for_each_window(const Placement& placement, const std::int64_t* row_offsets, Visit visit) {
  const PackedHeader& header = placement.header;
#pragma omp parallel if (worth_threads(header))
  {
    WindowPieces pieces(row_offsets, header.shape);
#pragma omp for schedule(dynamic, 4)
    for (std::int64_t i = 0; i < header.windows; ++i)
      visit(i, pieces.of(placement.windows[i]));
  }
}

/// Decides how the slices of one window store their columns, and where.
class ColumnPlacement {
 public:
  ColumnPlacement(const CsrPattern& a, const PackedHeader& header, Window& window,
                  std::span<const Piece> pieces, Slice* slices)
      : columns_(a.columns + window.first_entry),
        index_base_(a.index_base),
        header_(header),
        window_(window),
        pieces_(pieces),
        slices_(slices) {}

  /// The window's first_index and first_base become counts; entries are added to their kinds.
  void run(std::int64_t (&kind_entries)[kIndexKinds]) {
    std::int64_t unshared = 0;  // entries
    for (int i = 0; i < window_.slices; ++i) {
      slices_[i].kind = repeated_kind(i);
      if (!is_repeated(slices_[i].kind)) unshared += entries_of(own(i));
    }
    stage(unshared);
    for (int i = 0; i < window_.slices; ++i) {
      Slice& slice = slices_[i];
      if (!is_repeated(slice.kind)) slice.kind = unshared_kind(i);
      slice.first_index = static_cast<std::uint16_t>(window_.first_index);
      slice.first_base = static_cast<std::uint16_t>(window_.first_base / kBaseUnit);
      const int entries = entries_of(own(i));
      const int slots = slots_of(slice, entries, header_.shape.lane_pieces);
      window_.first_index += ceil_div(index_bytes(slice, slots), kIndexUnit);
      if (has_bases(slice.kind)) window_.first_base += round_up(slice.depth, kBaseUnit);
      kind_entries[static_cast<int>(slice.kind)] += entries;
    }
  }

 private:
  std::span<const Piece> own(int slice) const { return pieces_in(slices_[slice], pieces_); }
  SliceColumns columns_of(int slice) const { return {own(slice), columns_, index_base_}; }

  /// `absolute` where the slice is of none of these kinds.
  IndexKind repeated_kind(int slice) const {
    const SliceColumns columns = columns_of(slice);
    const bool may_be = may_be_diagonal(columns.width(), columns.depth(), header_.shape.lane_pieces,
                                        header_.hot > 0);
    if (may_be && columns.follow_diagonals()) return IndexKind::diagonal;
    return columns.repeat_shifted() ? IndexKind::shared : IndexKind::absolute;
  }

  IndexKind unshared_kind(int slice) const {
    if (window_.columns > 0) return IndexKind::staged;
    return header_.hot > 0 ? IndexKind::absolute : offset_kind(columns_of(slice).spread());
  }

  void stage(std::int64_t unshared) {
    if (pieces_.empty() || header_.shape.stage_most == 0) return;
    const auto entries = entries_of(pieces_);
    const auto [least, most] = std::minmax_element(columns_, columns_ + entries);
    const std::int64_t span = std::int64_t{*most} - *least + 1;
    if (!stages(span, unshared, entries, window_.split >= 0, header_.shape)) return;
    window_.first_column = *least - index_base_;
    window_.columns = static_cast<std::int32_t>(span);
  }

  const std::int32_t* columns_;  // of the window's entries
  int index_base_;
  const PackedHeader& header_;
  Window& window_;
  std::span<const Piece> pieces_;
  Slice* slices_;
};

/// Kinds of all slices, and where their columns stand.
void place_columns(Placement& placement, const CsrPattern& a) {
  PackedHeader& header = placement.header;
  for_each_window(placement, a.row_offsets, [&](std::int64_t i, std::span<const Piece> pieces) {
    std::int64_t kind_entries[kIndexKinds] = {};
    ColumnPlacement(a, header, placement.windows[i], pieces,
                    placement.slices.data() + i * header.slices_most)
        .run(kind_entries);
    for (int kind = 0; kind < kIndexKinds; ++kind) {
      std::int64_t& of_kind = header.kind_entries[kind];
#pragma omp atomic
      of_kind += kind_entries[kind];
    }
  });
  for (Window& window : placement.windows) {
    place_part(window.first_index, header.index_units);
    place_part(window.first_base, header.bases);
    header.columns_most = std::max(header.columns_most, window.columns);
  }
}

/// Writes the parts of the arrays that belong to one window, which are zero until then.
class WindowFill {
 public:
  WindowFill(const CsrPattern& a, const std::int32_t* hot_places, PackedPattern& packed,
             std::int64_t number, std::span<const Piece> pieces)
      : a_(a),
        hot_places_(hot_places),
        packed_(packed),
        window_(packed.windows.data()[number]),
        slices_(packed.slices.data() + number * packed.header.slices_most),
        pieces_(pieces) {}

  void run() const {
    for (int i = 0; i < window_.slices; ++i) {
      const Slice& slice = slices_[i];
      const std::span<const Piece> own = pieces_in(slice, pieces_);
      fill_columns(slice, SliceColumns(own, a_.columns + window_.first_entry, a_.index_base));
      if (window_.first_piece >= 0) {
        fill_pieces(slice, own, window_.first_piece + slice.first_piece);
      }
    }
    if (window_.first_row_cell >= 0) fill_row_cells();
  }

 private:
  int lane_pieces() const { return packed_.header.shape.lane_pieces; }

  void fill_columns(const Slice& slice, const SliceColumns& columns) const {
    std::uint8_t* const indices =
        packed_.indices.data() + (window_.first_index + slice.first_index) * kIndexUnit;
    std::uint32_t* const bases =
        packed_.bases.data() + window_.first_base + slice.first_base * kBaseUnit;
    switch (slice.kind) {
      case IndexKind::diagonal:
        return fill_diagonal(columns, bases);
      case IndexKind::shared:
        return fill_shared(columns, reinterpret_cast<std::uint16_t*>(indices), bases);
      case IndexKind::staged:
        return fill_staged(slice, columns, reinterpret_cast<std::uint16_t*>(indices));
      case IndexKind::offset8:
        return fill_offsets(slice, columns, indices, bases);
      case IndexKind::offset16:
        return fill_offsets(slice, columns, reinterpret_cast<std::uint16_t*>(indices), bases);
      case IndexKind::absolute:
        return fill_absolute(slice, columns, reinterpret_cast<std::uint32_t*>(indices));
    }
  }

  static void fill_diagonal(const SliceColumns& columns, std::uint32_t* bases) {
    for (int step = 0; step < columns.depth(); ++step)
      bases[step] = static_cast<std::uint32_t>(columns.at(0, step));
  }

  static void fill_shared(const SliceColumns& columns, std::uint16_t* offsets,
                          std::uint32_t* bases) {
    std::int64_t least = columns.at(0, 0);
    for (int piece = 1; piece < columns.width(); ++piece)
      least = std::min(least, columns.at(piece, 0));
    for (int piece = 0; piece < columns.width(); ++piece)
      offsets[piece] = static_cast<std::uint16_t>(columns.at(piece, 0) - least);
    for (int step = 0; step < columns.depth(); ++step)
      bases[step] = static_cast<std::uint32_t>(columns.at(0, step) - offsets[0]);
  }

  void fill_staged(const Slice& slice, const SliceColumns& columns, std::uint16_t* offsets) const {
    for_each_column(slice, columns, [&](int slot, int /*step*/, std::int64_t column) {
      offsets[slot] = static_cast<std::uint16_t>(column - window_.first_column);
    });
  }

  template <class Offset>
  void fill_offsets(const Slice& slice, const SliceColumns& columns, Offset* offsets,
                    std::uint32_t* bases) const {
    const SliceColumns::Ranges ranges = columns.ranges();
    for (int step = 0; step < columns.depth(); ++step)
      bases[step] = static_cast<std::uint32_t>(ranges.least[step]);
    for_each_column(slice, columns, [&](int slot, int step, std::int64_t column) {
      offsets[slot] = static_cast<Offset>(column - ranges.least[step]);
    });
  }

  void fill_absolute(const Slice& slice, const SliceColumns& columns,
                     std::uint32_t* indices) const {
    for_each_column(slice, columns, [&](int slot, int /*step*/, std::int64_t column) {
      indices[slot] = absolute_index(column);
    });
  }

  std::uint32_t absolute_index(std::int64_t column) const {
    const std::int32_t place = hot_places_ == nullptr ? -1 : hot_places_[column];
    return place < 0 ? static_cast<std::uint32_t>(column)
                     : kHotBit | static_cast<std::uint32_t>(place);
  }

  template <class Visit>
  void for_each_column(const Slice& slice, const SliceColumns& columns, Visit visit) const {
    for_each_slot(
        slice, lane_pieces(), [&](int piece) { return columns.length(piece); },
        [&](int step, int piece, int slot) { visit(slot, step, columns.at(piece, step)); });
  }

  void fill_pieces(const Slice& slice, std::span<const Piece> pieces, std::int64_t first) const {
    const bool differ = slice.depth != slice.shortest;
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      if (differ) packed_.lengths.data()[first + i] = pieces[i].length;
      if (slice.listed == 1) packed_.cells.data()[first + i] = pieces[i].cell;
    }
  }

  void fill_row_cells() const {
    std::uint16_t* const row_cells = packed_.row_cells.data() + window_.first_row_cell;
    int cell = 0;
    for (int row = 0; row < window_.rows; ++row) {
      const std::int64_t* const offset = a_.row_offsets + window_.first_row + row;
      row_cells[row] = static_cast<std::uint16_t>(cell);
      cell += pieces_of(offset[1] - offset[0], packed_.header.shape.piece_most);
    }
    row_cells[window_.rows] = static_cast<std::uint16_t>(cell);
  }

  const CsrPattern& a_;
  const std::int32_t* hot_places_;
  PackedPattern& packed_;
  const Window& window_;
  const Slice* slices_;
  std::span<const Piece> pieces_;
};

/// The pieces of a window of a packed matrix, whose row offsets are gone: in slice order.
class PackedPieces {
 public:
  explicit PackedPieces(const PatternView& a) : a_(a) {}

  std::span<const Piece> of(std::int64_t number) {
    const Window& window = a_.windows[number];
    pieces_.clear();
    for (int i = 0; i < window.slices; ++i)
      append(window, a_.slices[number * a_.header.slices_most + i]);
    find_entries(window);
    return pieces_;
  }

 private:
  void append(const Window& window, const Slice& slice) {
    for (int i = 0; i < slice.width; ++i) {
      Piece& piece = pieces_.emplace_back();
      piece.cell = static_cast<std::uint16_t>(a_.cell_of(window, slice, i));
      piece.length = static_cast<std::uint8_t>(a_.length_of(window, slice, i));
    }
  }

  /// Rows follow each other in the order of cells; those of one row begin at its first entries.
  void find_entries(const Window& window) {
    by_cell_.assign(static_cast<std::size_t>(cells_of(window)), Piece{});
    for (const Piece& piece : pieces_)
      by_cell_[piece.cell] = piece;
    std::uint32_t row_entry = 0;
    for (int row = 0; row < window.rows; ++row) {
      const int begin = first_cell(window, row);
      const int end = first_cell(window, row + 1);
      int length = 0;
      for (int cell = begin; cell < end; ++cell)
        length += by_cell_[cell].length;
      for (int cell = begin; cell < end; ++cell) {
        const PieceEntries own = piece_entries(length, a_.header.shape.piece_most, cell - begin);
        by_cell_[cell].first_entry = row_entry + static_cast<std::uint32_t>(own.first);
        by_cell_[cell].stride = static_cast<std::uint16_t>(own.stride);
      }
      row_entry += static_cast<std::uint32_t>(length);
    }
    for (Piece& piece : pieces_)
      piece = by_cell_[piece.cell];
  }

  /// The first cell of the window's row `row`, or the end of all.
  int first_cell(const Window& window, int row) const {
    if (window.partial >= 0) return row * window.pieces;
    return window.first_row_cell >= 0 ? a_.row_cells[window.first_row_cell + row] : row;
  }

  const PatternView& a_;
  std::vector<Piece> pieces_;
  std::vector<Piece> by_cell_;
};

template <class E>
Buffer<E> zeros(const Stream& stream, std::int64_t size, Allocator* allocator) {
  Buffer<E> buffer(stream, size, allocator);
  buffer.fill_zero();
  return buffer;
}

PackedPattern pack_pattern(const Stream& stream, const CsrPattern& a, const Shape& shape,
                           Allocator* allocator) {
  Placement placement = place_rows(a.rows, a.cols, a.row_offsets, shape);
  PackedHeader& header = placement.header;
  HotColumns hot = find_hot_columns(stream, a, shape, allocator);
  header.hot = hot.columns.size();
  header.hot_sampled = hot.sampled;
  place_columns(placement, a);
  PackedPattern packed{header,
                       Buffer<Window>::from(stream, placement.windows, allocator),
                       Buffer<Slice>::from(stream, placement.slices, allocator),
                       zeros<std::uint8_t>(stream, header.index_units * kIndexUnit, allocator),
                       zeros<std::uint32_t>(stream, header.bases, allocator),
                       zeros<std::uint8_t>(stream, header.pieces_told, allocator),
                       zeros<std::uint16_t>(stream, header.pieces_told, allocator),
                       Buffer<std::uint16_t>(stream, header.row_cells, allocator),
                       Buffer<std::int32_t>::from(stream, placement.split_rows, allocator),
                       Buffer<std::int64_t>::from(stream, placement.split_starts, allocator),
                       Buffer<std::uint32_t>::from(stream, placement.order, allocator),
                       std::move(hot.columns)};
  for_each_window(placement, a.row_offsets, [&](std::int64_t i, std::span<const Piece> pieces) {
    WindowFill(a, hot.places.data(), packed, i, pieces).run();
  });
  return packed;
}

}  // namespace

template <class T>
PackedMatrix<T> pack(const Stream& stream, const Csr<T>& a, const Shape& shape,
                     Allocator* allocator) {
  PackedPattern pattern = pack_pattern(stream, a.pattern(), shape, allocator);
  const std::int64_t slots = pattern.header.slots;
  PackedMatrix<T> packed{std::move(pattern), zeros<T>(stream, slots, allocator)};
  update_values(packed.view(), a.values, packed.values.data());
  return packed;
}

template <class T>
void update_values(const PatternView& a, const T* values, T* slots) {
  const PackedHeader& header = a.header;
#pragma omp parallel if (worth_threads(header))
  {
    PackedPieces window_pieces(a);
#pragma omp for schedule(dynamic, 4)
    for (std::int64_t i = 0; i < header.windows; ++i) {
      const Window& window = a.windows[i];
      const std::span<const Piece> pieces = window_pieces.of(i);
      for (int j = 0; j < window.slices; ++j) {
        const Slice& slice = a.slices[i * header.slices_most + j];
        const std::span<const Piece> own = pieces_in(slice, pieces);
        const T* const entries = values + window.first_entry;
        T* const first = slots + window.first_slot + slice.first_slot * kSlotUnit;
        for_each_slot(
            slice, header.shape.lane_pieces, [&](int piece) { return own[piece].length; },
            [&](int step, int piece, int slot) { first[slot] = entries[own[piece].entry(step)]; });
      }
    }
  }
}

#define LANKY_INSTANTIATE(T)                                                             \
  template PackedMatrix<T> pack(const Stream&, const Csr<T>&, const Shape&, Allocator*); \
  template void update_values(const PatternView&, const T*, T*);
LANKY_FOR_EACH_ELEMENT(LANKY_INSTANTIATE)
#undef LANKY_INSTANTIATE

}  // namespace lanky::sparse::cpu
