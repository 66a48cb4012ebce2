// CSR to the formats of cuSPARSE that hold padding: sliced ELL and blocks. Patterns alone: which
// entry of CSR stands in a slot is kept, so that values of any type follow without a second pass.
#pragma once

#include <cstdint>
#include <lanky/csr.hpp>
#include <vector>

namespace lanky::bench {

/// A padded matrix is made of units: slices of rows, or square blocks in rows of blocks.
struct PaddedPattern {
  /// Sliced ELL: the first slot of each slice, [slices + 1]. Blocks: the first block of each row of
  /// blocks, [rows of blocks + 1].
  std::vector<std::int32_t> offsets;
  /// Sliced ELL: of each slot, -1 where it is padding. Blocks: the column of each block in blocks.
  std::vector<std::int32_t> col_indices;
  /// Of each slot: its entry of CSR, -1 where it is padding.
  std::vector<std::int32_t> sources;
};

/// Slots of sliced ELL: each slice of `height` rows is as wide as its longest row.
std::int64_t sliced_ell_slots(const CsrMatrix<double>& matrix, int height);

/// Slot s of a slice holds entry s / height of its row s % height. Error(unsupported) for 2^31
/// slots and more.
PaddedPattern to_sliced_ell(const CsrMatrix<double>& matrix, int height);

constexpr int kLargestBlock = 8;

/// Slots over entries of blocks of side x side (side <= kLargestBlock), at multiples of `side`,
/// that hold an entry; of a large matrix by every 64th row of blocks. 0 without entries. Columns of
/// a row must ascend, here and in to_blocks().
double block_fill(const CsrMatrix<double>& matrix, int side);

/// Blocks stored by rows, row-major within. Error(unsupported) for 2^31 slots and more.
PaddedPattern to_blocks(const CsrMatrix<double>& matrix, int side);

}  // namespace lanky::bench
