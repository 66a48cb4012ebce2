#include "support/check_packed.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <limits>
#include <map>
#include <ostream>

#include "core/plan_types.hpp"
#include "support/violation.hpp"

namespace lanky::sparse {

namespace {

using testing::require;

/// `parts` name the word, as in "first_row of window 3".
template <class... Parts>
void require_equal(std::int64_t is, std::int64_t wanted, const Parts&... parts) {
  require(is == wanted, parts..., " is ", is, ", not ", wanted);
}

/// Equal bits: 0 and -0 differ, a NaN is equal to itself.
template <class T>
bool same_bits(T a, T b) {
  using Bytes = std::array<std::byte, sizeof(T)>;
  return std::bit_cast<Bytes>(a) == std::bit_cast<Bytes>(b);
}

std::int64_t aligned(std::int64_t size, std::int64_t to) {
  return size % to == 0 ? size : size + to - size % to;
}

struct WantedPiece {
  std::int64_t first;   // of the CSR entries
  std::int64_t stride;  // to the next one
  std::int64_t row;
  int length;
  int number;  // in its row, or its window of a split row
  int cell;

  std::int64_t entry(int step) const { return first + step * stride; }
  bool stands_before(const WantedPiece& other) const {
    if (length != other.length) return length > other.length;
    return std::min(number, 7) < std::min(other.number, 7);
  }
};

/// Consecutive pieces of a window, with what they want of a Slice.
struct WantedSlice {
  std::int64_t first_piece;
  int lane_pieces;  // 1, or more of a wide slice
  std::vector<WantedPiece> pieces;
  IndexKind kind;
  std::vector<std::uint8_t> indices;  // to the next multiple of kIndexUnit
  std::vector<std::uint32_t> bases;   // to the next multiple of kBaseUnit
  std::vector<std::int64_t> steps;    // first slot of each step
  std::int64_t entry_slots = 0;       // with those between
  std::int64_t slots = 0;             // to the next multiple of kSlotUnit

  int width() const { return static_cast<int>(pieces.size()); }
  int depth() const { return pieces.front().length; }
  int shortest() const { return pieces.back().length; }
  bool listed() const {
    for (int i = 0; i < width(); ++i) {
      if (pieces[i].cell != pieces[0].cell + i) return true;
    }
    return false;
  }
};

/// Where the parts of a slice begin in the arrays.
struct Place {
  std::int64_t window;
  std::int64_t slice;  // of the window
  std::int64_t slot;
  std::int64_t unit;
  std::int64_t base;
  std::int64_t piece;

  friend std::ostream& operator<<(std::ostream& out, const Place& place) {
    return out << "slice " << place.slice << " of window " << place.window;
  }
};

template <class T>
class PackedCheck {
 public:
  PackedCheck(const PackedView<T>& packed, const Csr<T>& a)
      : p_(packed), h_(packed.header), shape_(packed.header.shape), a_(a) {}

  void run() {
    check_shape();
    find_hot_columns();
    find_windows();
    for (Window& window : windows_)
      measure(window);
    tell_each_slice();
    check_header();
    for (std::size_t i = 0; i < windows_.size(); ++i)
      check_window(static_cast<std::int64_t>(i));
    check_splits();
    if (shape_.bands > 0 && h_.split_rows > 0) check_order();
    check_hot_columns();
  }

 private:
  // What the CSR matrix and the shape want.

