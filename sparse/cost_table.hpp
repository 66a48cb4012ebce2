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
    {.start = 0.791, .memory = 0.619, .memory_last = 5.17, .bytes_uneven = 0.109, .l2 = 0.641,
     .further_rounds = 0.0992, .windows = 0.0327, .rows = 42.2, .steps = 0.175,
     .longest_turn = 0.0508, .slice_starts = 0.221, .sectors = 1.06, .sectors_thin = 0.0919,
     .sectors_busiest = 0.751, .lines = 0.234, .loads = 1.58, .loads_thin = 0.0958,
     .staged_loads = 2.24, .staged_bytes = 0.954, .copies = 0.223, .stages = 0.609, .cells = 0.183,
     .pieces = 50, .row_rounds = 0.306, .long_sums = 0.0468, .chain_sums = 0.274, .split = 1.08,
     .split_windows = 0.226},
    // deep
    {.start = 0.872, .memory = 0.715, .memory_last = 1.25, .bytes_uneven = 0.214, .l2 = 0.826,
     .further_rounds = 0.317, .windows = 0.0154, .rows = 37.9, .steps = 1.68, .longest_turn = 1.93,
     .slice_starts = 0.22, .sectors = 1.22, .sectors_thin = 0.0381, .sectors_busiest = 0.8,
     .lines = 0.234, .loads = 1.55, .loads_thin = 0.129, .staged_loads = 0.837,
     .staged_bytes = 0.394, .copies = 1.04, .stages = 0.351, .cells = 0.0474, .pieces = 11.5,
     .row_rounds = 0.293, .long_sums = 0.0366, .chain_sums = 0.263, .split = 1.02,
     .split_windows = 0.122},
    // narrow
    {.start = 0.0763, .memory = 0.644, .memory_last = 0.7, .bytes_uneven = 0.145, .l2 = 1.27,
     .further_rounds = 0.158, .windows = 0.0144, .rows = 9.97, .steps = 0.626, .longest_turn = 1.07,
     .slice_starts = 0.519, .sectors = 1.12, .sectors_thin = 0.0168, .sectors_busiest = 0.175,
     .lines = 0.239, .loads = 9.71, .loads_thin = 0.151, .staged_loads = 1.92,
     .staged_bytes = 0.603, .copies = 0.183, .stages = 0.949, .cells = 0.0422, .pieces = 29.8,
     .row_rounds = 0.476, .long_sums = 0.025, .chain_sums = 1.13, .split = 1.78,
     .split_windows = 0.252},
    // wide
    {.start = 1.76, .memory = 0.783, .memory_last = 0.0998, .bytes_uneven = 0.246, .l2 = 1.01,
     .further_rounds = 0.483, .windows = 0.00838, .rows = 4.13, .steps = 2.97, .longest_turn = 1.43,
     .slice_starts = 0.182, .sectors = 1.44, .sectors_thin = 0.0423, .sectors_busiest = 0.43,
     .lines = 0.211, .loads = 0.205, .loads_thin = 1.39, .staged_loads = 0.854,
     .staged_bytes = 1.25, .copies = 0.16, .stages = 0.289, .cells = 0.214, .pieces = 11.3,
     .row_rounds = 0.213, .long_sums = 0.0537, .chain_sums = 0.484, .split = 0.929,
     .split_windows = 2.78},
    // hot
    {.start = 0.672, .memory = 0.563, .memory_last = 0.801, .bytes_uneven = 0.182, .l2 = 2.07,
     .further_rounds = 0.24, .windows = 0.0155, .rows = 9.98, .steps = 1.14, .longest_turn = 1.4,
     .slice_starts = 0.145, .sectors = 1.59, .sectors_thin = 0.0421, .sectors_busiest = 0.462,
     .lines = 0.234, .loads = 1.33, .loads_thin = 0.18, .staged_loads = 4.6, .staged_bytes = 0.655,
     .copies = 0.0671, .stages = 0.463, .cells = 0.1, .pieces = 23.7, .row_rounds = 0.312,
     .long_sums = 0.0426, .chain_sums = 0.462, .split = 2.4, .split_windows = 0.294},
};
// clang-format on

}  // namespace lanky::sparse
