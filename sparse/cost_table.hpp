// Written by bench/scripts/fit_sparse_cost.py from these files (SHA-256 51f530cefac35df7):
//   bench/results/h200/spmv_shapes.raw.jsonl.xz
//   bench/results/h100/spmv_shapes.raw.jsonl.xz
//   bench/results/h200/spmv_shapes2.raw.jsonl.xz
//   bench/results/h200/spmv_shapes3.raw.jsonl.xz
//   bench/results/h100/spmv_shapes3.raw.jsonl.xz
//   bench/results/h200/spmv_shapes4.raw.jsonl.xz
// Not edited by hand: run the script again after a new run.
#pragma once

#include "sparse/cost.hpp"

namespace lanky::sparse {

// clang-format off
// Microseconds a unit of each term, by CostKernel.
inline constexpr CostTerms kCostRates[] = {
    // few
    {.start = 0.791, .memory = 0.891, .l2 = 0.88, .rounds = 0.0055, .further_rounds = 0.358,
     .steps = 0.0369, .sectors = 0.988, .sectors_thin = 0.0847, .loads = 6.75, .loads_thin = 0.0377,
     .staged_loads = 7.15, .rows = 15.7, .staged_bytes = 0.686, .windows = 0.0431, .copies = 0.45,
     .stages = 0.597, .split = 1.12, .cells = 0.239, .deepest = 0.0182, .long_sums = 0.0558,
     .split_windows = 0.149, .row_rounds = 0.353, .whole_row_rounds = 0.00283,
     .slice_starts = 0.439, .sectors_busiest = 0.817, .loads_busiest = 1.51, .chain_sums = 0.262,
     .sectors_starved = 0.0235},
    // deep
    {.start = 0.896, .memory = 0.846, .l2 = 0.955, .rounds = 0.00578, .further_rounds = 0.984,
     .steps = 1.7, .sectors = 1.23, .sectors_thin = 0.0259, .loads = 2.39, .loads_thin = 0.0615,
     .staged_loads = 1.2, .rows = 2.6, .staged_bytes = 0.324, .windows = 0.0115, .copies = 1.1,
     .stages = 0.357, .split = 1.06, .cells = 0.0521, .deepest = 2.06, .long_sums = 0.0402,
     .split_windows = 0.161, .row_rounds = 0.346, .whole_row_rounds = 0.00295,
     .slice_starts = 0.437, .sectors_busiest = 0.887, .loads_busiest = 0.573, .chain_sums = 0.252,
     .sectors_starved = 0.0317},
    // narrow
    {.start = 0.0465, .memory = 0.868, .l2 = 1.39, .rounds = 0.00551, .further_rounds = 0.172,
     .steps = 0.606, .sectors = 1.06, .sectors_thin = 0.0137, .loads = 13.8, .loads_thin = 0.0681,
     .staged_loads = 4.24, .rows = 2.24, .staged_bytes = 0.506, .windows = 0.0104, .copies = 0.196,
     .stages = 0.949, .split = 1.88, .cells = 0.0337, .deepest = 1.12, .long_sums = 0.0308,
     .split_windows = 0.219, .row_rounds = 0.618, .whole_row_rounds = 0.00294,
     .slice_starts = 0.664, .sectors_busiest = 0.139, .loads_busiest = 0.859, .chain_sums = 1.2,
     .sectors_starved = 0.0318},
    // wide
    {.start = 1.63, .memory = 0.806, .l2 = 1.16, .rounds = 0.00556, .further_rounds = 0.685,
     .steps = 2.55, .sectors = 1.47, .sectors_thin = 0.0223, .loads = 0.628, .loads_thin = 2.07,
     .staged_loads = 2.1, .rows = 0.57, .staged_bytes = 1.15, .windows = 0.00263, .copies = 0.173,
     .stages = 0.35, .split = 0.942, .cells = 0.369, .deepest = 1.66, .long_sums = 0.0626,
     .split_windows = 3.21, .row_rounds = 0.299, .whole_row_rounds = 0.00271, .slice_starts = 0.494,
     .sectors_busiest = 0.538, .loads_busiest = 0.864, .chain_sums = 0.444,
     .sectors_starved = 0.039},
    // hot
    {.start = 0.855, .memory = 0.753, .l2 = 3.05, .rounds = 0.00574, .further_rounds = 0.284,
     .steps = 0.999, .sectors = 1.64, .sectors_thin = 0.0258, .loads = 2.43, .loads_thin = 0.0701,
     .staged_loads = 9.64, .rows = 2.21, .staged_bytes = 0.623, .windows = 0.0099, .copies = 0.0235,
     .stages = 0.461, .split = 1.29, .cells = 0.0778, .deepest = 1.26, .long_sums = 0.0479,
     .split_windows = 0.21, .row_rounds = 0.331, .whole_row_rounds = 0.0029, .slice_starts = 0.23,
     .sectors_busiest = 0.579, .loads_busiest = 0.877, .chain_sums = 0.385,
     .sectors_starved = 0.0323},
};
// clang-format on

}  // namespace lanky::sparse
