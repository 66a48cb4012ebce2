// Written by bench/scripts/fit_sparse_cost.py from these files (SHA-256 60d87f68c8117b5a):
//   bench/results/h200/spmv_shapes.raw.jsonl.xz
//   bench/results/h100/spmv_shapes.raw.jsonl.xz
//   bench/results/h200/spmv_shapes2.raw.jsonl.xz
//   bench/results/h200/spmv_shapes3.raw.jsonl.xz
//   bench/results/h100/spmv_shapes3.raw.jsonl.xz
// Not edited by hand: run the script again after a new run.
#pragma once

#include "sparse/cost.hpp"

namespace lanky::sparse {

// clang-format off
// Microseconds a unit of each term, by CostKernel.
inline constexpr CostTerms kCostRates[] = {
    // few
    {.start = 0.788, .memory = 0.894, .l2 = 0.85, .rounds = 0.00658, .further_rounds = 0.358,
     .steps = 0.0375, .sectors = 1.01, .sectors_thin = 0.0842, .loads = 6.67, .loads_thin = 0.038,
     .staged_loads = 7.06, .rows = 17.8, .staged_bytes = 0.697, .windows = 0.0435, .copies = 0.451,
     .stages = 0.598, .split = 1.11, .cells = 0.239, .deepest = 0.0183, .long_sums = 0.0553,
     .split_windows = 0.145, .row_rounds = 0.317, .whole_row_rounds = 0.00299,
     .slice_starts = 0.462, .sectors_busiest = 0.803, .loads_busiest = 1.64, .chain_sums = 0.265},
    // deep
    {.start = 0.89, .memory = 0.855, .l2 = 0.952, .rounds = 0.00691, .further_rounds = 0.943,
     .steps = 1.71, .sectors = 1.24, .sectors_thin = 0.0247, .loads = 2.23, .loads_thin = 0.0608,
     .staged_loads = 1.17, .rows = 3.19, .staged_bytes = 0.334, .windows = 0.0124, .copies = 1.1,
     .stages = 0.353, .split = 1.06, .cells = 0.0535, .deepest = 2.07, .long_sums = 0.042,
     .split_windows = 0.158, .row_rounds = 0.312, .whole_row_rounds = 0.00312,
     .slice_starts = 0.459, .sectors_busiest = 0.897, .loads_busiest = 0.611, .chain_sums = 0.248},
    // narrow
    {.start = 0.0479, .memory = 0.879, .l2 = 1.41, .rounds = 0.00653, .further_rounds = 0.186,
     .steps = 0.612, .sectors = 1.05, .sectors_thin = 0.0133, .loads = 13.4, .loads_thin = 0.0673,
     .staged_loads = 3.89, .rows = 2.58, .staged_bytes = 0.489, .windows = 0.0115, .copies = 0.208,
     .stages = 0.944, .split = 1.89, .cells = 0.0364, .deepest = 1.1, .long_sums = 0.0324,
     .split_windows = 0.214, .row_rounds = 0.619, .whole_row_rounds = 0.0031, .slice_starts = 0.654,
     .sectors_busiest = 0.145, .loads_busiest = 1, .chain_sums = 1.21},
    // wide
    {.start = 1.64, .memory = 0.812, .l2 = 1.15, .rounds = 0.00667, .further_rounds = 0.733,
     .steps = 2.47, .sectors = 1.5, .sectors_thin = 0.019, .loads = 0.487, .loads_thin = 2.05,
     .staged_loads = 2.12, .rows = 1.08, .staged_bytes = 1.15, .windows = 0.00333, .copies = 0.204,
     .stages = 0.31, .split = 0.917, .cells = 0.334, .deepest = 1.67, .long_sums = 0.0638,
     .split_windows = 3.11, .row_rounds = 0.268, .whole_row_rounds = 0.00287, .slice_starts = 0.533,
     .sectors_busiest = 0.456, .loads_busiest = 1.06, .chain_sums = 0.488},
    // hot
    {.start = 0.844, .memory = 0.781, .l2 = 2.39, .rounds = 0.00686, .further_rounds = 0.303,
     .steps = 1.1, .sectors = 1.63, .sectors_thin = 0.0236, .loads = 2.36, .loads_thin = 0.0693,
     .staged_loads = 10.8, .rows = 2.58, .staged_bytes = 0.616, .windows = 0.0108, .copies = 0.0244,
     .stages = 0.445, .split = 1.13, .cells = 0.0856, .deepest = 1.23, .long_sums = 0.0487,
     .split_windows = 0.207, .row_rounds = 0.289, .whole_row_rounds = 0.00306,
     .slice_starts = 0.235, .sectors_busiest = 0.524, .loads_busiest = 1.03, .chain_sums = 0.41},
};
// clang-format on

}  // namespace lanky::sparse
