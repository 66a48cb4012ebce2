#include "dense/cpu/blocking.hpp"

#include <algorithm>

namespace lanky::dense::cpu {

namespace {

constexpr int kRows = 256;
constexpr std::int64_t kMostColumns = 128;
constexpr std::int64_t kMostRowsInner = 128;
/// Bytes of a packed row of depth: with kRows, a panel of 256 KiB, which leaves room in the second
/// cache.
constexpr int kDepthBytes = 1024;
/// Of what `inner` reads in a block, and of one of its columns: half a page at least, which
/// prefetchers need.
constexpr int kInnerBytes = 32 << 10;
constexpr int kInnerDepthLeast = 4096;
constexpr int kInnerDepthMost = 16384;
/// k of a float sum before it joins the totals: 1e6 equal terms lose 5 digits in one chain.
constexpr std::int64_t kPromote = 1024;
/// The same for grams, which are to be no worse than pairwise summation. With u the unit roundoff
/// and terms of variance 1, a chain of c and then one of s chains err by (c + s) / 2 u^2 / 3 for
/// each term, pairwise summation of 2^20 by 21: 16 / 2 + 8 / 2 leaves room for the sum of a
/// vector's lanes.
constexpr int kGramChain = 16;
constexpr int kGramPromote = 8 * kGramChain;
/// Columns of A that are read side by side where A stays in place.
constexpr int kStreams = 8;
/// Up to this many columns of C, A in place is read once.
constexpr int kColumnsInPlace = 8;
/// Bytes from one column of A to the next, up to which they are read one after the other.
constexpr int kNearBytes = 1024;
/// Bytes of a row of B in place: 8 columns are read at a time, and rows further apart evict each
/// other from the first cache.
constexpr int kRowOfBInPlace = 256;
/// k that folding rows is worth.
constexpr std::int64_t kFoldLeast = 4096;
/// Tasks that share a packed B.
constexpr std::int64_t kSharers = 4;
constexpr int kColumnsOfLongBlocks = 4;
/// Shorter rows of A make poor dot products.
constexpr std::int64_t kInnerLeast = 128;
/// Chunks of k are made until this many tasks can run at once.
constexpr std::int64_t kWantedTasks = 32;
constexpr std::int64_t kChunkLeast = 1024;
constexpr std::int64_t kBlocksOfShortSums = 8;

Form choose_form(const Problem& problem, Elements elements, int width) noexcept {
  const bool long_sums = problem.k * elements.parts > kInnerLeast;
  const bool b_along_k = problem.b.row == 1;
  if (problem.a.col == 1 && b_along_k && long_sums) return Form::inner;
  if (problem.a.row == 1) return Form::outer;
  return long_sums && problem.n * elements.parts < width ? Form::inner : Form::swapped;
}

/// As many rows side by side as fill a vector at most.
int choose_fold(const Problem& problem, int width) noexcept {
  const bool tight = problem.a == Strides{1, problem.m} && problem.b == Strides{problem.n, 1};
  return tight ? static_cast<int>(std::max<std::int64_t>(1, width / problem.m)) : 1;
}

}  // namespace

Problem folded(const Problem& problem, const Blocking& blocking) noexcept {
  Problem wide = problem;
  wide.m *= blocking.fold;
  wide.n *= blocking.fold;
  wide.k = problem.k / blocking.fold - blocking.spare;
  wide.a.col *= blocking.fold;
  wide.b.row *= blocking.fold;
  return wide;
}

Blocking choose_blocking(const Problem& original, Elements elements, int width) noexcept {
  Blocking blocking;
  const int parts = elements.parts;
  const bool real = parts == 1 && !elements.converted;
  blocking.form = choose_form(original, elements, width);
  const bool near = original.a.col * elements.real_bytes <= kNearBytes;
  if (blocking.form == Form::outer && real && near && original.k >= kFoldLeast) {
    blocking.fold = choose_fold(original, width);
    const std::int64_t rows = blocking.fold * original.m;
    const std::int64_t beyond = (width - rows % width) % width;  // numbers read past a row's end
    const std::int64_t step = blocking.fold * original.a.col;
    blocking.spare = static_cast<int>((beyond + step - 1) / step);
  }
  const Problem problem = folded(original, blocking);
  blocking.columns = static_cast<int>(std::clamp<std::int64_t>(problem.n, 1, kMostColumns / parts));
  std::int64_t most_rows = kRows;
  std::int64_t depth = kDepthBytes / elements.real_bytes / parts;
  switch (blocking.form) {
    case Form::outer:
      blocking.a_in_place = real && (near || problem.n <= kColumnsInPlace || problem.k <= kStreams);
      blocking.b_in_place =
          real && problem.b.col == 1 && problem.b.row * elements.real_bytes <= kRowOfBInPlace;
      if (blocking.a_in_place && problem.n <= kColumnsOfLongBlocks) most_rows *= 2;
      break;
    case Form::swapped:
      blocking.a_in_place = !elements.converted;
      break;
    case Form::inner: {
      blocking.a_in_place = !elements.converted;
      blocking.b_in_place = real && problem.b.row == 1;
      most_rows = kMostRowsInner;
      const std::int64_t operands =
          std::min(problem.m, most_rows) + blocking.columns * std::int64_t{parts};
      const std::int64_t bytes =
          std::clamp<std::int64_t>(kInnerBytes / operands, kInnerDepthLeast, kInnerDepthMost);
      depth = bytes / elements.real_bytes / parts / 64 * 64;
      break;
    }
  }
  blocking.rows = static_cast<int>(std::min(problem.m, most_rows));
  const std::int64_t blocks = ceil_div(problem.m, blocking.rows);
  if (problem.k <= depth) {  // B is packed once a task
    blocking.blocks =
        static_cast<int>(std::clamp<std::int64_t>(blocks / kWantedTasks, 1, kBlocksOfShortSums));
  }
  // The sums of a chunk are far smaller than what it reads.
  const std::int64_t least =
      std::max(kChunkLeast, 32 * problem.m * problem.n / (problem.m + problem.n));
  blocking.split =
      choose_split(ceil_div(blocks, blocking.blocks), problem.k, kWantedTasks, 64, least);
  blocking.depth = static_cast<int>(
      std::clamp<std::int64_t>(std::min(problem.k, blocking.split.length), 1, depth));
  blocking.b_shared = !blocking.b_in_place && ceil_div(blocks, blocking.blocks) >= kSharers;
  const bool floats = elements.real_bytes == 4;
  const bool gram = floats && original.m <= kSkinny && problem.k > kInnerLeast;
  if (gram && blocking.form != Form::inner)
    blocking.depth = std::min(blocking.depth, kGramPromote / parts);
  blocking.chain = gram ? kGramChain : blocking.depth * parts;
  if (gram) {
    blocking.promote = blocking.depth;
  } else if (floats && problem.k > kPromote) {
    blocking.promote = std::max<int>(1, kPromote / parts / blocking.depth) * blocking.depth;
  }
  blocking.step = blocking.form == Form::outer && blocking.a_in_place && !near
                      ? std::min(kStreams, blocking.depth)
                      : blocking.depth;
  return blocking;
}

}  // namespace lanky::dense::cpu
