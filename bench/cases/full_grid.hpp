// The grid that lanky's dense products are judged by: every combination of shapes, types, layouts,
// transposes, leading dimensions and scalars; its core, which every committed run measures whole;
// and a seeded sample of the others, so that none can be forgotten.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "bench/cases/case.hpp"

namespace lanky::bench {

/// Every combination, family by family (panel, update, gram, syrk), shape by shape.
///   panel   m = k in {4096, 10240, 20480, 30720} and 1e6 x 1024; n in {1, 2, .., 128}
///   update  m in {1e4, .., 1e7}; k = n in {2, .., 128}, and four with k != n
///   gram    k in {1e4, .., 1e7}; m = n in {1, .., 128}, and four with m != n
///   syrk    the same k and n, with B = A
std::vector<GemmCase> full_grid();

/// Every shape and type, column-major, tight, alpha = 1, beta = 0, C in the type of A, by the
/// family's own transposes; f64, f32 and f16 row-major too.
bool in_core(const GemmCase& gemm);
std::vector<GemmCase> core_grid();

/// A share of what is not in the core, chosen by the seed alone.
std::vector<GemmCase> sample_grid(std::uint64_t seed, double share);

/// All types that the grid has.
std::span<const GemmType> grid_types();

/// Another seed at every call.
std::uint64_t draw_seed();

}  // namespace lanky::bench
