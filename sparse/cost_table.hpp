// Written by bench/scripts/fit_sparse_cost.py from these files (SHA-256 cebf0aeedca75054):
//   bench/results/h200/spmv_shapes.raw.jsonl.xz
//   bench/results/h100/spmv_shapes.raw.jsonl.xz
//   bench/results/h200/spmv_shapes2.raw.jsonl.xz
//   bench/results/h200/spmv_shapes3.raw.jsonl.xz
//   bench/results/h100/spmv_shapes3.raw.jsonl.xz
//   bench/results/h200/spmv_shapes4.raw.jsonl.xz
//   bench/results/h200/spmv_shapes5.raw.jsonl.xz
//   bench/results/h100/spmv_shapes6.raw.jsonl.xz
// Not edited by hand: run the script again after a new run.
#pragma once

#include "sparse/cost.hpp"

namespace lanky::sparse {

// clang-format off
// Microseconds a unit of each term, by CostKernel.
inline constexpr CostTerms kCostRates[] = {
    // few
    {.start = 0.793, .memory = 0.623, .memory_last = 5.13, .bytes_uneven = 0.103, .l2 = 0.648,
     .further_rounds = 0.098, .windows = 0.0322, .rows = 42.1, .steps = 0.172,
     .longest_turn = 0.0548, .slice_starts = 0.221, .sectors = 1.06, .sectors_thin = 0.0907,
     .sectors_busiest = 0.735, .lines = 0.236, .loads = 1.66, .loads_thin = 0.092,
     .staged_loads = 2.13, .staged_bytes = 1.06, .copies = 0.129, .stages = 0.626, .cells = 0.183,
     .pieces = 49.5, .row_rounds = 0.308, .long_sums = 0.0471, .chain_sums = 0.275, .split = 1.07,
     .split_windows = 0.173},
    // deep
    {.start = 0.876, .memory = 0.715, .memory_last = 1.23, .bytes_uneven = 0.208, .l2 = 0.828,
     .further_rounds = 0.315, .windows = 0.0146, .rows = 37.8, .steps = 1.67, .longest_turn = 1.93,
     .slice_starts = 0.22, .sectors = 1.22, .sectors_thin = 0.0372, .sectors_busiest = 0.809,
     .lines = 0.236, .loads = 1.61, .loads_thin = 0.124, .staged_loads = 0.821,
     .staged_bytes = 0.454, .copies = 0.971, .stages = 0.366, .cells = 0.0471, .pieces = 11.2,
     .row_rounds = 0.294, .long_sums = 0.0372, .chain_sums = 0.269, .split = 0.988,
     .split_windows = 0.122},
    // narrow
    {.start = 0.0761, .memory = 0.648, .memory_last = 0.693, .bytes_uneven = 0.14, .l2 = 1.26,
     .further_rounds = 0.151, .windows = 0.0141, .rows = 9.96, .steps = 0.635, .longest_turn = 1.08,
     .slice_starts = 0.518, .sectors = 1.12, .sectors_thin = 0.017, .sectors_busiest = 0.18,
     .lines = 0.242, .loads = 9.74, .loads_thin = 0.148, .staged_loads = 2.04,
     .staged_bytes = 0.584, .copies = 0.0868, .stages = 1.04, .cells = 0.0418, .pieces = 27.9,
     .row_rounds = 0.486, .long_sums = 0.0258, .chain_sums = 1.14, .split = 1.75,
     .split_windows = 0.207},
    // wide
    {.start = 1.76, .memory = 0.782, .memory_last = 0.0995, .bytes_uneven = 0.246, .l2 = 1.01,
     .further_rounds = 0.481, .windows = 0.00863, .rows = 4.2, .steps = 2.98, .longest_turn = 1.43,
     .slice_starts = 0.18, .sectors = 1.45, .sectors_thin = 0.0413, .sectors_busiest = 0.43,
     .lines = 0.213, .loads = 0.206, .loads_thin = 1.39, .staged_loads = 0.864,
     .staged_bytes = 1.28, .copies = 0.0767, .stages = 0.303, .cells = 0.217, .pieces = 11.3,
     .row_rounds = 0.211, .long_sums = 0.0539, .chain_sums = 0.484, .split = 0.929,
     .split_windows = 2.43},
    // hot
    {.start = 0.679, .memory = 0.56, .memory_last = 0.788, .bytes_uneven = 0.177, .l2 = 2.07,
     .further_rounds = 0.239, .windows = 0.0153, .rows = 10.2, .steps = 1.13, .longest_turn = 1.4,
     .slice_starts = 0.145, .sectors = 1.6, .sectors_thin = 0.0414, .sectors_busiest = 0.462,
     .lines = 0.236, .loads = 1.38, .loads_thin = 0.175, .staged_loads = 5.07,
     .staged_bytes = 0.696, .copies = 0.0574, .stages = 0.485, .cells = 0.101, .pieces = 22.8,
     .row_rounds = 0.318, .long_sums = 0.043, .chain_sums = 0.466, .split = 2.28,
     .split_windows = 0.246},
};
// clang-format on

}  // namespace lanky::sparse