  void check_shape() {
    require_equal(h_.rows, a_.rows, "the header's rows");
    require_equal(h_.cols, a_.cols, "the header's cols");
    require_equal(h_.nnz, a_.nnz, "the header's nnz");
    require(shape_.lane_pieces == 1 || shape_.lane_pieces == kLanePiecesMost<T>, "lanes have ",
            shape_.lane_pieces, " pieces, not 1 or ", kLanePiecesMost<T>);
    require(shape_.wide_fill >= 25 && shape_.wide_fill <= 100, "entries fill ", shape_.wide_fill,
            " % of a wide slice, not 25 to 100");
    require(shape_.piece_most >= 4 && shape_.piece_most <= 255, "pieces have up to ",
            shape_.piece_most, " entries, not 4 to 255");
    require(shape_.row_cost > 0 && shape_.granule > 0, "a row costs ", shape_.row_cost,
            ", and windows begin at multiples of ", shape_.granule);
    require(shape_.window_cost > 0 && shape_.window_cost % shape_.piece_most == 0 &&
                shape_.window_cost <= 65536,
            "windows cost about ", shape_.window_cost, ", no multiple of ", shape_.piece_most,
            " up to 65536");
    require(shape_.bands >= 0 && shape_.bands <= 65536, "windows are ordered by ", shape_.bands,
            " bands, not 0 to 65536");
    require(shape_.stage_most >= 0 && shape_.stage_most <= 65536, "windows stage up to ",
            shape_.stage_most, " columns, not 0 to 65536");
    require(shape_.warps > 0 && shape_.warps <= 32, "blocks have ", shape_.warps,
            " warps, not 1 to 32");
    require(shape_.hot_least >= 0, "hot columns have at least ", shape_.hot_least,
            " sampled entries");
    require(shape_.hot_least == 0 || shape_.wide_fill == 100, "entries fill ", shape_.wide_fill,
            " % of a wide slice of a matrix whose columns may be hot");
    require(shape_.hot_least == 0 || shape_.stage_most == 0, "windows stage up to ",
            shape_.stage_most, " columns of a matrix whose columns may be hot");
    wanted_.rows = h_.rows;
    wanted_.cols = h_.cols;
    wanted_.nnz = h_.nnz;
    wanted_.shape = shape_;
  }

  /// The columns of hot_least entries or more, if only every eighth entry is counted.
  void find_hot_columns() {
    if (shape_.hot_least == 0) return;
    std::map<std::int64_t, std::int64_t> sampled;
    for (std::int64_t entry = 0; entry < a_.nnz; ++entry) {
      if (entry % 8 == 0) ++sampled[std::int64_t{a_.columns[entry]} - a_.index_base];
    }
    for (const auto& [column, entries] : sampled) {
      if (entries < shape_.hot_least) continue;
      hot_columns_.push_back(column);
      wanted_.hot_sampled += entries;
    }
    wanted_.hot = std::ssize(hot_columns_);
  }

  std::int64_t length(std::int64_t row) const {
    return a_.row_offsets[row + 1] - a_.row_offsets[row];
  }
  bool split(std::int64_t row) const { return length(row) > shape_.window_cost; }

  /// Windows with first_row, rows, first_entry, partial and split; classes of rows; split rows.
  void find_windows() {
    std::vector<std::int64_t> costs = {0};  // c(row)
    for (std::int64_t row = 0; row < a_.rows; ++row) {
      costs.push_back(costs.back() + (split(row) ? 0 : length(row) + shape_.row_cost));
      const RowClass row_class = length(row) == 0                   ? RowClass::empty
                                 : length(row) <= 4                 ? RowClass::short_row
                                 : length(row) <= shape_.piece_most ? RowClass::medium
                                                                    : RowClass::long_row;
      ++wanted_.class_rows[static_cast<int>(row_class)];
      wanted_.class_entries[static_cast<int>(row_class)] += length(row);
    }
    const auto quotient = [&](std::int64_t row) { return costs[row] / shape_.window_cost; };
    for (std::int64_t row = 0; row < a_.rows; ++row) {
      if (split(row)) {
        split_row(row);
      } else if (row == 0 || split(row - 1) ||
                 (row % shape_.granule == 0 && quotient(row) != quotient(row - shape_.granule))) {
        append(row, a_.row_offsets[row], -1);
      } else {
        require(++rows_.back() <= std::numeric_limits<std::uint16_t>::max(), "row ", row,
                " is the ", rows_.back(), "th of its window");
      }
    }
    for (std::size_t i = 0; i < windows_.size(); ++i)
      windows_[i].rows = static_cast<std::uint16_t>(rows_[i]);
    wanted_.windows = static_cast<std::int64_t>(windows_.size());
    wanted_.split_rows = static_cast<std::int64_t>(split_rows_.size());
  }

