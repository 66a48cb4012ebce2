// Written by bench/scripts/fit_sparse_cost.py from these files (SHA-256 5fded08c14029b0b):
//   bench/results/h200/spmv_shapes.raw.jsonl.xz
//   bench/results/h100/spmv_shapes.raw.jsonl.xz
//   bench/results/h200/spmv_shapes2.raw.jsonl.xz
// Not edited by hand: run the script again after a new run.
#pragma once

#include "sparse/cost.hpp"

namespace lanky::sparse {

// clang-format off
// Microseconds a unit of each term, by CostKernel.
inline constexpr CostTerms kCostRates[] = {
    // few
    {.start = 0.774, .memory = 0.938, .l2 = 0.975, .rounds = 0.00934, .further_rounds = 0.386,
     .steps = 0.0416, .sectors = 0.961, .sectors_thin = 0.0857, .loads = 6.61, .loads_thin = 0.0549,
     .staged_loads = 6.37, .rows = 12.4, .staged_bytes = 0.977, .windows = 0.0448, .copies = 0.372,
     .stages = 0.603, .split = 1.11, .cells = 0.244, .deepest = 0.0233, .long_sums = 0.0552,
     .split_windows = 0.249, .row_rounds = 0.431, .whole_row_rounds = 0.00268,
     .slice_starts = 0.336, .sectors_busiest = 0.827, .loads_busiest = 1.38, .chain_sums = 0.271},
    // deep
    {.start = 0.87, .memory = 0.891, .l2 = 1.06, .rounds = 0.0101, .further_rounds = 0.746,
     .steps = 1.74, .sectors = 1.24, .sectors_thin = 0.0228, .loads = 1.7, .loads_thin = 0.0751,
     .staged_loads = 0.84, .rows = 5.56, .staged_bytes = 0.325, .windows = 0.0127, .copies = 1.09,
     .stages = 0.341, .split = 1.01, .cells = 0.0717, .deepest = 2.1, .long_sums = 0.0348,
     .split_windows = 0.428, .row_rounds = 0.414, .whole_row_rounds = 0.00277,
     .slice_starts = 0.336, .sectors_busiest = 0.788, .loads_busiest = 0.619, .chain_sums = 0.245},
    // narrow
    {.start = 0.1, .memory = 1.01, .l2 = 1.44, .rounds = 0.0096, .further_rounds = 0.295,
     .steps = 0.848, .sectors = 1.03, .sectors_thin = 0.0148, .loads = 10.9, .loads_thin = 0.0785,
     .staged_loads = 3.06, .rows = 4.87, .staged_bytes = 0.398, .windows = 0.0127, .copies = 0.206,
     .stages = 0.662, .split = 1.82, .cells = 0.0689, .deepest = 1.32, .long_sums = 0.0422,
     .split_windows = 0.49, .row_rounds = 0.516, .whole_row_rounds = 0.00276, .slice_starts = 0.466,
     .sectors_busiest = 0.153, .loads_busiest = 0.826, .chain_sums = 1.17},
    // wide
    {.start = 1.58, .memory = 0.834, .l2 = 1.23, .rounds = 0.00974, .further_rounds = 0.572,
     .steps = 2.35, .sectors = 1.47, .sectors_thin = 0.0174, .loads = 0.497, .loads_thin = 1.99,
     .staged_loads = 1.8, .rows = 1.47, .staged_bytes = 1.18, .windows = 0.0052, .copies = 0.193,
     .stages = 0.338, .split = 0.764, .cells = 0.396, .deepest = 1.68, .long_sums = 0.068,
     .split_windows = 3.39, .row_rounds = 0.242, .whole_row_rounds = 0.00254, .slice_starts = 0.377,
     .sectors_busiest = 0.314, .loads_busiest = 0.953, .chain_sums = 0.589},
    // hot
    {.start = 0.776, .memory = 0.836, .l2 = 1.43, .rounds = 0.00995, .further_rounds = 0.392,
     .steps = 1.41, .sectors = 1.48, .sectors_thin = 0.0222, .loads = 2.07, .loads_thin = 0.0832,
     .staged_loads = 11.9, .rows = 4.76, .staged_bytes = 0.561, .windows = 0.0121, .copies = 0.033,
     .stages = 0.436, .split = 1.11, .cells = 0.121, .deepest = 1.39, .long_sums = 0.0495,
     .split_windows = 0.476, .row_rounds = 0.604, .whole_row_rounds = 0.00273,
     .slice_starts = 0.221, .sectors_busiest = 0.4, .loads_busiest = 0.899, .chain_sums = 0.428},
};
// clang-format on

}  // namespace lanky::sparse
