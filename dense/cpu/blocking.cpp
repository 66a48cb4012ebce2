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
/// Columns of A that are read side by side where A stays in place.
constexpr int kStreams = 8;
/// Up to this many columns of C, A in place is read once.
constexpr int kColumnsInPlace = 8;
/// Shorter rows of A make poor dot products.
constexpr std::int64_t kInnerLeast = 128;
/// Chunks of k are made until this many tasks can run at once.
constexpr std::int64_t kWantedTasks = 32;
constexpr std::int64_t kChunkLeast = 1024;
constexpr std::int64_t kBlocksOfShortSums = 8;

constexpr std::int64_t ceil_div(std::int64_t a, std::int64_t b) {
  return a / b + (a % b != 0);
}

Form choose_form(const Problem& problem, Elements elements, int width) noexcept {
  if (problem.a.row == 1) return Form::outer;
  if (problem.k * elements.parts <= kInnerLeast) return Form::swapped;
  const bool b_along_k = problem.b.row == 1;
  return b_along_k || problem.n * elements.parts < width ? Form::inner : Form::swapped;
}

}  // namespace

Blocking choose_blocking(const Problem& problem, Elements elements, int width) noexcept {
  Blocking blocking;
  const int parts = elements.parts;
  const bool real = parts == 1 && !elements.converted;
  blocking.form = choose_form(problem, elements, width);
  blocking.columns = static_cast<int>(std::clamp<std::int64_t>(problem.n, 1, kMostColumns / parts));
  std::int64_t most_rows = kRows;
  std::int64_t depth = kDepthBytes / elements.real_bytes / parts;
  switch (blocking.form) {
    case Form::outer:
      blocking.a_in_place = real && (problem.n <= kColumnsInPlace || problem.k <= kStreams);
      blocking.b_in_place = real && problem.b.col == 1;
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
  blocking.rows = static_cast<int>(std::clamp<std::int64_t>(problem.m, 1, most_rows));
  const std::int64_t blocks = ceil_div(problem.m, blocking.rows);
  if (problem.k <= depth) {  // B is packed once a task
    blocking.blocks =
        static_cast<int>(std::clamp<std::int64_t>(blocks / kWantedTasks, 1, kBlocksOfShortSums));
  }
  // The sums of a chunk are far smaller than what it reads.
  const std::int64_t least =
      problem.m == 0 ? kChunkLeast
                     : std::max(kChunkLeast, 32 * problem.m * problem.n / (problem.m + problem.n));
  blocking.split =
      choose_split(ceil_div(blocks, blocking.blocks), problem.k, kWantedTasks, 64, least);
  blocking.depth = static_cast<int>(
      std::clamp<std::int64_t>(std::min(problem.k, blocking.split.length), 1, depth));
  blocking.step = blocking.form == Form::outer && blocking.a_in_place
                      ? std::min(kStreams, blocking.depth)
                      : blocking.depth;
  return blocking;
}

}  // namespace lanky::dense::cpu
