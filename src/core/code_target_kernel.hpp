// The kernel that tells what the code of a build was compiled for, which code_target.cpp starts.
#pragma once

#include <cstdint>

struct CUstream_st;

namespace lanky::runtime {

/// What a thread of the kernel leaves.
struct CodeWord {
  std::uint32_t answer;       // code_answer() of the question and the thread
  std::int32_t architecture;  // __CUDA_ARCH__: 900 for compute_90
  std::int32_t warp_groups;   // 1 in code for sm_90a
};

inline constexpr int kCodeThreads = 32;

/// A thread's answer to a question that it cannot know: what memory held before is not taken for
/// it. (The finalizer of MurmurHash3; Appleby, 2011.)
constexpr std::uint32_t code_answer(std::uint32_t question, std::uint32_t thread) noexcept {
  std::uint32_t h = question + thread * 0x9e3779b9U;
  h = (h ^ (h >> 16U)) * 0x85ebca6bU;
  h = (h ^ (h >> 13U)) * 0xc2b2ae35U;
  return h ^ (h >> 16U);
}

/// Starts the kernel: words[thread], device memory, for every thread. The status is CUDA's.
int start_code_kernel(std::uint32_t question, CodeWord* words, CUstream_st* stream) noexcept;

}  // namespace lanky::runtime