  void split_row(std::int64_t row) {
    for (std::int64_t entry = 0; entry < length(row); entry += shape_.window_cost)
      append(row, a_.row_offsets[row] + entry, static_cast<std::int32_t>(wanted_.partials++));
    split_rows_.push_back(static_cast<std::int32_t>(row));
    split_starts_.push_back(wanted_.partials);
  }

  void append(std::int64_t row, std::int64_t entry, std::int32_t partial) {
    Window window{};
    window.first_row = static_cast<std::int32_t>(row);
    window.first_entry = entry;
    window.partial = partial;
    window.split = partial < 0 ? -1 : static_cast<std::int32_t>(split_rows_.size());
    windows_.push_back(window);
    rows_.push_back(1);
  }

  /// The slices that a window wants, in slices_.
  void derive(const Window& window) {
    std::vector<WantedPiece> pieces;
    bool cut = window.partial >= 0;
    for (std::int64_t row = window.first_row; row < window.first_row + window.rows; ++row) {
      const std::int64_t entry = std::max(a_.row_offsets[row], window.first_entry);
      std::int64_t entries = a_.row_offsets[row + 1] - entry;
      if (window.partial >= 0) entries = std::min<std::int64_t>(entries, shape_.window_cost);
      cut = cut || length(row) > shape_.piece_most;
      const std::int64_t n = aligned(entries, shape_.piece_most) / shape_.piece_most;
      const std::int64_t rest = entries % shape_.piece_most;
      const std::int64_t full = rest == 0 ? n : n - 1;
      for (std::int64_t p = 0; p < n; ++p) {
        WantedPiece& piece = pieces.emplace_back();
        piece.first = p < full ? entry + p : entry + entries - rest;
        piece.stride = p < full ? full : 1;
        piece.row = row;
        piece.length = static_cast<int>(p < full ? shape_.piece_most : rest);
        piece.number = static_cast<int>(p);
        piece.cell = static_cast<int>(row - window.first_row);
      }
    }
    if (cut) {
      for (std::size_t i = 0; i < pieces.size(); ++i)
        pieces[i].cell = static_cast<int>(i);
    }
    cut_ = cut;
    cells_ = cut ? static_cast<std::int64_t>(pieces.size()) : window.rows;
    std::stable_sort(pieces.begin(), pieces.end(),
                     [](const WantedPiece& a, const WantedPiece& b) { return a.stands_before(b); });
    slices_.clear();
    const std::size_t most = static_cast<std::size_t>(32) * shape_.lane_pieces;
    for (std::size_t first = 0; first < pieces.size();) {
      const std::size_t left = pieces.size() - first;
      const std::size_t wide = std::min(most, left);
      const int depth = pieces[first].length;
      std::size_t alike = 1;
      while (alike < wide && pieces[first + alike].length == depth)
        ++alike;
      const std::size_t sure = wide * pieces[first + wide - 1].length;  // of the slots, entries
      std::size_t width = std::min<std::size_t>(32, left);
      if (most > 32 && left > 32) {
        if (shape_.wide_fill < 100 && 4 * alike >= 3 * most) {
          width = alike == left ? left : alike - alike % 4;
        } else if (100 * sure >= most * depth * shape_.wide_fill) {
          width = wide;
        }
      }
      WantedSlice& slice = slices_.emplace_back();
      slice.first_piece = static_cast<std::int64_t>(first);
      slice.lane_pieces = width > 32 ? shape_.lane_pieces : 1;
      slice.pieces.assign(pieces.begin() + static_cast<std::ptrdiff_t>(first),
                          pieces.begin() + static_cast<std::ptrdiff_t>(first + width));
      derive_steps(slice);
      first += width;
    }
    derive_columns(window.partial >= 0);
  }

  /// Entries of a slice that step `step` has: of its first pieces.
  static std::int64_t active(const WantedSlice& slice, int step) {
    return std::count_if(slice.pieces.begin(), slice.pieces.end(),
                         [&](const WantedPiece& piece) { return piece.length > step; });
  }

  static void derive_steps(WantedSlice& slice) {
    std::int64_t slot = 0;
    for (int step = 0; step < slice.depth(); ++step) {
      slice.steps.push_back(slot);
      slot += slice.lane_pieces > 1 ? 32 * slice.lane_pieces : active(slice, step);
    }
    slice.entry_slots = slot;
    slice.slots = aligned(slot, kSlotUnit);
  }

