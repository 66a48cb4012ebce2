#include "sparse/check_packed.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>

#include "core/text.hpp"

namespace lanky::sparse {

namespace {

/// Thrown inside the checker only: the first violation.
struct Violation {
  std::string text;
};

template <class... Parts>
void require(bool kept, const Parts&... parts) {
  if (!kept) throw Violation{concat(parts...)};
}

/// Equal bits: 0 and -0 differ, a NaN is equal to itself.
template <class T>
bool same_bits(T a, T b) {
  using Bytes = std::array<std::byte, sizeof(T)>;
  return std::bit_cast<Bytes>(a) == std::bit_cast<Bytes>(b);
}

template <class T>
class PackedCheck {
 public:
  PackedCheck(const PackedView<T>& packed, const HostCsr<T>& a)
      : p_(packed),
        h_(packed.header),
        a_(a),
        placed_(static_cast<std::size_t>(a.rows), false),
        visited_(static_cast<std::size_t>(packed.header.tiles * kTileSlots<T>), false) {}

  void run() {
    check_counts();
    check_tile_ranges();
    check_long();
    check_medium();
    check_short();
    for (std::int64_t i = 0; i < h_.empty_rows; ++i) {
      begin_row(p_.empty_rows[i], 0, 0, "empty");
    }
    check_complete();
  }

 private:
  void check_counts() const {
    require(h_.rows == a_.rows && h_.cols == a_.cols && h_.nnz == a_.nnz(), "the header tells ",
            h_.rows, " x ", h_.cols, " with ", h_.nnz, " entries, the matrix is ", a_.rows, " x ",
            a_.cols, " with ", a_.nnz());
    require(h_.long_rows + h_.medium_rows + h_.short_rows + h_.empty_rows == h_.rows,
            "the classes hold ", h_.long_rows, " + ", h_.medium_rows, " + ", h_.short_rows, " + ",
            h_.empty_rows, " rows, the matrix ", h_.rows);
    require(h_.long_entries + h_.medium_entries + h_.short_entries == h_.nnz,
            "the classes count other entries than the matrix's ", h_.nnz);
    require(h_.blocks == (h_.medium_rows + kTileRows - 1) / kTileRows, h_.blocks, " blocks for ",
            h_.medium_rows, " medium rows");
    require(h_.split_rows <= h_.long_rows && h_.split_pieces <= h_.pieces &&
                h_.pieces - h_.split_pieces == h_.long_rows - h_.split_rows,
            h_.pieces, " pieces, ", h_.split_pieces, " of them split, for ", h_.long_rows,
            " long rows, ", h_.split_rows, " of them split");
  }

  /// Classes cover the tiles without gap or overlap, in the order long, medium, short.
  void check_tile_ranges() const {
    require(p_.piece_tiles[0] == 0, "pieces start at tile ", p_.piece_tiles[0]);
    for (std::int64_t i = 0; i < h_.pieces; ++i) {
      const std::int64_t tiles = p_.piece_tiles[i + 1] - p_.piece_tiles[i];
      require(tiles > 0 && tiles <= kPieceTiles<T>, "piece ", i, " has ", tiles, " tiles");
    }
    require(p_.split_starts[0] == 0 && p_.split_starts[h_.split_rows] == h_.split_pieces,
            "split rows have pieces ", p_.split_starts[0], " to ", p_.split_starts[h_.split_rows],
            ", not 0 to ", h_.split_pieces);
    for (std::int64_t i = 0; i < h_.split_rows; ++i) {
      const std::int64_t pieces = p_.split_starts[i + 1] - p_.split_starts[i];
      require(pieces > 1, "split row ", i, " has ", pieces, " pieces");
      for (std::int64_t p = p_.split_starts[i]; p + 1 < p_.split_starts[i + 1]; ++p) {
        const std::int64_t tiles = p_.piece_tiles[p + 1] - p_.piece_tiles[p];
        require(tiles == kPieceTiles<T>, "piece ", p, ", not the last of its row, has ", tiles,
                " tiles");
      }
    }
    require(p_.block_tiles[0] == p_.piece_tiles[h_.pieces], "blocks start at tile ",
            p_.block_tiles[0], ", pieces end at ", p_.piece_tiles[h_.pieces]);
    for (std::int64_t i = 0; i < h_.blocks; ++i) {
      require(p_.block_tiles[i] < p_.block_tiles[i + 1], "block ", i, " is tiles ",
              p_.block_tiles[i], " to ", p_.block_tiles[i + 1]);
    }
    std::int64_t tile = p_.block_tiles[h_.blocks];
    std::int64_t row = 0;
    for (int length = 1; length <= kShortMost; ++length) {
      const ShortGroup& group = h_.short_groups[length - 1];
      require(group.tiles >= 0 && group.first_tile == tile && group.first_row == row,
              "short group ", length, " starts at tile ", group.first_tile, " and row place ",
              group.first_row, ", not at ", tile, " and ", row);
      tile += group.tiles;
      row += group.tiles * short_rows_per_tile<T>(length);
    }
    require(tile == h_.tiles, "the classes end at tile ", tile, ", the header tells ", h_.tiles);
  }

