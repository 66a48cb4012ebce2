// What a matrix is to its mirror image across the diagonal, so that one triangle tells all of it.
#pragma once

#include <cstdint>

namespace lanky::inline v1 {

/// The entry at (j, i) is, of a matrix whose entry at (i, j) is v: anything (general), v
/// (symmetric), -v (skew_symmetric), the conjugate of v (hermitian; of real types: v).
enum class Symmetry : std::uint8_t { general, symmetric, skew_symmetric, hermitian };

}  // namespace lanky::inline v1
