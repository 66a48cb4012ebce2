// Memory that CUB's algorithms work in.
#pragma once

#include <cstddef>
#include <lanky/buffer.hpp>

#include "device/launch.cuh"

namespace lanky::sparse::cuda {

/// f(memory, bytes) as CUB has it: once for the bytes of memory that it takes, then with them.
template <class F>
void with_cub_memory(const Stream& stream, const char* what, F&& f) {
  const device::LaunchScope scope(stream);  // CUB launches on the current device
  std::size_t bytes = 0;
  check_cuda(f(nullptr, bytes), what);
  Buffer<std::byte> memory(stream, static_cast<std::int64_t>(bytes));
  check_cuda(f(memory.data(), bytes), what);
}

}  // namespace lanky::sparse::cuda
