// Memory of large arrays taken from the system by all threads: a vector touches its own with one,
// page by page, which costs more than to read a file into it.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace lanky::inline v1::io {

/// vector.resize(count, value) of an empty vector. Where the kernel cannot be asked for pages
/// beforehand (Linux before 5.14), resize() takes them.
template <class T>
void resize_prefaulted(std::vector<T>& vector, std::size_t count, T value = T()) {
  constexpr std::uintptr_t kStep = std::uintptr_t{1} << 22;
  vector.reserve(count);
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  const auto begin = reinterpret_cast<std::uintptr_t>(vector.data());
  const std::uintptr_t first = (begin + page - 1) / page * page;
  const std::uintptr_t last = (begin + count * sizeof(T)) / page * page;
#pragma omp parallel for schedule(dynamic) if (first + kStep < last)
  for (std::uintptr_t at = first; at < last; at += kStep)
    madvise(reinterpret_cast<void*>(at), std::min(kStep, last - at), MADV_POPULATE_WRITE);
  vector.resize(count, value);
}

}  // namespace lanky::inline v1::io
