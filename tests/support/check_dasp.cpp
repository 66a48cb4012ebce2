// The contract of DaspPattern, from its words alone: each slot has the entry that the lists of rows
// say, each entry and each row stand in one place, and rows are in the class of their length.
#include <algorithm>
#include <array>
#include <functional>

#include "support/dasp_oracle.hpp"
#include "support/violation.hpp"

namespace lanky::ladder {

namespace {

using testing::require;

class DaspCheck {
 public:
  DaspCheck(const DaspPattern& dasp, const CsrPattern& a)
      : dasp_(dasp), a_(a), width_(dasp.tile_width), seen_(static_cast<std::size_t>(a.rows), 0) {}

  void run() {
    require(width_ == 4 || width_ == 8, "tile width ", width_);
    require(dasp_.rows == a_.rows && dasp_.cols == a_.cols && dasp_.nnz == a_.nnz,
            "extents are not those of the matrix");
    require(
        !dasp_.medium_tiles.empty() && !dasp_.long_groups.empty() && !dasp_.tail_offsets.empty(),
        "an array of offsets is empty");
    check_long_rows();
    check_medium_rows();
    check_short_rows();
    require(next_ == static_cast<std::int64_t>(dasp_.columns.size()) &&
                next_ == static_cast<std::int64_t>(dasp_.sources.size()),
            "of ", dasp_.columns.size(), " slots and loose entries rows account for ", next_);
    for (std::int64_t row = 0; row < a_.rows; ++row)
      require(seen_[static_cast<std::size_t>(row)] == 1, "row ", row, " stands in ",
              seen_[static_cast<std::size_t>(row)], " places");
    require(entries_ == a_.nnz, "of ", a_.nnz, " entries ", entries_, " are there");
  }

 private:
  template <class Array>
  static std::int64_t size(const Array& array) {
    return static_cast<std::int64_t>(array.size());
  }

  std::int64_t length(std::int32_t row) const { return row < 0 ? 0 : a_.length(row); }

  void see(std::int32_t row, std::int64_t least, std::int64_t most) {
    require(row >= 0 && row < a_.rows, "there is no row ", row);
    ++seen_[static_cast<std::size_t>(row)];
    require(length(row) >= least && length(row) <= most, "row ", row, " of ", length(row),
            " entries stands among those of ", least, " to ", most);
  }

  /// Slot `slot` holds entry k of `row`, or padding where there is none.
  void expect(std::int64_t slot, std::int32_t row, std::int64_t k) {
    require(slot < size(dasp_.sources) && slot < size(dasp_.columns), "there is no slot ", slot);
    const bool exists = k < length(row);
    const std::int64_t source = exists ? a_.begin(row) + k : -1;
    const std::int32_t column = exists ? a_.column(source) : -1;
    const auto s = static_cast<std::size_t>(slot);
    require(dasp_.sources[s] == source && dasp_.columns[s] == column, "slot ", slot, " has entry ",
            dasp_.sources[s], " in column ", dasp_.columns[s], " instead of ", source, " in ",
            column);
    entries_ += exists ? 1 : 0;
  }

  void check_long_rows() {
    const std::int64_t group = std::int64_t{kDaspGroupTiles} * kDaspTileRows * width_;
    const auto& groups = dasp_.long_groups;
    require(size(groups) == size(dasp_.long_rows) + 1 && groups[0] == 0, "long_groups");
    for (std::int64_t i = 0; i < size(dasp_.long_rows); ++i) {
      const std::int32_t row = dasp_.long_rows[static_cast<std::size_t>(i)];
      see(row, kDaspMediumMost + 1, a_.nnz);
      const std::int64_t first = groups[static_cast<std::size_t>(i)];
      const std::int64_t last = groups[static_cast<std::size_t>(i) + 1];
      require(last > first && (last - first) * group >= length(row) &&
                  (last - first - 1) * group < length(row),
              "long row ", row, " of ", length(row), " entries has ", last - first, " groups");
      for (std::int64_t k = 0; k < (last - first) * group; ++k)
        expect(first * group + k, row, k);
    }
    next_ = groups.back() * group;
  }

  void check_medium_rows() {
    const auto& rows = dasp_.medium_rows;
    const auto& tiles = dasp_.medium_tiles;
    const std::int64_t tile_slots = std::int64_t{kDaspTileRows} * width_;
    const std::int64_t blocks = (size(rows) + kDaspTileRows - 1) / kDaspTileRows;
    require(size(tiles) == blocks + 1 && tiles[0] * tile_slots == next_, "medium_tiles");
    require(size(dasp_.tail_offsets) == size(rows) + 1 && dasp_.tail_offsets[0] == 0,
            "tail_offsets");
    for (std::size_t m = 0; m < rows.size(); ++m) {
      see(rows[m], kDaspShortMost + 1, kDaspMediumMost);
      if (m == 0) continue;
      const std::int64_t before = length(rows[m - 1]);
      const std::int64_t here = length(rows[m]);
      require(before > here || (before == here && rows[m - 1] < rows[m]), "row ", rows[m - 1],
              " stands before row ", rows[m]);
    }
    for (std::int64_t b = 0; b < blocks; ++b)
      check_block(b);
    next_ = tiles.back() * tile_slots;
  }

