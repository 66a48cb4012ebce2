// A product's launch on a GPU, with everything that a kernel needs besides operands: decided once,
// when the plan is made (sparse/cuda/multiply/policy.hpp).
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <lanky/sparse.hpp>

#include "sparse/packed.hpp"
#include "sparse/path.hpp"

namespace lanky::sparse {

/// The slices of a window that a kernel is for.
enum class Slices : std::uint8_t {
  single,   // one for each warp of the block at most, none wide, of few steps: of small matrices
  few,      // the same with more registers a thread, where slices are few
  deep,     // of more steps
  shallow,  // most of them wide, of a step or two, which a warp multiplies several of at once
  any,
  straight  // any, whose sums go to y as they are: few rows have entries, none is cut, and beta is
            // 0
};

/// What each block of a small product has the L2 fetch at once, before it knows of its window: as
/// many bytes, a multiple of kWordBytes, of all values, indices and x.
struct Shares {
  std::int32_t values = 0;
  std::int32_t indices = 0;
  std::int32_t x = 0;
  friend bool operator==(const Shares&, const Shares&) = default;
};

struct Launch {
  // The kernel:
  Path path = Path::cuda;
  Slices slices = Slices::any;
  bool wide = false;  // slices of more than kLanes pieces may occur
  bool hot = false;   // x of hot columns is in shared memory, and blocks take windows in turn
  // Its blocks:
  std::int64_t blocks = 0;  // 0: there is nothing to launch
  std::int32_t threads = 0;
  std::int32_t shared_bytes = 0;
  std::int32_t teams = 1;  // of a block, each with a window of its own
  // What it has fetched before it is used:
  Shares shares;
  bool fetch_ahead = false;  // windows have their beginning fetched at once
  friend bool operator==(const Launch&, const Launch&) = default;
};

/// How lanes share a strip of columns of X: groups of 1, 2, 4 or 8 have a row of it, each lane a
/// word of 16 bytes of it, or two (words16); or each lane of a group one element; or a lane a
/// row's 2, 4 or 8 columns that are not adjacent.
enum class StripKind : std::uint8_t {
  words1,
  words2,
  words4,
  words8,
  words16,
  single1,
  single2,
  single4,
  single8,
  single16,
  apart2,
  apart4,
  apart8
};
inline constexpr int kStripKinds = 13;

/// Columns of a word of 16 bytes, and of the widest strip, of words16.
constexpr int word_columns(std::size_t element_bytes) {
  return element_bytes >= 16 ? 1 : static_cast<int>(16 / element_bytes);
}
constexpr int strip_columns_most(std::size_t element_bytes) {
  return 16 * word_columns(element_bytes);
}
// Strips that one launch multiplies, at most: workspaces have an end. Of rows that warps or blocks
// have of a RowsCopy, strips are of four words of 16 bytes or more, or of four single columns.
inline constexpr int kStripsAtOnce = 4;
inline constexpr int kPartStripsAtOnce = 16;
/// Columns whose sums of split rows fit in the workspace of a plan for `expected` columns: those of
/// as many of the widest strips as the expected columns fill.
constexpr std::int64_t columns_at_once(std::size_t element_bytes, std::int64_t expected) {
  const int widest = strip_columns_most(element_bytes);
  return std::clamp<std::int64_t>((expected + widest - 1) / widest, 1, kStripsAtOnce) * widest;
}
/// Counters there: one of each split row for each strip, and no fewer than one vector needs.
constexpr std::int64_t strip_counters(const PackedHeader& a) {
  return std::max(counters(a), a.split_rows * std::max(kStripsAtOnce, kPartStripsAtOnce));
}

/// Blocks of the kernel of one StripKind.
struct StripLaunch {
  std::int32_t threads = 0;  // 0: a block has no room for the sums of so many columns
  std::int32_t shared_bytes = 0;
  std::int32_t parts = 1;  // of a window whose rows are not cut, a block for each
  friend bool operator==(const StripLaunch&, const StripLaunch&) = default;
};

/// Numbers of columns that kernels of one vector multiply at once, where a row of X is one word or
/// two, or X is by columns; and how many that are at most.
inline constexpr int kWordColumns[] = {2, 4, 8};
inline constexpr int kWordCounts = 3;
constexpr int word_columns_most(std::size_t element_bytes) {
  return std::min(kWordColumns[kWordCounts - 1], 2 * word_columns(element_bytes));
}

/// As the Launch of one vector, whose blocks these are, with sums of several columns.
struct WordLaunch {
  Slices slices = Slices::any;  // single, deep or any
  bool wide = false;
  std::int32_t threads = 0;  // 0: there is no such kernel, or a block has no room
  std::int32_t shared_bytes = 0;
  friend bool operator==(const WordLaunch&, const WordLaunch&) = default;
};

/// Those of products of several columns: which of them runs is for X and Y to say.
struct StripLaunches {
  std::array<StripLaunch, kStripKinds> of_kind{};
  std::array<WordLaunch, kWordCounts> of_words{};  // of kWordColumns
  // Of X by columns, so many are gathered where they stand, at most; more are made row-major first.
  std::int64_t apart_most = 0;
  std::int32_t vector_threads = 0;  // that add up parts of split rows in products of one vector
  friend bool operator==(const StripLaunches&, const StripLaunches&) = default;

  const StripLaunch& of(StripKind kind) const noexcept {
    return of_kind[static_cast<std::size_t>(kind)];
  }
};

/// The launches of one plan, by what is known of beta when a product is run.
struct Launches {
  Launch adds;        // any beta
  Launch overwrites;  // beta is 0, and not in device memory
  StripLaunches strips{};

  const Launch& of(bool overwriting) const noexcept { return overwriting ? overwrites : adds; }
  friend bool operator==(const Launches&, const Launches&) = default;
};

}  // namespace lanky::sparse