  static std::int64_t slot(const WantedSlice& slice, int step, int i) {
    return slice.steps[step] + i % 32 * slice.lane_pieces + i / 32;
  }

  std::int64_t column(const WantedPiece& piece, int step) const {
    return std::int64_t{a_.columns[piece.entry(step)]} - a_.index_base;
  }

  /// Calls visit(step, i) for each entry of the slice.
  template <class Visit>
  static void for_each_entry(const WantedSlice& slice, Visit visit) {
    for (int i = 0; i < slice.width(); ++i) {
      for (int step = 0; step < slice.pieces[i].length; ++step)
        visit(step, i);
    }
  }

  /// Columns of the slices that do not repeat a piece: staged, if that is worth it, or one by one.
  /// `part`: of a split row, the last of which has room in proportion to its entries.
  void derive_columns(bool part) {
    std::vector<WantedSlice*> others;
    std::int64_t entries = 0;
    std::int64_t entries_of_others = 0;
    std::int64_t first = std::numeric_limits<std::int64_t>::max();
    std::int64_t last = -1;
    for (WantedSlice& slice : slices_) {
      for_each_entry(slice, [&](int step, int i) {
        first = std::min(first, column(slice.pieces[i], step));
        last = std::max(last, column(slice.pieces[i], step));
        ++entries;
      });
      if (derive_diagonal(slice) || derive_shared(slice)) continue;
      others.push_back(&slice);
      for (const WantedPiece& piece : slice.pieces)
        entries_of_others += piece.length;
    }
    const std::int64_t span = last - first + 1;
    const std::int64_t room =
        part ? shape_.stage_most * entries / shape_.window_cost : shape_.stage_most;
    const bool stages = last >= 0 && span <= room && 8 * entries_of_others >= span &&
                        2 * entries_of_others >= entries;
    first_column_ = stages ? first : 0;
    columns_ = stages ? span : 0;
    for (WantedSlice* slice : others)
      stages                 ? put_columns(*slice, IndexKind::staged, 2)
      : hot_columns_.empty() ? derive_offsets(*slice)
                             : put_columns(*slice, IndexKind::absolute, 4);
  }

  void derive_offsets(WantedSlice& slice) const {
    std::vector<std::int64_t> least(static_cast<std::size_t>(slice.depth()),
                                    std::numeric_limits<std::int64_t>::max());
    std::int64_t widest = 0;  // offset from the least column of a step
    for_each_entry(slice, [&](int step, int i) {
      least[step] = std::min(least[step], column(slice.pieces[i], step));
    });
    for_each_entry(slice, [&](int step, int i) {
      widest = std::max(widest, column(slice.pieces[i], step) - least[step]);
    });
    if (widest >= 65536) return put_columns(slice, IndexKind::absolute, 4);
    for (const std::int64_t base : least)
      slice.bases.push_back(static_cast<std::uint32_t>(base));
    const bool narrow = widest < 256;
    put_columns(slice, narrow ? IndexKind::offset8 : IndexKind::offset16, narrow ? 1 : 2);
  }

  /// A number of `bytes` bytes for each slot, that leads to its column.
  void put_columns(WantedSlice& slice, IndexKind kind, int bytes) const {
    slice.kind = kind;
    slice.indices.resize(slice.entry_slots * bytes);
    for_each_entry(slice, [&](int step, int i) {
      const std::int64_t own = column(slice.pieces[i], step);
      const std::int64_t index = kind == IndexKind::staged     ? own - first_column_
                                 : kind == IndexKind::absolute ? absolute_index(own)
                                                               : own - slice.bases[step];
      put(slice, slot(slice, step, i) * bytes, bytes, index);
    });
    pad(slice);
  }

  /// The column or, with bit 31, the place of a hot one.
  std::int64_t absolute_index(std::int64_t column) const {
    const auto hot = std::lower_bound(hot_columns_.begin(), hot_columns_.end(), column);
    if (hot == hot_columns_.end() || *hot != column) return column;
    return (std::int64_t{1} << 31) + (hot - hot_columns_.begin());
  }

