// What a rung's kernel reads, counted by NVIDIA Nsight Compute (ncu).
#pragma once

#include <string>
#include <vector>

namespace lanky::ladder {

/// Bytes that one launch reads.
struct ReadBytes {
  double by_warps = 0;  // asked of global memory, what several lanes of a warp read counted once
  double from_l2 = 0;   // that the first caches did not have
  double from_dram = 0;
};

/// Runs this program once more, with `arguments` that launch one rung, under ncu, and counts for
/// the first kernel of a ladder. Throws Error(unsupported) where there is no ncu or it may not
/// count.
ReadBytes profile_reads(const std::vector<std::string>& arguments);

/// The three counts of ncu's raw page as CSV; Error(unsupported) with its last words for other
/// text.
ReadBytes parse_profile(const std::string& csv);

}  // namespace lanky::ladder
