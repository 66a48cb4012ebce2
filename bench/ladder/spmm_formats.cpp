#include "bench/ladder/spmm_formats.hpp"

#include <algorithm>
#include <lanky/error.hpp>
#include <limits>
#include <utility>

#include "core/text.hpp"

namespace lanky::ladder {

namespace {

void require_31_bits(const CsrPattern& a) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
  if (a.rows <= kMost && a.nnz <= kMost) return;
  throw Error(ErrorCode::unsupported, concat("this rung counts in 32 bits; the matrix has ", a.rows,
                                             " rows and ", a.nnz, " entries"));
}

/// f(first row, first entry, end of the entries) for each block of so many rows.
template <class F>
void for_each_block(const CsrPattern& a, int block_rows, F f) {
  for (std::int64_t row = 0; row < a.rows; row += block_rows)
    f(row, a.begin(row), a.begin(std::min(a.rows, row + block_rows)));
}

}  // namespace

RowSplit split_rows(const CsrPattern& a) {
  require_31_bits(a);
  RowSplit split;
  std::vector<RowBlock> residues;
  for (std::int64_t i = 0; i < a.rows; ++i) {
    const auto row = static_cast<std::int32_t>(i);
    const auto length = static_cast<std::int32_t>(a.length(i));
    const std::int32_t whole = length / kSplitEntries;
    const std::int32_t left = length % kSplitEntries;
    const bool has_residue = left > 0 || whole == 0;
    const std::int32_t count = whole + (has_residue ? 1 : 0);
    RowBlock block{row, static_cast<std::int32_t>(a.begin(i)), kSplitEntries, -1};
    if (count > 1) {
      split.rows.push_back({row, split.partials, count});
      block.partial = split.partials;
      split.partials += count;
    }
    const auto advance = [&] {
      block.first += kSplitEntries;
      if (count > 1) ++block.partial;
    };
    for (std::int32_t b = 0; b < whole; ++b, advance())
      split.blocks.push_back(block);
    block.length = left;
    if (has_residue) residues.push_back(block);
  }
  split.whole = static_cast<std::int64_t>(split.blocks.size());
  split.blocks.insert(split.blocks.end(), residues.begin(), residues.end());
  return split;
}

StagedRows stage_rows(const CsrPattern& a) {
  require_31_bits(a);
  StagedRows staged;
  staged.places.resize(static_cast<std::size_t>(a.nnz));
  for_each_block(a, kStagedRows, [&](std::int64_t, std::int64_t first, std::int64_t end) {
    std::vector<std::int32_t> named;
    for (std::int64_t e = first; e < end; ++e)
      named.push_back(a.column(e));
    std::sort(named.begin(), named.end());
    named.erase(std::unique(named.begin(), named.end()), named.end());
    const auto count = static_cast<std::int64_t>(named.size());
    if (count > 0 && count <= kStagedMost && end - first >= 2 * count) {
      for (std::int64_t e = first; e < end; ++e) {
        const auto place = std::lower_bound(named.begin(), named.end(), a.column(e));
        staged.places[static_cast<std::size_t>(e)] =
            static_cast<std::uint16_t>(place - named.begin());
      }
      staged.rows.insert(staged.rows.end(), named.begin(), named.end());
      staged.most = std::max(staged.most, static_cast<std::int32_t>(count));
      ++staged.staged_blocks;
    }
    staged.starts.push_back(static_cast<std::int32_t>(staged.rows.size()));
  });
  return staged;
}

ColumnVectors to_column_vectors(const CsrPattern& a, int width) {
  require_31_bits(a);
  struct Entry {
    std::int32_t column;
    std::int32_t row;  // of the block
    std::int32_t number;
  };
  ColumnVectors vectors{.width = width};
  const int own = width / 4;  // vectors of a lane
  for_each_block(a, kVectorRows, [&](std::int64_t row, std::int64_t first, std::int64_t end) {
    std::vector<Entry> entries;
    for (std::int64_t e = first, i = row; e < end; ++e) {
      while (e >= a.begin(i + 1))
        ++i;
      entries.push_back(
          {a.column(e), static_cast<std::int32_t>(i - row), static_cast<std::int32_t>(e)});
    }
    std::stable_sort(entries.begin(), entries.end(), [](const Entry& one, const Entry& other) {
      return std::pair(one.column, one.row) < std::pair(other.column, other.row);
    });
    std::int64_t vector = std::int64_t{vectors.starts.back()} * width - 1;  // the last one
    std::int32_t column = -1;
    unsigned taken = 0;  // rows of the vector that have an entry, as bits
    for (const Entry& entry : entries) {
      if (entry.column != column || (taken >> entry.row & 1) != 0) {
        ++vector;
        column = entry.column;
        taken = 0;
        if (vector % width == 0) {
          vectors.columns.resize(vectors.columns.size() + width, -1);
          vectors.sources.resize(vectors.sources.size() + kVectorRows * width, -1);
        }
        vectors.columns[static_cast<std::size_t>(vector)] = column;
      }
      taken |= 1U << entry.row;
      const std::int64_t of_step = vector % width;
      const std::int64_t lane = entry.row * 4 + of_step / own;
      const std::int64_t slot = (vector / width * 32 + lane) * own + of_step % own;
      vectors.sources[static_cast<std::size_t>(slot)] = entry.number;
    }
    const auto steps = static_cast<std::int64_t>(vectors.columns.size()) / width;
    if (steps * kVectorRows * width > std::numeric_limits<std::int32_t>::max())
      throw Error(ErrorCode::unsupported,
                  "the column vectors of this matrix need more than 2^31 slots");
    vectors.starts.push_back(static_cast<std::int32_t>(steps));
  });
  return vectors;
}

}  // namespace lanky::ladder
