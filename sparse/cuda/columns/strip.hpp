// Strips of columns: how a warp shares those of X that a block multiplies at once. The same numbers
// for the kernels and for the host code that launches them.
#pragma once

#include "sparse/columns_copy.hpp"
#include "sparse/launch.hpp"
#include "sparse/packed.hpp"

namespace lanky::sparse::cuda {

/// kGroup lanes multiply a piece, and have a row of X together: each of them kWords words of kEach
/// columns, kGroup words apart. A word is up to 16 bytes (kAdjacent), or its columns are anywhere.
template <int kGroup_, int kWords_, int kEach_, bool kAdjacent_>
struct StripOf {
  static constexpr int kGroup = kGroup_;
  static constexpr int kWords = kWords_;
  static constexpr int kEach = kEach_;
  static constexpr bool kAdjacent = kAdjacent_;
  static constexpr int kColumns = kGroup * kWords * kEach;
  static constexpr int kPieces = kLanes / kGroup;  // that a warp multiplies at once
};

// Warps of a block at most, and blocks of a multiprocessor that registers are shared out for.
inline constexpr int kStripWarpsMost = 16;
template <class Strip>
inline constexpr int kStripBlocks = Strip::kAdjacent || Strip::kEach == 1 ? 2 : 1;
inline constexpr int kApartWarps = 8;         // of a block whose warps share no sums
inline constexpr int kStaticBytes = 1 << 10;  // of shared memory, the system's and variables

/// f(strip) with that of a kind. An element of 16 bytes is a word.
template <class T, class F>
auto with_strip(StripKind kind, F f) {
  constexpr int kWord = word_columns(sizeof(T));
  switch (kind) {
    case StripKind::words1:
      return f(StripOf<1, 1, kWord, true>{});
    case StripKind::words2:
      return f(StripOf<2, 1, kWord, true>{});
    case StripKind::words4:
      return f(StripOf<4, 1, kWord, true>{});
    case StripKind::words8:
      return f(StripOf<8, 1, kWord, true>{});
    case StripKind::words16:
      return f(StripOf<8, 2, kWord, true>{});
    case StripKind::single1:
      break;
    case StripKind::single2:
      return f(StripOf<2, 1, 1, false>{});
    case StripKind::single4:
      return f(StripOf<4, 1, 1, false>{});
    case StripKind::single8:
      return f(StripOf<8, 1, 1, false>{});
    case StripKind::single16:
      return f(StripOf<16, 1, 1, false>{});
    case StripKind::apart2:
      return f(StripOf<1, 1, 2, false>{});
    case StripKind::apart4:
      return f(StripOf<1, 1, 4, false>{});
    case StripKind::apart8:
      return f(StripOf<1, 1, 8, false>{});
  }
  return f(StripOf<1, 1, 1, false>{});
}

/// Lanes that load an entry each and hand it to the others; 1: each loads all.
template <class Strip>
inline constexpr int kEntrySharers = Strip::kGroup >= 4 ? Strip::kGroup : 1;

inline constexpr int kRowsThreads = 256;                    // of a block on a RowsCopy
inline constexpr int kPartsThreadsMost = 1024;              // of one for its rows in parts
inline constexpr int kPartsWords[] = {kPartWordsLeast, 8};  // of strips of these
inline constexpr int kRowsAtOnce = 4;  // of its entries, whose rows of X are in flight

/// Gathers of a lane that are in flight at once, each of a word or of kEach elements.
template <class Strip>
inline constexpr int kGathersAtOnce = Strip::kAdjacent || Strip::kEach == 1 ? 4
                                      : Strip::kEach < 8                    ? 8 / Strip::kEach
                                                                            : 1;

}  // namespace lanky::sparse::cuda
