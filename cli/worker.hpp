// The worker's side of a batch: reads a task a line from standard input, answers line by line on
// kReplyDescriptor.
//
//   task    {"task": "environment"}
//           {"task": "identify", "source": .., "known": {"stamp": .., "content": ..}, "hash": ..}
//           {"task": "spmv", "source": .., "content": "..", "dtypes": [..]}
//           {"task": "gemm", "grid": ".."}
//           and in each "clock_mhz" and "token"
//   answer  {"reply": "begin", "text": ..} | "facts" | "case" while it works, then {"reply":
//   "done"}
//           with what the task gives: "environment"; "content" and "stamp", or "refused"; "status"
//           and "reason" of a matrix. Each bears the token of its task: whatever else is written
//           into the pipe, by a contestant say, is known by the want of it.
#pragma once

#include "cli/options.hpp"

namespace lanky::cli {

/// Until the end of the input.
int run_worker(const RunOptions& options, const Work& work);

}  // namespace lanky::cli
