#include "dense/cpu/blocking.hpp"

#include <algorithm>

#include "dense/policy.hpp"

namespace lanky::dense::cpu {

namespace {

/// Of a packed strip of A (RegisterTiles::strip).
constexpr std::int64_t kVectorsOfStrip = 3;
/// Rows of C at a time: a multiple of the rows of a strip of every instruction set.
constexpr int kRows = 240;
/// The same at most of small products, and where A stays in place and is read some columns at a
/// time, which are to be long; then C's sums, which pass through the second cache, have so many
/// bytes at most.
constexpr int kRowsOfLongColumns = 6144;
constexpr std::int64_t kSumsBytes = 3 << 17;
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
constexpr int kPromote = 1024;
/// The same for grams, which are to be no worse than pairwise summation. With u the unit roundoff
/// and terms of variance 1, a chain of c and then one of s chains err by (c + s) / 2 u^2 / 3 for
/// each term, pairwise summation of 2^20 by 21: 32 / 2 + 8 / 2 is 20.
constexpr int kGramChain = 32;
constexpr int kGramPromote = 8 * kGramChain;
constexpr int kGramDepth = 4 * kGramChain;
/// Columns of A that are read side by side where A stays in place.
constexpr int kStreams = 16;
/// Columns of A, a few lines of each of which stay in the first cache.
constexpr int kFewColumns = 32;
/// Columns of C up to which packing A costs more than sums that pass through the second cache: of
/// an A whose columns are half a page long, and of others.
constexpr int kColumnsInPlace = 64;
constexpr int kColumnsInPlaceOfShort = 8;
/// Of few columns of A too, blocks are longer for so few columns of C.
constexpr int kColumnsOfLongBlocks = 4;
/// Bytes from one column of A to the next, up to which they are read one after the other.
constexpr int kNearBytes = 1024;
/// Of A and B near in place that a block reads, so that each line comes to the first cache once.
constexpr std::int64_t kFirstCacheBytes = 24 << 10;
/// Bytes of a row of B in place: 8 columns are read at a time, and rows further apart evict each
/// other from the first cache.
constexpr int kRowOfBInPlace = 256;
/// k that folding rows is worth.
constexpr std::int64_t kFoldLeast = 4096;
/// Tasks that share a packed B.
constexpr std::int64_t kSharers = 4;
/// Shorter rows of A make poor dot products.
constexpr std::int64_t kInnerLeast = 128;
/// More columns of B do not stay in the second cache while rows of A are multiplied by all of them.
constexpr std::int64_t kInnerMost = 64;
/// Chunks of k are made until this many tasks can run at once.
constexpr std::int64_t kWantedTasks = 32;
constexpr std::int64_t kChunkLeast = 1024;
/// Multiply-adds of vectors, and bytes of operands, that a task is worth: one thread takes 10 to 20
/// us for either.
constexpr double kVectorsOfTask = 3 << 14;
constexpr double kBytesOfTask = 3 << 17;
constexpr double kTaskUs = 15;
/// Bytes of A, B and C that the second cache holds.
constexpr double kSecondCacheBytes = 512 << 10;
/// k of a small product that is one panel.
constexpr int kSmallDepth = 1024;
/// In multiply-adds of a vector, two of which begin in a cycle: an element that is moved to or from
/// a vector on its own, the sum of a vector's lanes, and what calls a tile.
constexpr double kMoved = 3;
constexpr double kLanesSummed = 8;
constexpr double kTile = 30;
/// Tasks that are few, and k of their chunks at least.
constexpr std::int64_t kFewTasks = 8;
constexpr std::int64_t kChunkOfFew = 256;
/// Fewer rows of C read B too often.
constexpr std::int64_t kRowsOfFew = 96;
constexpr std::int64_t kBlocksOfShortSums = 8;

Form choose_form(const Problem& problem, Elements elements, int width) noexcept {
  const bool long_sums = problem.k * elements.parts > kInnerLeast;
  const bool inner = problem.b.row == 1 && problem.n * elements.parts <= kInnerMost;
  if (problem.a.col == 1 && inner && long_sums) return Form::inner;
  if (problem.a.row == 1) return Form::outer;
  if (long_sums) return problem.n * elements.parts < width ? Form::inner : Form::swapped;
  // Either A or C is transposed: the smaller one; both, where rows of C fill no vector, and neither
  // has gaps between them.
  const bool tight = problem.a.row == problem.k && problem.c.row == problem.n;
  const bool outer = elements.parts == 1 &&
                     (problem.c.row == 1 ? problem.k <= problem.n : problem.n < width && tight);
  return outer ? Form::outer : Form::swapped;
}

/// As many rows side by side as fill a vector at most.
int choose_fold(const Problem& problem, int width) noexcept {
  const bool tight = problem.a == Strides{1, problem.m} && problem.b == Strides{problem.n, 1};
  return tight ? static_cast<int>(std::max<std::int64_t>(1, width / problem.m)) : 1;
}

double bytes_of(const Problem& problem, Elements elements) noexcept {
  const auto m = static_cast<double>(problem.m);
  const auto n = static_cast<double>(problem.n);
  const auto k = static_cast<double>(problem.k);
  return (m * k + k * n + m * n) * elements.parts * elements.real_bytes;
}

/// Tasks that a product is worth, by its multiply-adds or its bytes.
std::int64_t tasks_worth(const Problem& problem, Elements elements, int width) noexcept {
  const double products = static_cast<double>(problem.m) * static_cast<double>(problem.n) *
                          static_cast<double>(problem.k) * elements.parts * elements.parts;
  const double tasks =
      std::max(products / width / kVectorsOfTask, bytes_of(problem, elements) / kBytesOfTask);
  return static_cast<std::int64_t>(std::clamp(tasks, 1.0, 1e6));
}

/// Multiply-adds of vectors in the time that a small product takes.
double cost_of(Form form, const Problem& problem, int width) noexcept {
  const auto m = static_cast<double>(problem.m);
  const auto n = static_cast<double>(problem.n);
  const auto k = static_cast<double>(problem.k);
  const auto vectors = [width](std::int64_t side) {
    return static_cast<double>(ceil_div(side, std::int64_t{width}));
  };
  const auto tiles = [&](std::int64_t along, std::int64_t across) {
    return kTile * static_cast<double>(ceil_div(along, kVectorsOfStrip * width)) *
           static_cast<double>(ceil_div(across, std::int64_t{8}));
  };
  switch (form) {
    case Form::outer:
      return vectors(problem.m) * n * k + tiles(problem.m, problem.n) +
             (problem.a.row == 1 ? 0 : kMoved * m * k) + (problem.c.row == 1 ? 0 : kMoved * m * n);
    case Form::swapped:
      return vectors(problem.n) * m * k + tiles(problem.n, problem.m) +
             (problem.b.col == 1 ? 0 : kMoved * k * n) + (problem.c.col == 1 ? 0 : kMoved * m * n);
    case Form::inner:
      return m * n * (k / width + kLanesSummed) + (problem.b.row == 1 ? 0 : kMoved * k * n);
  }
  return 0;
}

Form cheapest_form(const Problem& problem, int width) noexcept {
  Form form = Form::outer;
  for (const Form other : {Form::swapped, Form::inner}) {
    if (other == Form::inner && problem.a.col != 1) continue;
    if (cost_of(other, problem, width) < cost_of(form, problem, width)) form = other;
  }
  return form;
}

/// Rows of a block, a multiple of `unit`, so that there are `tasks` with chunks of `chunk` of k.
std::int64_t rows_of_tasks(const Problem& problem, std::int64_t tasks, std::int64_t unit,
                           std::int64_t chunk) noexcept {
  const std::int64_t blocks = ceil_div(tasks, std::max<std::int64_t>(1, problem.k / chunk));
  if (blocks <= 1) return problem.m;
  return std::min(problem.m, ceil_div(ceil_div(problem.m, blocks), unit) * unit);
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
  blocking.small = real && bytes_of(original, elements) <= kSecondCacheBytes;
  blocking.form =
      blocking.small ? cheapest_form(original, width) : choose_form(original, elements, width);
  const bool along_rows = original.a.row == 1;
  const bool near = along_rows && original.a.col * elements.real_bytes <= kNearBytes;
  // Columns whose distance is a large power of two share too few sets of the cache.
  const bool few = original.k <= kFewColumns && original.a.col * elements.real_bytes % 1024 != 0;
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
  const std::int64_t b_row = problem.b.row * elements.real_bytes;
  const std::int64_t depth_in_cache =
      kFirstCacheBytes / ((problem.m + problem.n) * elements.real_bytes) / kGramChain * kGramChain;
  const int in_place_most =
      problem.m * elements.real_bytes < kPageBytes / 2 ? kColumnsInPlaceOfShort : kColumnsInPlace;
  switch (blocking.form) {
    case Form::outer:
      blocking.a_in_place = real && along_rows &&
                            (blocking.small || (near && depth_in_cache > 0) || few ||
                             problem.n <= in_place_most || problem.k <= kStreams);
      if (near && depth_in_cache > 0 && !blocking.small) depth = std::min(depth, depth_in_cache);
      blocking.b_in_place =
          blocking.small ||
          (real && problem.b.col == 1 &&
           (b_row <= kRowOfBInPlace || (b_row <= kNearBytes && b_row % 128 != 0)));
      if (blocking.a_in_place && problem.k > kFewColumns && problem.n <= in_place_most) {
        const std::int64_t rows = kSumsBytes / (problem.n * elements.real_bytes) / kRows * kRows;
        most_rows = std::min<std::int64_t>(rows, kRowsOfLongColumns);
      } else if (blocking.a_in_place && problem.n <= kColumnsOfLongBlocks) {
        most_rows = 2 * kRows;
      }
      break;
    case Form::swapped:
      blocking.a_in_place = !elements.converted;
      blocking.b_in_place = blocking.small && problem.b.col == 1;
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
  // The sums of a chunk are far smaller than what it reads.
  const bool long_blocks = most_rows > 2 * kRows;
  if (blocking.small && blocking.form != Form::inner) {
    depth = kSmallDepth;
    most_rows = kRowsOfLongColumns;
  }
  const auto sums = static_cast<double>(problem.m) * static_cast<double>(problem.n);
  std::int64_t least =
      std::max(long_blocks ? 128 : kChunkLeast,
               static_cast<std::int64_t>(32 * sums / static_cast<double>(problem.m + problem.n)));
  blocking.worth = tasks_worth(problem, elements, width);
  std::int64_t wanted = blocking.worth > 1 ? kWantedTasks : 1;
  // Multiply-adds hide them where there are few tasks otherwise.
  const std::int64_t worth = std::min(kFewTasks, blocking.worth);
  if (worth > ceil_div(problem.m, kRowsOfFew) * std::max<std::int64_t>(1, problem.k / least)) {
    least = ceil_div(problem.k, std::max<std::int64_t>(1, problem.k / kChunkOfFew));
    wanted = worth;
  }
  const std::int64_t unit =
      blocking.form == Form::inner || blocking.small ? width : kVectorsOfStrip * width;
  blocking.rows = static_cast<int>(std::min(most_rows, rows_of_tasks(problem, worth, unit, least)));
  const std::int64_t blocks = ceil_div(problem.m, blocking.rows);
  if (problem.k <= depth) {  // B is packed once a task
    blocking.blocks =
        static_cast<int>(std::clamp<std::int64_t>(blocks / kWantedTasks, 1, kBlocksOfShortSums));
  }
  blocking.split = choose_split(ceil_div(blocks, blocking.blocks), problem.k, wanted, 64, least);
  blocking.depth = static_cast<int>(
      std::clamp<std::int64_t>(std::min(problem.k, blocking.split.length), 1, depth));
  blocking.b_shared = !blocking.b_in_place && ceil_div(blocks, blocking.blocks) >= kSharers;
  const bool floats = elements.real_bytes == 4;
  const bool gram = floats && original.m <= kSkinny && problem.k > kInnerLeast;
  if (gram && blocking.form != Form::inner)
    blocking.depth = std::min(blocking.depth, (blocking.small ? kGramPromote : kGramDepth) / parts);
  blocking.chain = gram ? kGramChain : blocking.depth * parts;
  if (gram) {
    blocking.promote = std::max(1, kGramPromote / parts / blocking.depth) * blocking.depth;
  } else if (floats && problem.k > kPromote) {
    blocking.promote = std::max(1, kPromote / parts / blocking.depth) * blocking.depth;
  }
  const bool in_steps = blocking.form == Form::outer && blocking.a_in_place && !blocking.small;
  blocking.step = in_steps && !near && !few ? std::min(kStreams, blocking.depth) : blocking.depth;
  return blocking;
}

int threads_worth(const Blocking& blocking, int threads, std::int64_t tasks,
                  double team_us) noexcept {
  const std::int64_t used = std::min({std::int64_t{threads}, tasks, blocking.worth});
  if (used <= 1) return 1;
  const double alone_us = static_cast<double>(blocking.worth) * kTaskUs;
  return alone_us - alone_us / static_cast<double>(used) > team_us ? static_cast<int>(used) : 1;
}

}  // namespace lanky::dense::cpu