  /// Piece i is piece 0, i columns on, in a wide slice that lacks no piece.
  bool derive_diagonal(WantedSlice& slice) const {
    const int width = slice.width();
    bool holds = slice.lane_pieces > 1 && slice.depth() > 1 && width == 32 * slice.lane_pieces &&
                 hot_columns_.empty();
    for_each_entry(slice, [&](int step, int i) {
      holds = holds && column(slice.pieces[i], step) == column(slice.pieces[0], step) + i;
    });
    if (!holds) return false;
    slice.kind = IndexKind::diagonal;
    for (int step = 0; step < slice.depth(); ++step)
      slice.bases.push_back(static_cast<std::uint32_t>(column(slice.pieces[0], step)));
    pad(slice);
    return true;
  }

  bool derive_shared(WantedSlice& slice) const {
    if (slice.width() < 2 || slice.depth() < 2) return false;
    std::int64_t least = column(slice.pieces[0], 0);
    for (const WantedPiece& piece : slice.pieces)
      least = std::min(least, column(piece, 0));
    const auto offset = [&](int i) { return column(slice.pieces[i], 0) - least; };
    const auto base = [&](int step) { return column(slice.pieces[0], step) - offset(0); };
    bool holds = true;
    for_each_entry(slice, [&](int step, int i) {
      holds = holds && offset(i) < 65536 && column(slice.pieces[i], step) == base(step) + offset(i);
    });
    if (!holds) return false;
    slice.kind = IndexKind::shared;
    for (int step = 0; step < slice.depth(); ++step)
      slice.bases.push_back(static_cast<std::uint32_t>(base(step)));
    slice.indices.resize(2 * slice.pieces.size());
    for (int i = 0; i < slice.width(); ++i)
      put(slice, std::int64_t{2} * i, 2, offset(i));
    pad(slice);
    return true;
  }

  /// The bytes of `index` from byte `at` on, little-endian.
  static void put(WantedSlice& slice, std::int64_t at, int bytes, std::int64_t index) {
    for (int i = 0; i < bytes; ++i)
      slice.indices[at + i] = static_cast<std::uint8_t>(index >> (8 * i));
  }

  static void pad(WantedSlice& slice) {
    slice.indices.resize(aligned(std::ssize(slice.indices), kIndexUnit));
    slice.bases.resize(aligned(std::ssize(slice.bases), kBaseUnit));
  }

  /// Completes a window, and adds what it holds to the header that is wanted.
  void measure(Window& window) {
    derive(window);
    require(cells_ <= kCellsLimit, "the window of row ", window.first_row, " has ", cells_,
            " cells, more than ", kCellsLimit);
    bool empty = false;
    for (std::int64_t row = window.first_row; row < window.first_row + window.rows; ++row)
      empty = empty || length(row) == 0;
    window.first_slot = wanted_.slots;
    window.first_index = wanted_.index_units;
    window.first_base = wanted_.bases;
    window.first_column = static_cast<std::int32_t>(first_column_);
    window.columns = static_cast<std::int32_t>(columns_);
    window.slices = static_cast<std::uint16_t>(slices_.size());
    bool told = false;
    int breaks = 0;
    int next_cell = slices_.empty() ? 0 : slices_[0].pieces[0].cell;
    std::int64_t pieces = 0;
    std::int64_t slots = 0;
    for (const WantedSlice& slice : slices_) {
      pieces += slice.width();
      slots += slice.slots;
      wanted_.index_units += std::ssize(slice.indices) / kIndexUnit;
      wanted_.bases += std::ssize(slice.bases);
      told = told || slice.listed() || slice.depth() != slice.shortest();
      for (const WantedPiece& piece : slice.pieces) {
        wanted_.kind_entries[static_cast<int>(slice.kind)] += piece.length;
        if (piece.cell != next_cell) ++breaks;
        next_cell = piece.cell + 1;
      }
    }
    wanted_.slots += aligned(slots, kWindowSlotAlign);
    window.pieces = static_cast<std::uint16_t>(pieces);
    window.first_piece = told ? wanted_.pieces_told : -1;
    wanted_.pieces_told += told ? aligned(pieces, 4) : 0;
    const bool row_cells = cut_ && window.partial < 0;
    window.first_row_cell = row_cells ? wanted_.row_cells : -1;
    wanted_.row_cells += row_cells ? window.rows + 1 : 0;
    window.direct = !cut_ && !empty && 8 * breaks <= pieces ? 1 : 0;
    window.gaps = !cut_ && empty ? 1 : 0;
    wanted_.slices_most = std::max(wanted_.slices_most, static_cast<std::int32_t>(slices_.size()));
    if (window.direct == 0)
      wanted_.cells_most = std::max(wanted_.cells_most, static_cast<std::int32_t>(cells_));
    wanted_.columns_most = std::max(wanted_.columns_most, window.columns);
  }

