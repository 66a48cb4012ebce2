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

/// The whole pages of begin..end; `first` may be behind `last` where there is none.
struct WholePages {
  WholePages(const void* begin, const void* end)
      : first((reinterpret_cast<std::uintptr_t>(begin) + size() - 1) / size() * size()),
        last(reinterpret_cast<std::uintptr_t>(end) / size() * size()) {}
  static std::uintptr_t size() { return static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE)); }

  std::uintptr_t first, last;
};

/// Takes the whole pages of begin..end, by the team that calls it, which waits for one another.
/// Linux before 5.14 cannot be asked; there whoever writes takes them.
inline void take_pages(const void* begin, const void* end) {
  constexpr std::uintptr_t kStep = std::uintptr_t{1} << 21;  // a large page
  const WholePages pages(begin, end);
#pragma omp for schedule(dynamic)
  for (std::uintptr_t step = pages.first / kStep; step < (pages.last + kStep - 1) / kStep; ++step) {
    const std::uintptr_t from = std::max(pages.first, step * kStep);
    const std::uintptr_t to = std::min(pages.last, (step + 1) * kStep);
    if (from < to) madvise(reinterpret_cast<void*>(from), to - from, MADV_POPULATE_WRITE);
  }
}

/// vector.resize(count, value) of an empty vector.
template <class T>
void resize_prefaulted(std::vector<T>& vector, std::size_t count, T value = T()) {
  constexpr std::size_t kLarge = std::size_t{1} << 22;
  vector.reserve(count);
#pragma omp parallel if (count * sizeof(T) > kLarge)
  take_pages(vector.data(), vector.data() + count);
  vector.resize(count, value);
}

}  // namespace lanky::inline v1::io
