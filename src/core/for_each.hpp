// Loops that OpenMP's threads share where that is worth it.
#pragma once

#include <cstdint>

namespace lanky {

/// each(index) for index < count: by threads, equally many each, or by the calling thread without
/// OpenMP, whose region of one thread takes .4 to .8 us.
template <class Each>
void for_each(std::int64_t count, bool by_threads, const Each& each) {
  if (!by_threads) {
    for (std::int64_t index = 0; index < count; ++index)
      each(index);
    return;
  }
#pragma omp parallel for schedule(static)
  for (std::int64_t index = 0; index < count; ++index)
    each(index);
}

/// for_each() of indices that take different times: each goes to the next thread that is free.
template <class Each>
void for_each_task(std::int64_t count, bool by_threads, const Each& each) {
  if (!by_threads) return for_each(count, false, each);
#pragma omp parallel for schedule(dynamic, 1)
  for (std::int64_t index = 0; index < count; ++index)
    each(index);
}

}  // namespace lanky