  /// Of few slices a window, none wide, each has 32 entries of lengths and cells, if any has one.
  void tell_each_slice() {
    if (shape_.lane_pieces > 1 || wanted_.slices_most > 8 || wanted_.pieces_told == 0) return;
    told_of_window_ = std::int64_t{32} * wanted_.slices_most;
    for (std::size_t i = 0; i < windows_.size(); ++i)
      windows_[i].first_piece = static_cast<std::int64_t>(i) * told_of_window_;
    wanted_.pieces_told = std::ssize(windows_) * told_of_window_;
  }

  // What the packed matrix has.

  void check_header() const {
    require_equal(h_.slices_most, wanted_.slices_most, "the header's slices_most");
    require_equal(h_.cells_most, wanted_.cells_most, "the header's cells_most");
    require_equal(h_.columns_most, wanted_.columns_most, "the header's columns_most");
    require_equal(h_.windows, wanted_.windows, "the header's windows");
    require_equal(h_.slots, wanted_.slots, "the header's slots");
    require_equal(h_.index_units, wanted_.index_units, "the header's index_units");
    require_equal(h_.bases, wanted_.bases, "the header's bases");
    require_equal(h_.pieces_told, wanted_.pieces_told, "the header's pieces_told");
    require_equal(h_.row_cells, wanted_.row_cells, "the header's row_cells");
    require_equal(h_.split_rows, wanted_.split_rows, "the header's split_rows");
    require_equal(h_.partials, wanted_.partials, "the header's partials");
    require_equal(h_.hot, wanted_.hot, "the header's hot");
    require_equal(h_.hot_sampled, wanted_.hot_sampled, "the header's hot_sampled");
    for (int i = 0; i < kRowClasses; ++i) {
      require_equal(h_.class_rows[i], wanted_.class_rows[i], "the header's class_rows[", i, "]");
      require_equal(h_.class_entries[i], wanted_.class_entries[i], "the header's class_entries[", i,
                    "]");
    }
    for (int i = 0; i < kIndexKinds; ++i) {
      require_equal(h_.kind_entries[i], wanted_.kind_entries[i], "the header's kind_entries[", i,
                    "]");
    }
  }

  void check_window(std::int64_t number) {
    const Window& is = p_.windows[number];
    const Window& wanted = windows_[number];
    const auto field = [&](std::int64_t a, std::int64_t b, const char* name) {
      require_equal(a, b, name, " of window ", number);
    };
    field(is.first_entry, wanted.first_entry, "first_entry");
    field(is.first_slot, wanted.first_slot, "first_slot");
    field(is.first_index, wanted.first_index, "first_index");
    field(is.first_base, wanted.first_base, "first_base");
    field(is.first_piece, wanted.first_piece, "first_piece");
    field(is.first_row_cell, wanted.first_row_cell, "first_row_cell");
    field(is.first_row, wanted.first_row, "first_row");
    field(is.rows, wanted.rows, "rows");
    field(is.pieces, wanted.pieces, "pieces");
    field(is.partial, wanted.partial, "partial");
    field(is.split, wanted.split, "split");
    field(is.direct, wanted.direct, "direct");
    field(is.gaps, wanted.gaps, "gaps");
    field(is.first_column, wanted.first_column, "first_column");
    field(is.columns, wanted.columns, "columns");
    field(is.slices, wanted.slices, "slices");
    for (const std::uint8_t byte : is.unused)
      field(byte, 0, "an unused byte");
    derive(wanted);
    Place place{
        number, 0, wanted.first_slot, wanted.first_index, wanted.first_base, wanted.first_piece};
    for (const WantedSlice& slice : slices_) {
      check_slice(wanted, place, slice);
      check_slots(place, slice);
      check_columns(place, slice);
      if (wanted.first_piece >= 0) check_pieces(place, slice);
      ++place.slice;
      place.slot += slice.slots;
      place.unit += std::ssize(slice.indices) / kIndexUnit;
      place.base += std::ssize(slice.bases);
      place.piece += slice.width();
    }
    check_rest(place);
    if (wanted.first_row_cell >= 0) check_row_cells(wanted, number);
  }

