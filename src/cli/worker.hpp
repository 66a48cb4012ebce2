// The worker's side of a batch: reads a task a line from standard input, answers line by line on
// kReplyDescriptor.
//
//   task    {"task": "environment"} | {"task": "spmv", "source": .., "dtypes": [..], "clock_mhz":
//   ..}
//           | {"task": "gemm", "grid": "..", "clock_mhz": ..}
//   answer  {"reply": "begin", "text": ..} | "facts" | "case" while it works, then {"reply":
//   "done"}
//           with what the task gives: "environment", or "status", "reason", "seconds" of a matrix
#pragma once

#include "cli/options.hpp"

namespace lanky::cli {

/// Until the end of the input.
int run_worker(const RunOptions& options, const Work& work);

}  // namespace lanky::cli
