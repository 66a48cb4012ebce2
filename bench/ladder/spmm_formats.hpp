// Formats that rungs of the SpMM ladder build from a CSR pattern on the host, once: rows cut into
// blocks of equal nonzeros, the rows of X that blocks of rows name, and 8 x 1 column vectors.
#pragma once

#include <cstdint>
#include <vector>

#include "bench/ladder/dasp.hpp"

namespace lanky::ladder {

/// Nonzeros of a whole block of a row.
inline constexpr std::int32_t kSplitEntries = 256;

/// Entries of a row that one group of lanes adds up.
struct RowBlock {
  std::int32_t row;
  std::int32_t first;    // entry of CSR
  std::int32_t length;   // at most kSplitEntries
  std::int32_t partial;  // where its sum goes; -1: the sum is the row's
};

/// A row of several blocks, whose partial sums stand beside each other, in the order of entries.
struct SplitRow {
  std::int32_t row;
  std::int32_t first;  // partial sum
  std::int32_t count;
};

/// RoDe's decomposition of rows (Pang et al., "RoDe: A Row Decomposition-based Approach for Sparse
/// Matrix Multiplication on GPUs", PPoPP '24): a long row is cut into blocks of equal nonzeros and
/// a residue. The published kernels add by atomics; here partial sums are added in the order of
/// the row, so that equal inputs give equal bits.
struct RowSplit {
  std::vector<RowBlock> blocks;  // whole ones first, then residues, each in the order of rows
  std::int64_t whole = 0;        // of the blocks
  std::vector<SplitRow> rows;    // those of several blocks
  std::int32_t partials = 0;
};
/// Error(unsupported) from 2^31 rows or entries on, as the other two formats.
RowSplit split_rows(const CsrPattern& a);

/// Rows of a block whose X is staged.
inline constexpr int kStagedRows = 32;
/// Most rows of X that a block stages: 48 KiB in strips of 128 bytes.
inline constexpr int kStagedMost = 384;

/// The distinct rows of X that each block of kStagedRows rows names. A block that names more than
/// kStagedMost, or on average each of them less than twice, stages none.
struct StagedRows {
  std::vector<std::int32_t> starts = {0};  // [blocks + 1], into `rows`
  std::vector<std::int32_t> rows;          // of X, ascending in a block
  std::vector<std::uint16_t> places;       // [nnz] place of the entry's row of X in its block's
  std::int64_t staged_blocks = 0;
  std::int32_t most = 0;  // rows of a block
};
StagedRows stage_rows(const CsrPattern& a);

/// Rows of a column vector.
inline constexpr int kVectorRows = 8;

/// Blocks of 8 rows as column vectors of 8 x 1: one for each column in which a row of the block has
/// an entry. Vectors of 8 rather than 16 rows are FlashSparse's (Shi et al., "FlashSparse:
/// Minimizing Computation Redundancy for Fast Sparse Matrix Multiplications on Tensor Cores", PPoPP
/// '25); that a block's columns are condensed, one vector after the other without gaps, is
/// DTC-SpMM's (Fan et al., ASPLOS '24). A repeated entry has a vector of its own.
///
/// A step is `width` vectors, what one mma takes: 4 of f64, 16 of f16. Lane 4 g + t of a warp has
/// row g of the vectors t width / 4 and following, and loads them as one word:
///
///              vector 0 .. 3     4 .. 7      8 .. 11     12 .. 15     (width = 16)
///     row 0    lane 0            lane 1      lane 2      lane 3
///     ...
///     row 7    lane 28           lane 29     lane 30     lane 31
struct ColumnVectors {
  int width = 0;
  std::vector<std::int32_t> starts = {0};  // [blocks + 1]: first step
  std::vector<std::int32_t> columns{};     // [steps][width]; -1: no vector
  std::vector<std::int32_t> sources{};     // [steps][lane][width / 4]: entry of CSR; -1: none, a 0

  std::int64_t steps() const { return starts.back(); }
};
ColumnVectors to_column_vectors(const CsrPattern& a, int width);

}  // namespace lanky::ladder
