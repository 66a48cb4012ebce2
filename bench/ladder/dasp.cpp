#include "bench/ladder/dasp.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <lanky/error.hpp>
#include <limits>
#include <utility>

#include "core/text.hpp"

namespace lanky::ladder {

namespace {

class DaspBuilder {
 public:
  DaspBuilder(const CsrPattern& a, int tile_width) : a_(a) {
    dasp_.tile_width = tile_width;
    dasp_.rows = a.rows;
    dasp_.cols = a.cols;
    dasp_.nnz = a.nnz;
  }

  DaspPattern build() {
    classify();
    lay_long_rows();
    lay_medium_rows();
    lay_short_rows();
    dasp_.columns.insert(dasp_.columns.end(), loose_columns_.begin(), loose_columns_.end());
    dasp_.sources.insert(dasp_.sources.end(), loose_sources_.begin(), loose_sources_.end());
    return std::move(dasp_);
  }

 private:
  static constexpr std::int32_t kNone = -1;

  void classify() {
    for (std::int64_t i = 0; i < a_.rows; ++i) {
      const std::int64_t length = a_.length(i);
      const auto row = static_cast<std::int32_t>(i);
      if (length > kDaspMediumMost) {
        dasp_.long_rows.push_back(row);
      } else if (length > kDaspShortMost) {
        dasp_.medium_rows.push_back(row);
      } else {
        short_[static_cast<std::size_t>(length)].push_back(row);
      }
    }
    std::stable_sort(
        dasp_.medium_rows.begin(), dasp_.medium_rows.end(),
        [this](std::int32_t one, std::int32_t other) { return a_.length(one) > a_.length(other); });
  }

  /// Entries [first, first + count) of the row, as far as it has them, then padding.
  void lay(std::int32_t row, std::int64_t first, std::int64_t count) {
    const std::int64_t length = row == kNone ? 0 : a_.length(row);
    for (std::int64_t k = first; k < first + count; ++k) {
      const bool exists = k < length;
      const std::int64_t entry = exists ? a_.begin(row) + k : kNone;
      dasp_.columns.push_back(exists ? a_.column(entry) : kNone);
      dasp_.sources.push_back(static_cast<std::int32_t>(entry));
    }
  }

  void lay_loose(std::int32_t row, std::int64_t first) {
    for (std::int64_t k = first; k < a_.length(row); ++k) {
      const std::int64_t entry = a_.begin(row) + k;
      loose_columns_.push_back(a_.column(entry));
      loose_sources_.push_back(static_cast<std::int32_t>(entry));
    }
  }

  void lay_long_rows() {
    const std::int64_t group = kDaspGroupTiles * dasp_.tile_slots();
    for (const std::int32_t row : dasp_.long_rows) {
      const std::int64_t groups = (a_.length(row) + group - 1) / group;
      lay(row, 0, groups * group);
      dasp_.long_groups.push_back(static_cast<std::int32_t>(dasp_.groups() + groups));
    }
  }

  /// Row g of block b of medium rows; kNone beyond the last.
  std::int32_t medium_row(std::int64_t b, int g) const {
    const auto m = static_cast<std::size_t>(b * kDaspTileRows + g);
    return m < dasp_.medium_rows.size() ? dasp_.medium_rows[m] : kNone;
  }

  /// Entries that tile j of block b would hold.
  std::int64_t fill(std::int64_t b, std::int64_t j) const {
    std::int64_t entries = 0;
    for (int g = 0; g < kDaspTileRows; ++g) {
      const std::int32_t row = medium_row(b, g);
      const std::int64_t left = row == kNone ? 0 : a_.length(row) - j * dasp_.tile_width;
      entries += std::clamp<std::int64_t>(left, 0, dasp_.tile_width);
    }
    return entries;
  }

  void lay_medium_rows() {
    const auto count = static_cast<std::int64_t>(dasp_.medium_rows.size());
    std::int64_t tile = dasp_.groups() * kDaspGroupTiles;
    dasp_.medium_tiles.push_back(static_cast<std::int32_t>(tile));
    for (std::int64_t b = 0; b * kDaspTileRows < count; ++b) {
      std::int64_t j = 0;
      for (; fill(b, j) * 100 > kDaspFillPercent * dasp_.tile_slots(); ++j) {
        for (int g = 0; g < kDaspTileRows; ++g)
          lay(medium_row(b, g), j * dasp_.tile_width, dasp_.tile_width);
      }
      tile += j;
      dasp_.medium_tiles.push_back(static_cast<std::int32_t>(tile));
      for (int g = 0; g < kDaspTileRows; ++g) {
        const std::int32_t row = medium_row(b, g);
        if (row == kNone) break;
        lay_loose(row, j * dasp_.tile_width);
        dasp_.tail_offsets.push_back(static_cast<std::int32_t>(loose_columns_.size()));
      }
    }
  }