  /// Tiles and tails of eight medium rows; the threshold holds for each tile, and for no further
  /// one.
  void check_block(std::int64_t b) {
    const std::int64_t first = dasp_.medium_tiles[static_cast<std::size_t>(b)];
    const std::int64_t count = dasp_.medium_tiles[static_cast<std::size_t>(b) + 1] - first;
    const double enough = kDaspFillPercent / 100.0 * kDaspTileRows * width_;
    require(count >= 0, "block ", b, " has ", count, " tiles");
    for (std::int64_t j = 0; j <= count; ++j) {
      std::int64_t fill = 0;
      for (int g = 0; g < kDaspTileRows; ++g) {
        const std::int64_t m = b * kDaspTileRows + g;
        const std::int32_t row =
            m < size(dasp_.medium_rows) ? dasp_.medium_rows[static_cast<std::size_t>(m)] : -1;
        for (std::int64_t k = j * width_; k < (j + 1) * width_; ++k) {
          fill += k < length(row) ? 1 : 0;
          if (j < count)
            expect(((first + j) * kDaspTileRows + g) * width_ + k - j * width_, row, k);
        }
        if (j == count && row >= 0) check_tail(static_cast<std::size_t>(m), row, j * width_);
      }
      require((static_cast<double>(fill) > enough) == (j < count), "tile ", j, " of block ", b,
              " has ", fill, " entries; the block has ", count, " tiles");
    }
  }

  void check_tail(std::size_t m, std::int32_t row, std::int64_t done) {
    const std::int64_t first = dasp_.tail_offsets[m];
    const std::int64_t count = dasp_.tail_offsets[m + 1] - first;
    require(count == std::max<std::int64_t>(0, length(row) - done), "the tail of row ", row,
            " has ", count, " entries");
    for (std::int64_t k = 0; k < count; ++k)
      expect(dasp_.first_loose() + first + k, row, done + k);
  }

  /// Pieced rows of a kind, whose first row has `split` slots (4: the only one).
  void check_kind(std::int64_t pieced, std::int64_t split, std::int64_t first_least,
                  std::int64_t second_most) {
    const std::int64_t per_tile = 2 * width_;
    const std::int64_t whole = (pieced + per_tile - 1) / per_tile * per_tile;
    for (std::int64_t p = 0; p < whole; ++p) {
      const std::int32_t first = take_name();
      const std::int32_t second = split < kDaspShortMost ? take_name() : -1;
      require((first >= 0) == (p < pieced), "pieced row ", p, " of ", pieced, " has row ", first);
      if (first >= 0) see(first, first_least, split);
      if (second >= 0) see(second, second_most, second_most);
      for (std::int64_t k = 0; k < kDaspShortMost; ++k) {
        const bool of_first = k < split;
        expect(next_ + k, of_first ? first : second, of_first ? k : k - split);
      }
      if (split == 1 && p < pieced) require(second >= 0, "row ", first, " of 1 has no row of 3");
      if (split == 2 && p + 1 < pieced) require(second >= 0, "row ", first, " has no other of 2");
      next_ += kDaspShortMost;
    }
  }

  std::int32_t take_name() {
    require(named_ < size(dasp_.pieced_rows), "pieced_rows ends early");
    return dasp_.pieced_rows[static_cast<std::size_t>(named_++)];
  }

  void check_short_rows() {
    std::array<std::int64_t, kDaspShortMost + 1> rows{};
    for (std::int64_t row = 0; row < a_.rows; ++row) {
      if (a_.length(row) <= kDaspShortMost) ++rows[static_cast<std::size_t>(a_.length(row))];
    }
    const std::int64_t pairs = std::min(rows[1], rows[3]);
    require(dasp_.pieced_13 == pairs && dasp_.pieced_22 == (rows[2] + 1) / 2 &&
                dasp_.pieced_4 == rows[4] + rows[3] - pairs && dasp_.single_rows == rows[1] - pairs,
            "pieced rows: ", dasp_.pieced_13, " of 1+3, ", dasp_.pieced_22, " of 2+2, ",
            dasp_.pieced_4, " of 4, and ", dasp_.single_rows, " of 1");
    check_kind(dasp_.pieced_13, 1, 1, 3);
    check_kind(dasp_.pieced_22, 2, 2, 2);
    check_kind(dasp_.pieced_4, 4, 3, 0);
    require(named_ == size(dasp_.pieced_rows), "pieced_rows is too long");
    require(next_ == dasp_.first_loose(), "loose entries begin at ", dasp_.first_loose());
    next_ += dasp_.tail_offsets.back();
    require(size(dasp_.other_rows) == dasp_.single_rows + rows[0], "other_rows has ",
            dasp_.other_rows.size());
    for (std::int64_t i = 0; i < size(dasp_.other_rows); ++i) {
      const std::int32_t row = dasp_.other_rows[static_cast<std::size_t>(i)];
      const std::int64_t entries = i < dasp_.single_rows ? 1 : 0;
      see(row, entries, entries);
      if (entries == 1) expect(next_++, row, 0);
    }
  }

  const DaspPattern& dasp_;
  const CsrPattern& a_;
  int width_;
  std::vector<int> seen_;     // [rows]: places that a row stands in
  std::int64_t entries_ = 0;  // found in their slots
  std::int64_t next_ = 0;     // first slot that is not accounted for
  std::int64_t named_ = 0;    // of pieced_rows
};

}  // namespace

std::string dasp_violation(const DaspPattern& dasp, const CsrPattern& a) {
  return testing::first_violation([&] { DaspCheck(dasp, a).run(); });
}

}  // namespace lanky::ladder
