// Written by bench/scripts/fit_sparse_cost.py from these files (SHA-256 53c84c2c8714c107):
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
//   bench/results/h200/spmv_shapes10.raw.jsonl.xz
// Not edited by hand: run the script again after a new run.
#pragma once

#include "sparse/cost.hpp"

namespace lanky::sparse {

// clang-format off
// Microseconds a unit of each term, by CostKernel.
inline constexpr CostTerms kCostRates[] = {
    // few
    {.start = 0.798, .memory = 0.596, .memory_last = 4.77, .bytes_uneven = 0.135, .l2 = 0.631,
     .streams = 0.34, .further_rounds = 0.0904, .windows = 0.0326, .rows = 41.6, .steps = 0.139,
     .longest_turn = 0.0425, .slice_starts = 0.185, .sectors = 1.07, .sectors_thin = 0.0917,
     .sectors_busiest = 0.784, .lines = 0.821, .loads = 1.41, .loads_thin = 0.0871,
     .staged_loads = 1.73, .staged_bytes = 0.996, .copies = 0.211, .stages = 0.612, .cells = 0.172,
     .pieces = 52.9, .row_rounds = 0.271, .long_sums = 0.0299, .chain_sums = 0.296, .split = 1.06,
     .split_windows = 0.175},
    // deep
    {.start = 0.873, .memory = 0.714, .memory_last = 1.25, .bytes_uneven = 0.262, .l2 = 0.838,
     .streams = 0.38, .further_rounds = 0.352, .windows = 0.0144, .rows = 38.7, .steps = 1.66,
     .longest_turn = 1.9, .slice_starts = 0.184, .sectors = 1.18, .sectors_thin = 0.0503,
     .sectors_busiest = 0.757, .lines = 0.999, .loads = 1.43, .loads_thin = 0.115,
     .staged_loads = 0.734, .staged_bytes = 0.332, .copies = 1.05, .stages = 0.348, .cells = 0.0535,
     .pieces = 13.8, .row_rounds = 0.263, .long_sums = 0.0206, .chain_sums = 0.258, .split = 1.02,
     .split_windows = 0.129},
    // narrow
    {.start = 0.0816, .memory = 0.627, .memory_last = 0.698, .bytes_uneven = 0.155, .l2 = 1.24,
     .streams = 0.353, .further_rounds = 0.147, .windows = 0.013, .rows = 8.57, .steps = 0.629,
     .longest_turn = 1.15, .slice_starts = 0.516, .sectors = 1.11, .sectors_thin = 0.0175,
     .sectors_busiest = 0.156, .lines = 0.993, .loads = 9.64, .loads_thin = 0.138,
     .staged_loads = 1.75, .staged_bytes = 0.546, .copies = 0.141, .stages = 0.942, .cells = 0.0421,
     .pieces = 34.3, .row_rounds = 0.415, .long_sums = 0.0222, .chain_sums = 1.08, .split = 1.73,
     .split_windows = 0.219},
    // wide
    {.start = 1.8, .memory = 0.784, .memory_last = 0.0878, .bytes_uneven = 0.228, .l2 = 1.02,
     .streams = 0.348, .further_rounds = 0.49, .windows = 0.00731, .rows = 3.22, .steps = 3.05,
     .longest_turn = 1.38, .slice_starts = 0.131, .sectors = 1.41, .sectors_thin = 0.0525,
     .sectors_busiest = 0.428, .lines = 1.18, .loads = 0.169, .loads_thin = 1.2,
     .staged_loads = 0.911, .staged_bytes = 1.13, .copies = 0.0963, .stages = 0.291, .cells = 0.186,
     .pieces = 12.9, .row_rounds = 0.193, .long_sums = 0.0656, .chain_sums = 0.471, .split = 0.875,
     .split_windows = 2.49},
    // hot
    {.start = 0.7, .memory = 0.56, .memory_last = 0.774, .bytes_uneven = 0.2, .l2 = 2.19,
     .streams = 0.364, .further_rounds = 0.242, .windows = 0.0143, .rows = 9, .steps = 1.18,
     .longest_turn = 1.37, .slice_starts = 0.128, .sectors = 1.57, .sectors_thin = 0.0499,
     .sectors_busiest = 0.454, .lines = 0.993, .loads = 1.26, .loads_thin = 0.164,
     .staged_loads = 4.2, .staged_bytes = 0.658, .copies = 0.0644, .stages = 0.463, .cells = 0.0985,
     .pieces = 25.3, .row_rounds = 0.268, .long_sums = 0.0319, .chain_sums = 0.458, .split = 2.75,
     .split_windows = 0.257},
};
// clang-format on

}  // namespace lanky::sparse