  /// A pieced row of two rows, of which the first has `split` slots.
  void lay_pair(std::int32_t first, std::int32_t second, std::int64_t split) {
    lay(first, 0, split);
    lay(second, 0, kDaspShortMost - split);
    dasp_.pieced_rows.push_back(first);
    dasp_.pieced_rows.push_back(second);
  }

  /// Padding up to the next tile; a pieced row names `names` rows.
  void end_kind(std::int64_t pieced, int names) {
    const std::int64_t missing = dasp_.pieced_tiles(pieced) * dasp_.pieced_per_tile() - pieced;
    lay(kNone, 0, missing * kDaspShortMost);
    dasp_.pieced_rows.insert(dasp_.pieced_rows.end(), static_cast<std::size_t>(missing * names),
                             kNone);
  }

  void lay_short_rows() {
    const auto& [empty, ones, twos, threes, fours] = short_;
    const std::size_t pairs = std::min(ones.size(), threes.size());
    for (std::size_t p = 0; p < pairs; ++p)
      lay_pair(ones[p], threes[p], 1);
    dasp_.pieced_13 = static_cast<std::int64_t>(pairs);
    end_kind(dasp_.pieced_13, 2);

    for (std::size_t p = 0; p < twos.size(); p += 2)
      lay_pair(twos[p], p + 1 < twos.size() ? twos[p + 1] : kNone, 2);
    dasp_.pieced_22 = static_cast<std::int64_t>((twos.size() + 1) / 2);
    end_kind(dasp_.pieced_22, 2);

    std::vector<std::int32_t> alone = fours;
    alone.insert(alone.end(), threes.begin() + static_cast<std::ptrdiff_t>(pairs), threes.end());
    for (const std::int32_t row : alone)
      lay(row, 0, kDaspShortMost);
    dasp_.pieced_rows.insert(dasp_.pieced_rows.end(), alone.begin(), alone.end());
    dasp_.pieced_4 = static_cast<std::int64_t>(alone.size());
    end_kind(dasp_.pieced_4, 1);

    dasp_.single_rows = static_cast<std::int64_t>(ones.size() - pairs);
    dasp_.other_rows.assign(ones.begin() + static_cast<std::ptrdiff_t>(pairs), ones.end());
    for (const std::int32_t row : dasp_.other_rows)
      lay_loose(row, 0);
    dasp_.other_rows.insert(dasp_.other_rows.end(), empty.begin(), empty.end());
  }

  const CsrPattern& a_;
  DaspPattern dasp_;
  std::array<std::vector<std::int32_t>, kDaspShortMost + 1> short_;  // rows by length
  std::vector<std::int32_t> loose_columns_;
  std::vector<std::int32_t> loose_sources_;
};

}  // namespace

int dasp_tile_width(DType dtype) {
  if (dtype == DType::f64) return 4;
  if (dtype == DType::f16) return 8;
  throw Error(ErrorCode::unsupported,
              concat("dasp is of f64 and f16, as published; not of ", to_string(dtype)));
}

DaspPattern to_dasp(const CsrPattern& a, int tile_width) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
  if (a.rows > kMost || a.nnz > kMost) {
    throw Error(ErrorCode::unsupported,
                concat("dasp counts in 32 bits, as published; the matrix has ", a.rows,
                       " rows and ", a.nnz, " entries"));
  }
  return DaspBuilder(a, tile_width).build();
}

DaspSummary summarize(const DaspPattern& dasp) {
  DaspSummary summary;
  summary.long_rows = static_cast<std::int64_t>(dasp.long_rows.size());
  summary.medium_rows = static_cast<std::int64_t>(dasp.medium_rows.size());
  summary.empty_rows = static_cast<std::int64_t>(dasp.other_rows.size()) - dasp.single_rows;
  summary.short_rows = dasp.rows - summary.long_rows - summary.medium_rows - summary.empty_rows;
  summary.slots = dasp.first_loose();
  summary.loose_entries = static_cast<std::int64_t>(dasp.columns.size()) - summary.slots;
  summary.padding = summary.slots + summary.loose_entries - dasp.nnz;
  std::size_t numbers = dasp.columns.size();
  for (const auto* array :
       {&dasp.long_rows, &dasp.long_groups, &dasp.medium_rows, &dasp.medium_tiles,
        &dasp.tail_offsets, &dasp.pieced_rows, &dasp.other_rows})
    numbers += array->size();
  summary.index_bytes = static_cast<std::int64_t>(numbers * sizeof(std::int32_t));
  return summary;
}

double DaspSummary::padding_share() const {
  return slots == 0 ? 0.0 : static_cast<double>(padding) / static_cast<double>(slots);
}

std::string DaspSummary::text() const {
  return concat("rows: ", long_rows, " long, ", medium_rows, " medium, ", short_rows, " short, ",
                empty_rows, " empty; of ", slots, " slots ",
                static_cast<double>(std::lround(1000 * padding_share())) / 10, " % are padding; ",
                loose_entries, " entries are for CUDA cores");
}

}  // namespace lanky::ladder
