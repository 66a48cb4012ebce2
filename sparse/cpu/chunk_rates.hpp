// Nanoseconds of one thread for each of chunk_terms().
#pragma once

#include <array>

#include "sparse/cpu/chunk_cost.hpp"

namespace lanky::sparse::cpu {

inline constexpr std::array<double, kChunkTerms> kChunkRates = {
    0.02,  // a byte
    0.06,  // a byte from memory
    0.25,  // a slot whose column has a code
    0.10,  // a slot whose column follows from a base
    7.0,   // a chunk
    5.0,   // a row alone
    0.6,   // a listed row
};

}  // namespace lanky::sparse::cpu