  /// Takes note of `row`, which must be of a class of rows of `least` .. `most` entries.
  void begin_row(std::int32_t row, std::int64_t least, std::int64_t most, const char* name) {
    require(row >= 0 && row < a_.rows, name, " row number ", row, " of ", a_.rows);
    require(!placed_[row], "row ", row, " is placed twice");
    placed_[row] = true;
    const std::int64_t length = a_.row_offsets[row + 1] - a_.row_offsets[row];
    require(length >= least && length <= most, "row ", row, " has ", length, " entries, but is ",
            name);
    row_ = row;
    next_ = a_.row_offsets[row];
  }

  /// Slots of the row begun, in order: its next entries, then padding.
  void take_slots(std::int64_t slot, std::int64_t count) {
    for (const std::int64_t end = slot + count; slot < end; ++slot) {
      require(!visited_[slot], "slot ", slot, " belongs to two rows");
      visited_[slot] = true;
      if (next_ == a_.row_offsets[row_ + 1]) {
        check_padding(slot);
        continue;
      }
      const std::int32_t column = a_.columns[next_] - a_.index_base;
      require(p_.columns[slot] == column, "slot ", slot, " has column ", p_.columns[slot],
              ", entry ", next_, " of row ", row_, " has ", column);
      require(same_bits(p_.values[slot], a_.values[next_]), "slot ", slot, " has value ",
              p_.values[slot], ", entry ", next_, " of row ", row_, " has ", a_.values[next_]);
      ++next_;
    }
  }

  void check_padding(std::int64_t slot) const {
    require(p_.columns[slot] == -1, "padding slot ", slot, " has column ", p_.columns[slot]);
    require(same_bits(p_.values[slot], T{}), "padding slot ", slot, " has value ", p_.values[slot]);
  }

  void end_row() const {
    require(next_ == a_.row_offsets[row_ + 1], "row ", row_, " lacks its entries from ", next_,
            " on");
  }

  void check_long() {
    std::int64_t piece = 0;
    for (std::int64_t i = 0; i < h_.long_rows; ++i) {
      begin_row(p_.long_rows[i], kLongLeast, h_.nnz, "long");
      const std::int64_t end = i < h_.split_rows ? p_.split_starts[i + 1] : piece + 1;
      const std::int64_t first_tile = p_.piece_tiles[piece];
      take_slots(first_tile * kTileSlots<T>, (p_.piece_tiles[end] - first_tile) * kTileSlots<T>);
      piece = end;
      end_row();
    }
  }

  void check_medium() {
    for (std::int64_t i = 0; i < h_.blocks * kTileRows; ++i) {
      if (p_.medium_rows[i] < 0) continue;  // its slots stay unvisited: padding
      begin_row(p_.medium_rows[i], kShortMost + 1, kLongLeast - 1, "medium");
      const std::int64_t block = i / kTileRows;
      for (std::int64_t t = p_.block_tiles[block]; t < p_.block_tiles[block + 1]; ++t) {
        take_slots((t * kTileRows + i % kTileRows) * kDepth<T>, kDepth<T>);
      }
      end_row();
    }
  }

  void check_short() {
    for (int length = 1; length <= kShortMost; ++length) {
      const ShortGroup& group = h_.short_groups[length - 1];
      const std::int32_t* row = p_.short_rows + group.first_row;
      std::int64_t slot = group.first_tile * kTileSlots<T>;
      const std::int64_t end = slot + group.tiles * kTileSlots<T>;
      for (; slot < end; slot += kQuad) {
        for (int begin = 0; begin < kQuad; begin += length, ++row) {
          if (*row < 0) continue;
          const int places = std::min(length, kQuad - begin);
          begin_row(*row, 1, places, "short");
          take_slots(slot + begin, places);
          end_row();
        }
      }
    }
  }

  void check_complete() const {
    for (std::int64_t row = 0; row < a_.rows; ++row) {
      require(placed_[row], "row ", row, " has no place");
    }
    for (std::int64_t slot = 0; slot < h_.tiles * kTileSlots<T>; ++slot) {
      if (!visited_[slot]) check_padding(slot);
    }
  }

  const PackedView<T>& p_;
  const PackedHeader& h_;
  const HostCsr<T>& a_;
  std::vector<bool> placed_;   // [rows]
  std::vector<bool> visited_;  // [tiles * kTileSlots]
  std::int64_t row_ = 0;       // the row begun
  std::int64_t next_ = 0;      // and its next CSR entry
};

}  // namespace

template <class T>
std::string check_packed(const PackedView<T>& packed, const HostCsr<T>& a) {
  try {
    PackedCheck<T>(packed, a).run();
  } catch (const Violation& violation) {
    return violation.text;
  }
  return "";
}

template std::string check_packed(const PackedView<double>&, const HostCsr<double>&);
template std::string check_packed(const PackedView<float>&, const HostCsr<float>&);
template std::string check_packed(const PackedView<half>&, const HostCsr<half>&);
template std::string check_packed(const PackedView<bfloat16>&, const HostCsr<bfloat16>&);

}  // namespace lanky::sparse
