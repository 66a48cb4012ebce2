// Written by bench/scripts/fit_sparse_cost.py from these files (SHA-256 a08cf1344a9ec609):
//   bench/results/h200/spmv_shapes.raw.jsonl.xz
//   bench/results/h100/spmv_shapes.raw.jsonl.xz
//   bench/results/h200/spmv_shapes2.raw.jsonl.xz
//   bench/results/h200/spmv_shapes3.raw.jsonl.xz
//   bench/results/h100/spmv_shapes3.raw.jsonl.xz
//   bench/results/h200/spmv_shapes4.raw.jsonl.xz
//   bench/results/h200/spmv_shapes5.raw.jsonl.xz
//   bench/results/h100/spmv_shapes6.raw.jsonl.xz
//   bench/results/h200/spmv_shapes7.raw.jsonl.xz
//   bench/results/h200/spmv_shapes8.raw.jsonl.xz
//   bench/results/h200/spmv_shapes9.raw.jsonl.xz
// Not edited by hand: run the script again after a new run.
#pragma once

#include "sparse/cost.hpp"

namespace lanky::sparse {

// clang-format off
// Microseconds a unit of each term, by CostKernel.
inline constexpr CostTerms kCostRates[] = {
    // few
    {.start = 0.798, .memory = 0.599, .memory_last = 5.04, .bytes_uneven = 0.139, .l2 = 0.644,
     .further_rounds = 0.094, .windows = 0.0328, .rows = 41.4, .steps = 0.139,
     .longest_turn = 0.0415, .slice_starts = 0.209, .sectors = 1.1, .sectors_thin = 0.0903,
     .sectors_busiest = 0.777, .lines = 0.191, .loads = 1.46, .loads_thin = 0.0883,
     .staged_loads = 1.72, .staged_bytes = 1.03, .copies = 0.216, .stages = 0.611, .cells = 0.173,
     .pieces = 52.7, .row_rounds = 0.27, .long_sums = 0.0296, .chain_sums = 0.295, .split = 1.05,
     .split_windows = 0.177},
    // deep
    {.start = 0.871, .memory = 0.717, .memory_last = 1.27, .bytes_uneven = 0.278, .l2 = 0.849,
     .further_rounds = 0.349, .windows = 0.0145, .rows = 38.6, .steps = 1.67, .longest_turn = 1.9,
     .slice_starts = 0.208, .sectors = 1.2, .sectors_thin = 0.0493, .sectors_busiest = 0.741,
     .lines = 0.191, .loads = 1.45, .loads_thin = 0.116, .staged_loads = 0.746,
     .staged_bytes = 0.38, .copies = 1.06, .stages = 0.344, .cells = 0.053, .pieces = 13.9,
     .row_rounds = 0.262, .long_sums = 0.0203, .chain_sums = 0.256, .split = 1.02,
     .split_windows = 0.132},
    // narrow
    {.start = 0.0795, .memory = 0.633, .memory_last = 0.717, .bytes_uneven = 0.164, .l2 = 1.26,
     .further_rounds = 0.146, .windows = 0.0129, .rows = 8.7, .steps = 0.625, .longest_turn = 1.14,
     .slice_starts = 0.52, .sectors = 1.14, .sectors_thin = 0.0172, .sectors_busiest = 0.155,
     .lines = 0.169, .loads = 9.54, .loads_thin = 0.139, .staged_loads = 1.77,
     .staged_bytes = 0.612, .copies = 0.143, .stages = 0.941, .cells = 0.0411, .pieces = 34.1,
     .row_rounds = 0.417, .long_sums = 0.0217, .chain_sums = 1.08, .split = 1.73,
     .split_windows = 0.223},
    // wide
    {.start = 1.79, .memory = 0.785, .memory_last = 0.103, .bytes_uneven = 0.257, .l2 = 1.03,
     .further_rounds = 0.49, .windows = 0.00706, .rows = 2.92, .steps = 3.06, .longest_turn = 1.39,
     .slice_starts = 0.167, .sectors = 1.44, .sectors_thin = 0.0504, .sectors_busiest = 0.411,
     .lines = 0.194, .loads = 0.195, .loads_thin = 1.27, .staged_loads = 0.752,
     .staged_bytes = 1.22, .copies = 0.0999, .stages = 0.308, .cells = 0.18, .pieces = 13.2,
     .row_rounds = 0.19, .long_sums = 0.0622, .chain_sums = 0.471, .split = 0.876,
     .split_windows = 2.51},
    // hot
    {.start = 0.681, .memory = 0.565, .memory_last = 0.795, .bytes_uneven = 0.214, .l2 = 2.19,
     .further_rounds = 0.242, .windows = 0.0142, .rows = 8.97, .steps = 1.13, .longest_turn = 1.37,
     .slice_starts = 0.137, .sectors = 1.6, .sectors_thin = 0.0486, .sectors_busiest = 0.443,
     .lines = 0.191, .loads = 1.27, .loads_thin = 0.165, .staged_loads = 4.62,
     .staged_bytes = 0.676, .copies = 0.0639, .stages = 0.468, .cells = 0.0973, .pieces = 25.2,
     .row_rounds = 0.267, .long_sums = 0.0312, .chain_sums = 0.461, .split = 2.88,
     .split_windows = 0.26},
};
// clang-format on

}  // namespace lanky::sparse
