// The child of a process that had used CUDA, where nothing of CUDA may be touched, not even to free
// it: forked_cuda.cpp, or runtime_absent.cpp.
#pragma once

namespace lanky::runtime {

inline constexpr const char* kForked =
    "this process was forked from one that had used CUDA, which does not work in it: fork before "
    "the first use of CUDA, or start the program anew (in Python: multiprocessing's \"spawn\")";

/// From now on, children of this process are told from it. Called where CUDA begins.
void watch_forks() noexcept;
bool is_forked() noexcept;
/// Throws Error(no_device) there.
void check_not_forked();

}  // namespace lanky::runtime
