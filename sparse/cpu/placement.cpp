#include "sparse/cpu/placement.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>

#include "sparse/errors.hpp"

namespace lanky::sparse::cpu {

WindowPieces::WindowPieces(const std::int64_t* row_offsets, const Shape& shape)
    : row_offsets_(row_offsets), shape_(shape) {}

std::span<const Piece> WindowPieces::of(const Window& window) {
  list(window);
  if (window.first_row_cell >= 0)
    sort<kPieceGroups>([](const Piece& piece) { return piece.group; });
  sort<kPieceMostLimit>([](const Piece& piece) { return kPieceMostLimit - piece.length; });
  return pieces_;
}

/// In the order of cells: of one row, whole or split, that of groups too.
void WindowPieces::list(const Window& window) {
  pieces_.clear();
  const std::int64_t first = window.first_entry;
  if (window.partial >= 0) {
    const std::int64_t end = row_offsets_[window.first_row + 1] - first;
    list_row(0, 0, std::min<std::int64_t>(end, shape_.window_cost), true);
    return;
  }
  const bool cut = window.first_row_cell >= 0;
  for (int row = 0; row < window.rows; ++row) {
    const std::int64_t* const offset = row_offsets_ + window.first_row + row;
    list_row(row, offset[0] - first, offset[1] - first, cut);
  }
}

/// The pieces of the window's row `row`, whose entries are begin .. end - 1 from the window's
/// first.
void WindowPieces::list_row(int row, std::int64_t begin, std::int64_t end, bool cut) {
  const auto length = static_cast<int>(end - begin);
  const int pieces = pieces_of(length, shape_.piece_most);
  for (int number = 0; number < pieces; ++number) {
    const PieceEntries own = piece_entries(length, shape_.piece_most, number);
    pieces_.push_back(
        {static_cast<std::uint32_t>(begin + own.first), static_cast<std::uint16_t>(own.stride),
         static_cast<std::uint16_t>(cut ? pieces_.size() : row),
         static_cast<std::uint8_t>(own.length), static_cast<std::uint8_t>(group_of(number))});
  }
}

/// Counting sort by keys below kKeys, stable.
template <int kKeys, class Key>
void WindowPieces::sort(Key key) {
  std::array<int, kKeys + 1> next{};  // place of the next piece of each key
  for (const Piece& piece : pieces_)
    ++next[key(piece) + 1];
  for (std::size_t i = 1; i < next.size(); ++i)
    next[i] += next[i - 1];
  sorted_.resize(pieces_.size());
  for (const Piece& piece : pieces_)
    sorted_[next[key(piece)]++] = piece;
  pieces_.swap(sorted_);
}

namespace {

/// Cuts rows into windows.
class Cut {
 public:
  Cut(Placement& placement, const std::int64_t* row_offsets)
      : placement_(placement),
        header_(placement.header),
        shape_(placement.header.shape),
        row_offsets_(row_offsets) {}

  void run() {
    bool begin = true;
    std::int64_t cost = 0;
    std::int64_t cost_before = 0;  // of the last row that is a multiple of the granule
    for (std::int64_t row = 0; row < header_.rows; ++row) {
      const std::int64_t length = row_offsets_[row + 1] - row_offsets_[row];
      count_class(length);
      begin = begin || begins_window(row, cost, cost_before, shape_);
      if (row % shape_.granule == 0) cost_before = cost;
      cost += row_cost(length, shape_);
      if (is_split(length, shape_)) {
        close();
        add_split(row, length);
        begin = true;
        continue;
      }
      if (begin) {
        close();
        open_ = {.first_row = row};
        begin = false;
      }
      add(length);
    }
    close();
    header_.windows = static_cast<std::int64_t>(placement_.windows.size());
    header_.split_rows = static_cast<std::int64_t>(placement_.split_rows.size());
  }

 private:
  /// The window that rows are added to.
  struct Open {
    std::int64_t first_row = 0;
    std::int64_t rows = 0;
    std::int64_t pieces = 0;
    bool cut = false;    // a row is
    bool empty = false;  // a row is
  };

  void count_class(std::int64_t length) {
    const auto index = static_cast<int>(class_of(length, shape_));
    ++header_.class_rows[index];
    header_.class_entries[index] += length;
  }

  void add(std::int64_t length) {
    ++open_.rows;
    open_.pieces += pieces_of(length, shape_.piece_most);
    open_.cut = open_.cut || length > shape_.piece_most;
    open_.empty = open_.empty || length == 0;
  }

  void close() {
    if (open_.rows == 0) return;
    Window window{};
    window.first_row_cell = -1;
    window.partial = -1;
    window.split = -1;
    if (open_.cut) {
      window.first_row_cell = header_.row_cells;
      header_.row_cells += open_.rows + 1;
    }
    window.gaps = !open_.cut && open_.empty ? 1 : 0;
    window.direct = !open_.cut && !open_.empty ? 1 : 0;
    append(window, row_offsets_[open_.first_row], open_.cut ? open_.pieces : open_.rows);
    open_ = {};
  }

