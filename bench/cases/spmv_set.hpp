// The matrices that SpMV is measured on, as specs of io::generate: twenty chosen ones, and of every
// generator as many more, of sizes drawn from a seed.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace lanky::bench {

/// What kind of matrix a spec makes, by what bounds a product with it: "stencil" (entries along
/// diagonals), "regular" (rows alike, near the diagonal), "short" (rows of 1 to 4), "varying",
/// "empty" (most rows), "power" (law), "uniform" (columns drawn from all: random gathers bound it,
/// however long its rows are). A span is looked for by its name alone. "" for other names.
std::string matrix_class(std::string_view spec);

/// The class of matrices from files.
inline constexpr std::string_view kRealMatrix = "real";

/// Matrices of a generator in drawn_matrices().
inline constexpr int kDrawnOfEach = 5;

/// Of each generator kDrawnOfEach specs whose entries, 1e4 to 2e8, are drawn log-uniformly: one
/// from each fifth of that range. Where rows may be drawn near the diagonal, those of odd number
/// are not.
std::vector<std::string> drawn_matrices(std::uint64_t seed);

/// The chosen matrices, then drawn_matrices(kCommittedSeed): the committed set.
inline constexpr std::uint64_t kCommittedSeed = 4;
std::vector<std::string> core_matrices();

/// 90 matrices of 1e4 to 3e7 entries whose lengths of rows, places of columns and extents are drawn
/// independently of each other (generator "irregular").
std::vector<std::string> irregular_matrices(std::uint64_t seed);

/// Which matrices to measure beside those of files.
struct SpmvSetChoice {
  std::string set;                      // "core", "drawn", "irregular", "" for none
  std::uint64_t seed = kCommittedSeed;  // where it is drawn

  bool is_drawn() const { return !set.empty() && set != "core"; }
};
/// Error(invalid_argument) for another name.
std::vector<std::string> choose_matrices(const SpmvSetChoice& choice);

}  // namespace lanky::bench
