// Nanoseconds of one thread for each of chunk_terms().
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