  void check_slice(const Window& window, const Place& place, const WantedSlice& wanted) const {
    const Slice& is = p_.slices[place.window * h_.slices_most + place.slice];
    const auto field = [&](std::int64_t a, std::int64_t b, const char* name) {
      require_equal(a, b, name, " of ", place);
    };
    field(is.first_slot, (place.slot - window.first_slot) / kSlotUnit, "first_slot");
    field(is.first_index, place.unit - window.first_index, "first_index");
    field(is.first_base, (place.base - window.first_base) / kBaseUnit, "first_base");
    field(is.first_piece, wanted.first_piece, "first_piece");
    field(is.width, wanted.width(), "width");
    field(is.unused, 0, "the unused byte");
    field(is.first_cell, wanted.listed() ? 0 : wanted.pieces[0].cell, "first_cell");
    field(is.depth, wanted.depth(), "depth");
    field(is.shortest, wanted.shortest(), "shortest");
    field(static_cast<int>(is.kind), static_cast<int>(wanted.kind), "kind");
    field(is.listed, wanted.listed() ? 1 : 0, "listed");
  }

  void check_slots(const Place& place, const WantedSlice& wanted) const {
    std::vector<bool> used(static_cast<std::size_t>(wanted.slots), false);
    for_each_entry(wanted, [&](int step, int i) {
      const WantedPiece& piece = wanted.pieces[i];
      const std::int64_t own = slot(wanted, step, i);
      const T is = p_.values[place.slot + own];
      const T entry = a_.values[piece.entry(step)];
      require(same_bits(is, entry), "slot ", own, " of ", place, " has value ", is, ", entry ",
              piece.entry(step), " in row ", piece.row, " has ", entry);
      used[own] = true;
    });
    for (std::int64_t own = 0; own < wanted.slots; ++own) {
      if (!used[own]) check_unused_slot(place.slot + own);
    }
  }

  void check_unused_slot(std::int64_t number) const {
    require(same_bits(p_.values[number], T{}), "slot ", number, " belongs to no entry, but is ",
            p_.values[number]);
  }

  void check_columns(const Place& place, const WantedSlice& wanted) const {
    for (std::int64_t i = 0; i < std::ssize(wanted.bases); ++i)
      require_equal(p_.bases[place.base + i], wanted.bases[i], "base ", i, " of ", place);
    for (std::int64_t i = 0; i < std::ssize(wanted.indices); ++i) {
      require_equal(p_.indices[place.unit * kIndexUnit + i], wanted.indices[i], "byte ", i,
                    " of the indices of ", place);
    }
  }

  void check_pieces(const Place& place, const WantedSlice& wanted) const {
    const bool differ = wanted.depth() != wanted.shortest();
    for (int i = 0; i < wanted.width(); ++i) {
      const WantedPiece& piece = wanted.pieces[i];
      require_equal(p_.lengths[place.piece + i], differ ? piece.length : 0, "length ", i, " of ",
                    place);
      require_equal(p_.cells[place.piece + i], wanted.listed() ? piece.cell : 0, "cell ", i, " of ",
                    place);
    }
  }

