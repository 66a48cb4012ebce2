// Host memory that a GPU copies from and to without the driver's own copy: pinned_cuda.cpp, or
// runtime_absent.cpp.
#pragma once

#include <cstddef>

namespace lanky::runtime {

/// Throws Error(out_of_memory).
void* allocate_pinned(std::size_t bytes, int device);
void deallocate_pinned(void* data) noexcept;

}  // namespace lanky::runtime
