// Nanoseconds of one thread for each of chunk_terms(): rounded by hand from trials of six f64
// matrices, two of them of a validation family (fem), on one AMD EPYC (Zen 3). Rates that
// bench/scripts/fit_chunk_rates.py fits choose worse on validation (docs/lab/cpu.md).
#pragma once

#include <array>

#include "sparse/cpu/chunk_cost.hpp"

namespace lanky::sparse::cpu {

inline constexpr std::array<double, kChunkTerms> kChunkRates = {
    0.015,  // a byte
    0.06,   // a byte from memory
    0.33,   // a slot whose column has a code
    0.05,   // a slot whose column follows from a base
    4.0,    // a chunk
    4.1,    // a row alone
    0.3,    // a listed row
};

}  // namespace lanky::sparse::cpu
