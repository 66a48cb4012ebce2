// Facts of sparse matrices, and headers of packed ones, that follow from nothing but this file:
// rows alike and not, hubs, empty rows, tall and wide, of 1e3 to 1e9 entries.
#pragma once

#include <algorithm>
#include <cstdint>
#include <lanky/dtype.hpp>
#include <vector>

#include "core/ceil_div.hpp"
#include "golden/draw.hpp"
#include "sparse/packed.hpp"
#include "sparse/policy.hpp"

namespace lanky::golden {

/// Rows of `least` to `most` entries, as many of each length, and a few of another length.
struct RowLengths {
  std::int64_t least = 1;
  std::int64_t most = 1;
  std::int64_t filled = 1;  // rows of least .. most entries
  std::int64_t empty = 0;
  std::int64_t long_rows = 0;
  std::int64_t long_length = 0;
};

inline RowLengths draw_lengths(Draw& draw) {
  RowLengths rows;
  const int kind = static_cast<int>(draw.below(8));
  rows.most = draw.happens(50) ? 1 + draw.below(8) : draw.length(3, 9);
  if (kind == 0) rows.least = rows.most;                                     // all of one length
  if (kind == 1) rows.least = std::max<std::int64_t>(4 * rows.most / 5, 1);  // nearly
  const std::int64_t mean = ceil_div(rows.least + rows.most, std::int64_t{2});
  const std::int64_t entries = draw.length(draw.one_of({10, 10, 23}), 30);
  rows.filled = std::max<std::int64_t>(entries / mean, 1);
  // A few rows longer than the others, or hubs.
  if (kind == 3 || kind == 4) {
    rows.long_rows = 1 + draw.below(std::max<std::int64_t>(rows.filled / 1000, 1));
    rows.long_length = std::min(mean * draw.length(1, kind == 3 ? 6 : 16), entries);
  }
  if (kind == 4 || kind == 5 || kind == 6) {
    const std::int64_t percent = kind == 6 ? 50 + draw.below(50) : draw.below(50);
    rows.empty = rows.filled * percent / (100 - percent);
  }
  return rows;
}

/// Pieces that all rows are cut into, of up to `piece_most` entries.
inline std::int64_t pieces_of_rows(const RowLengths& rows, int piece_most) {
  std::int64_t pieces = 0;
  for (std::int64_t length = rows.least; length <= rows.most; ++length)
    pieces += sparse::pieces_of(length, piece_most);
  return rows.filled * pieces / (rows.most - rows.least + 1) +
         rows.long_rows * sparse::pieces_of(rows.long_length, piece_most);
}

/// Windows of up to all columns, wider from sample to sample, that entries lead to ever fewer
/// sectors of.
inline void draw_locality(sparse::RowFacts& facts, Draw& draw) {
  const double reach = static_cast<double>(std::max<std::int64_t>(facts.reach, 1));
  const double advance = static_cast<double>(facts.cols) / static_cast<double>(facts.rows);
  const double entries = static_cast<double>(facts.nnz) / static_cast<double>(facts.rows);
  double sectors = static_cast<double>(10 + draw.below(91)) / 100;
  for (int size = 0; size < sparse::kSampleSizes; ++size) {
    const auto rows = static_cast<double>(sparse::sample_rows(size));
    const double span = std::min(reach + rows * advance, static_cast<double>(facts.cols));
    sparse::Locality& own = facts.locality[size];
    own.span = {0.9 * span, span, std::min(1.2 * span, static_cast<double>(facts.cols))};
    own.sectors = sectors;
    own.entries_most = static_cast<std::int64_t>(rows * entries) + facts.longest;
    sectors *= static_cast<double>(50 + draw.below(51)) / 100;
  }
}

/// What a matrix of such rows could be found to have.
inline sparse::RowFacts draw_row_facts(Draw& draw) {
  constexpr std::int64_t kMost = 0x7fffffff;
  const RowLengths lengths = draw_lengths(draw);
  sparse::RowFacts facts;
  facts.rows = std::min(lengths.filled + lengths.empty + lengths.long_rows, kMost);
  facts.nnz =
      lengths.filled * (lengths.least + lengths.most) / 2 + lengths.long_rows * lengths.long_length;
  facts.longest = std::max(lengths.most, lengths.long_length);
  facts.empty = facts.rows - std::min(lengths.filled + lengths.long_rows, facts.rows);
  facts.pieces8 = pieces_of_rows(lengths, 8);
  facts.pieces16 = pieces_of_rows(lengths, 16);
  const auto count_long = [&](std::int64_t rows, std::int64_t length) {
    if (length >= sparse::kLongRow) facts.long_rows[sparse::long_class(length)] += rows;
  };
  count_long(lengths.filled, (lengths.least + lengths.most) / 2);
  count_long(lengths.long_rows, lengths.long_length);
  const std::int64_t share = std::int64_t{1} << draw.below(7);
  const int shape = static_cast<int>(draw.below(4));  // square, square, wide, tall
  facts.cols = shape < 2 ? facts.rows : shape == 2 ? facts.rows * share : facts.rows / share;
  facts.cols = std::clamp(facts.cols, std::min(facts.longest, kMost), kMost);
  if (draw.happens(85)) {
    const std::int64_t least = std::min(facts.longest, facts.cols);
    facts.reach =
        std::min(least + (draw.happens(50) ? draw.length(draw.one_of({0, 12}), 14)
                                           : facts.cols / draw.one_of({1, 2, 9, 40, 500})),
                 facts.cols);
    facts.repeated = draw.one_of({0, 0, 10, 74, 75, 99, 100});
  }
  draw_locality(facts, draw);
  if (draw.happens(40)) {
    facts.hot_least = static_cast<std::int32_t>(16 + draw.below(2000));
    facts.hot_entries = facts.nnz * draw.one_of({5, 29, 31, 60, 80}) / 100;
  }
  return facts;
}

/// A matrix of these facts in this shape, as packing could leave it.
inline sparse::PackedHeader draw_header(const sparse::RowFacts& facts, const sparse::Shape& shape,
                                        DType dtype, Draw& draw) {
  sparse::PackedHeader header{facts.rows, facts.cols, facts.nnz, shape};
  const std::int64_t work = facts.nnz + shape.row_cost * facts.rows;
  header.windows = std::max<std::int64_t>(
      shape.granule > 1 ? facts.rows / shape.granule : work / shape.window_cost, 1);
  header.slices_most = static_cast<std::int32_t>(
      draw.happens(60) ? 1 + draw.below(sparse::kSingleWarps) : 1 + draw.below(90));
  header.cells_most = static_cast<std::int32_t>(
      draw.happens(40) ? 0 : draw.below(shape.stage_most > 0 ? 4096 : sparse::kCellsLimit));
  if (shape.stage_most > 0 && draw.happens(80))
    header.columns_most = static_cast<std::int32_t>(1 + draw.below(shape.stage_most));
  header.slots =
      sparse::round_up(facts.nnz + facts.nnz * draw.below(20) / 100, sparse::kWindowSlotAlign);
  header.index_units = header.slots * draw.one_of({0, 1, 2, 4}) / sparse::kIndexUnit;
  if (facts.longest > shape.window_cost) header.partials = header.split_rows = 2;
  header.row_cells = facts.longest > shape.piece_most ? facts.rows : 0;
  if (shape.hot_least > 0)
    header.hot = std::min(1 + draw.below(std::max<std::int64_t>(
                                  sparse::hot_columns_most(dtype, known_machine("H200")), 1)),
                          facts.cols);
  const std::int64_t filled = facts.rows - facts.empty;
  const std::int64_t brief =
      facts.longest <= sparse::kShortMost ? filled : filled * draw.below(101) / 100;
  header.class_rows[0] = facts.empty;
  header.class_rows[1] = brief;
  header.class_rows[2] = filled - brief;
  return header;
}

}  // namespace lanky::golden