  void add_split(std::int64_t row, std::int64_t length) {
    for (std::int64_t entry = 0; entry < length; entry += shape_.window_cost) {
      Window window{};
      window.first_row_cell = -1;
      window.partial = static_cast<std::int32_t>(header_.partials++);
      window.split = static_cast<std::int32_t>(placement_.split_rows.size());
      const std::int64_t entries = std::min<std::int64_t>(length - entry, shape_.window_cost);
      open_ = {.first_row = row, .rows = 1, .pieces = pieces_of(entries, shape_.piece_most)};
      append(window, row_offsets_[row] + entry, open_.pieces);
    }
    open_ = {};
    placement_.split_rows.push_back(static_cast<std::int32_t>(row));
    placement_.split_starts.push_back(header_.partials);
  }

  void append(Window& window, std::int64_t first_entry, std::int64_t cells) {
    constexpr std::int64_t kRowsMost = std::numeric_limits<std::uint16_t>::max();
    if (cells > kCellsLimit || open_.rows > kRowsMost) {
      throw_window_too_large(open_.first_row, open_.rows, cells);
    }
    window.first_entry = first_entry;
    window.first_row = static_cast<std::int32_t>(open_.first_row);
    window.rows = static_cast<std::uint16_t>(open_.rows);
    window.pieces = static_cast<std::uint16_t>(open_.pieces);
    placement_.windows.push_back(window);
  }

  Placement& placement_;
  PackedHeader& header_;
  const Shape& shape_;
  const std::int64_t* row_offsets_;
  Open open_;
};

/// Pieces whose cell is not the next of the piece before.
int breaks_of(std::span<const Piece> pieces) {
  int breaks = 0;
  for (std::size_t i = 1; i < pieces.size(); ++i)
    breaks += pieces[i].cell != pieces[i - 1].cell + 1 ? 1 : 0;
  return breaks;
}

/// Windows by bands, and those of a band in their order.
std::vector<std::uint32_t> order_of(const Placement& placement) {
  std::vector<std::uint32_t> order(static_cast<std::size_t>(ordered_windows(placement.header)));
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::stable_sort(order, {}, [&](std::uint32_t number) {
    return band_of(placement.windows[number], placement.header, placement.split_starts.data());
  });
  return order;
}

/// The slices of a window, whose first_slot becomes a count, and first_piece 0 if it tells pieces.
void place_slices(Window& window, std::span<const Piece> pieces, const Shape& shape,
                  std::vector<Slice>& slices) {
  std::int64_t slot = 0;
  bool told = false;
  slices.clear();
  for (std::size_t first = 0; first < pieces.size(); first += slices.back().width) {
    const auto left = static_cast<int>(pieces.size() - first);
    const std::span<const Piece> wide = pieces.subspan(first, wide_width(left, shape));
    const auto alike = std::ranges::count(wide, wide.front().length, &Piece::length);
    const int width = slice_width(
        {left, wide.front().length, wide.back().length, static_cast<int>(alike)}, shape);
    const std::span<const Piece> own = pieces.subspan(first, width);
    Slice slice{};
    slice.first_slot = static_cast<std::uint16_t>(slot / kSlotUnit);
    slice.first_piece = static_cast<std::uint16_t>(first);
    slice.width = static_cast<std::uint8_t>(width);
    slice.depth = own.front().length;
    slice.shortest = own.back().length;
    slice.listed = breaks_of(own) == 0 ? 0 : 1;
    slice.first_cell = slice.listed == 1 ? std::uint16_t{0} : own.front().cell;
    slot += slots_of(slice, entries_of(own), shape.lane_pieces);
    slot = round_up(slot, kSlotUnit);
    told = told || slice.listed == 1 || slice.depth != slice.shortest;
    slices.push_back(slice);
  }
  if (!in_runs(window.pieces, breaks_of(pieces))) window.direct = 0;
  window.slices = static_cast<std::uint16_t>(slices.size());
  window.first_slot = slot;
  window.first_piece = told ? 0 : -1;
}

}  // namespace

Placement place_rows(std::int64_t rows, std::int64_t cols, const std::int64_t* row_offsets,
                     const Shape& shape) {
  Placement placement;
  PackedHeader& header = placement.header;
  header.rows = rows;
  header.cols = cols;
  header.nnz = row_offsets[rows];
  header.shape = shape;
  Cut(placement, row_offsets).run();
  placement.order = order_of(placement);
  std::vector<std::vector<Slice>> slices(static_cast<std::size_t>(header.windows));
#pragma omp parallel if (worth_threads(header))
  {
    WindowPieces pieces(row_offsets, header.shape);
#pragma omp for schedule(dynamic, 4)
    for (std::int64_t i = 0; i < header.windows; ++i) {
      Window& window = placement.windows[i];
      place_slices(window, pieces.of(window), header.shape, slices[i]);
    }
  }
  for (const std::vector<Slice>& own : slices)
    header.slices_most = std::max(header.slices_most, static_cast<std::int32_t>(own.size()));
  placement.slices.resize(header.windows * header.slices_most);
  for (std::int64_t i = 0; i < header.windows; ++i)
    std::ranges::copy(slices[i], placement.slices.begin() + i * header.slices_most);
  const auto tells = [](const Window& window) { return window.first_piece >= 0; };
  const bool all_tell = one_slice_a_warp(header) && std::ranges::any_of(placement.windows, tells);
  for (Window& window : placement.windows) {
    if (window.direct == 0) header.cells_most = std::max(header.cells_most, cells_of(window));
    place_part(window.first_slot, header.slots, kWindowSlotAlign);
    if (!all_tell && !tells(window)) continue;
    window.first_piece = header.pieces_told;
    header.pieces_told += told_of(window, header);
  }
  return placement;
}

}  // namespace lanky::sparse::cpu
