// Which kernel computes a gram product, and how: a function of shape, type and machine alone.
#pragma once

#include <cstdint>
#include <lanky/dtype.hpp>
#include <string>
#include <vector>

#include "core/machine.hpp"
#include "dense/problem.hpp"

namespace lanky::dense {

/// The kernels of dense/cuda/gram/<name>.cuh, which say what they are for; none where the product
/// goes elsewhere.
enum class GramKernel : std::uint8_t {
  none,
  vector,
  direct,
  staged,
  fma,
  rows,
  row_vector,
  row_strip,
  wgmma,
  triangle,
  words
};

struct GramLaunch {
  GramKernel kernel = GramKernel::none;
  int tile = 0;            // index into the kernel's tiles; row_vector: m = n; wgmma: of 64 rows;
                           // triangle: of 8 rows
  bool row_major = false;  // the m elements of a row of A^T are adjacent, not the k of a column
  bool vectors = false;    // leading dimensions allow loads of 16 bytes
  bool any = false;        // rows: any strides
  bool a_turned = false;   // then: A's k is adjacent
  bool b_turned = false;
  bool mixed = false;        // staged: one operand by columns, the other by rows
  Math math = Math::ieee;    // staged: what float is multiplied in
  int strips = 1;            // of rows of A (fma: tiles of C), side by side in the grid
  int blocks = 0;            // of each strip; each leaves partial sums
  int below_blocks = 0;      // fma, 2 x 2 tiles, where A is B: of the tile below the diagonal
  int diagonal_blocks = 0;   // and of each on it
  int sum_columns_log2 = 3;  // 2^sum_columns_log2 elements of C are added by one block
  bool prefetch = false;     // what is read first, while the kernel ahead still runs
  bool one_launch = false;   // the last block adds the partial sums
  bool stacked = false;      // direct: A's rows and B's columns, 8 at most, pass as one operand
  bool spread = false;       // direct: the loads that a warp has in flight are far apart
  int run_log2 = 0;          // rings: 2^run_log2 neighbouring slots' worth of k go to one block;
                             // words: so many products deep is a warp's part of a slot
  int packed = 1;            // rows, wgmma: rows that make a wide row
  bool exchanged = false;    // C^T = B^T A^T is computed: A and B change places
  int resident = 0;          // blocks of a multiprocessor at once; 0: as many as registers allow
  std::int64_t shared_least = 0;  // bytes of a block, so that no more are resident

  friend bool operator==(const GramLaunch&, const GramLaunch&) = default;
};

/// Columns whose sums a lane of gram_vector_kernel can hold.
constexpr int gram_widest(DType type) noexcept {
  return type == DType::f32 || type == DType::c64 ? 8 : 4;
}
/// Columns up to which gram_row_vector_kernel is instantiated: beyond, others are faster.
constexpr int gram_row_vector_widest(DType type) noexcept {
  return type == DType::f32 ? 8 : 4;
}

/// Of a `problem` whose C has elements.
GramLaunch choose_gram(const Problem& problem, DType type, const Machine& machine);

/// Where A and B are the same memory (A^T = B), if it is another kernel than that of two operands.
GramLaunch choose_symmetric_gram(const Problem& problem, DType type, const Machine& machine);

/// For strides and pointers of any alignment; not as fast.
GramLaunch choose_gram_of_any_strides(const Problem& problem, DType type, const Machine& machine);

/// For pointers off 16 bytes, where `aligned` is for those on it; none where the tile kernel is.
GramLaunch unaligned_gram(const GramLaunch& aligned, const Problem& problem, DType type,
                          const Machine& machine);

/// gram_words_kernel: threads of a block, slots of its ring, real elements of a side of a warp's
/// part of C.
inline constexpr int kGramWordsThreads = 256;
inline constexpr int kGramWordsSlots = 4;
inline constexpr int kGramWordsSide = 32;
/// Its dynamic shared memory.
int gram_words_bytes(const Problem& problem, DType type, int run_log2) noexcept;

/// Whether pointers must be aligned to 16 bytes.
constexpr bool needs_alignment(GramKernel kernel) noexcept {
  return kernel == GramKernel::staged || kernel == GramKernel::fma ||
         kernel == GramKernel::row_strip || kernel == GramKernel::wgmma ||
         kernel == GramKernel::triangle;
}

/// Where cuBLASLt's best algorithm was faster on an H200 (2026-11-20; lanky's speed as a multiple):
/// m = 128 without the fma kernel .03 to .99, row-major float with it .7; m = n = 64 row-major .2
/// to .7, IEEE float .3 to .6; one row-major column against 64 .96 at k = 1e5, .8 to .9 from 1e6
/// on. Mixed layouts: halves of 32 columns .8 to .9 (16 columns 1.02; off 16 bytes 1.4 to 2.3,
/// since lanky's loads of 8 bytes lose little); 17 and more by tf32. Off 16 bytes, by rows: f64 32
/// x 5 .64, float of 13 columns 1.2, of 31 .45; by columns: f64 of 32 .74 (float 1.3, halves 1.1;
/// 16 columns 1.1 to 2.4).
bool vendor_beats_gram(const Problem& problem, DType type, const Machine& machine);

/// Every kernel that serves a `problem` whose pointers may be off 16 bytes (`off`) or are not; with
/// `same`, those for B = A too.
std::vector<GramLaunch> gram_candidates(const Problem& problem, DType type, const Machine& machine,
                                        bool off, bool same);

/// Of the partial sums.
std::int64_t workspace_bytes(const GramLaunch& launch, const Problem& problem,
                             std::int64_t sum_bytes) noexcept;

std::string kernel_name(GramKernel kernel);
/// What tells it from other candidates, whatever the extents.
std::string algorithm_name(const GramLaunch& launch);
std::string describe(const GramLaunch& launch);

}  // namespace lanky::dense