  /// Slots, pieces and slices of a window beyond its own are zero; `end` is where its own end.
  void check_rest(const Place& end) const {
    const std::int64_t next = end.window + 1;
    const std::int64_t told = windows_[end.window].first_piece;
    const std::int64_t own = end.piece - told;
    const std::int64_t all = told_of_window_ > 0 ? told_of_window_ : aligned(own, 4);
    for (std::int64_t i = end.piece; told >= 0 && i < told + all; ++i) {
      require_equal(p_.lengths[i], 0, "length ", i, ", which belongs to no piece,");
      require_equal(p_.cells[i], 0, "cell ", i, ", which belongs to no piece,");
    }
    const std::int64_t last = next < h_.windows ? windows_[next].first_slot : h_.slots;
    for (std::int64_t slot = end.slot; slot < last; ++slot)
      check_unused_slot(slot);
    for (std::int64_t i = end.slice; i < h_.slices_most; ++i) {
      require(same_bits(p_.slices[end.window * h_.slices_most + i], Slice{}), "slice ", i,
              " of window ", end.window, ", which has ", end.slice, ", is not zero");
    }
  }

  void check_row_cells(const Window& window, std::int64_t number) const {
    std::int64_t cell = 0;
    for (std::int64_t i = 0; i <= window.rows; ++i) {
      require_equal(p_.row_cells[window.first_row_cell + i], cell, "first cell of row ", i,
                    " of window ", number);
      if (i < window.rows) {
        cell += aligned(length(window.first_row + i), shape_.piece_most) / shape_.piece_most;
      }
    }
  }

  void check_splits() const {
    for (std::int64_t i = 0; i < h_.split_rows; ++i)
      require_equal(p_.split_rows[i], split_rows_[i], "split row ", i);
    for (std::int64_t i = 0; i <= h_.split_rows; ++i)
      require_equal(p_.split_starts[i], split_starts_[i], "first partial sum of split row ", i);
  }

  /// By the share of rows, or of the split row's windows, that stand before a window.
  void check_order() const {
    std::vector<std::vector<std::int64_t>> bands(shape_.bands);
    std::int64_t begin = 0;  // of the split row's windows
    for (std::int64_t number = 0; number < h_.windows; ++number) {
      const Window& window = windows_[number];
      if (window.partial < 0) {
        bands[window.first_row * std::int64_t{shape_.bands} / h_.rows].push_back(number);
        continue;
      }
      if (window.first_entry == a_.row_offsets[window.first_row]) begin = number;
      const std::int64_t parts =
          aligned(length(window.first_row), shape_.window_cost) / shape_.window_cost;
      bands[(number - begin) * shape_.bands / parts].push_back(number);
    }
    std::int64_t place = 0;
    for (const std::vector<std::int64_t>& band : bands) {
      for (const std::int64_t number : band) {
        require_equal(p_.order[place], number, "window ", place, " in order");
        ++place;
      }
    }
  }

  void check_hot_columns() const {
    for (std::int64_t i = 0; i < h_.hot; ++i)
      require_equal(p_.hot_columns[i], hot_columns_[i], "hot column ", i);
  }

  const PackedView<T>& p_;
  const PackedHeader& h_;
  const Shape& shape_;
  const Csr<T>& a_;
  PackedHeader wanted_;
  std::vector<Window> windows_;
  std::vector<std::int64_t> rows_;  // of each window
  std::vector<std::int32_t> split_rows_;
  std::vector<std::int64_t> split_starts_ = {0};
  std::vector<std::int64_t> hot_columns_;
  std::int64_t told_of_window_ = 0;  // lengths and cells, where all windows have as many
  // Of the window derived last.
  std::vector<WantedSlice> slices_;
  bool cut_ = false;  // a row is
  std::int64_t cells_ = 0;
  std::int64_t first_column_ = 0;  // of those that it stages
  std::int64_t columns_ = 0;
};

}  // namespace

template <class T>
std::string check_packed(const PackedView<T>& packed, const Csr<T>& a) {
  return testing::first_violation([&] { PackedCheck<T>(packed, a).run(); });
}

#define LANKY_INSTANTIATE(T) template std::string check_packed(const PackedView<T>&, const Csr<T>&);
LANKY_FOR_EACH_ELEMENT(LANKY_INSTANTIATE)
#undef LANKY_INSTANTIATE

}  // namespace lanky::sparse
