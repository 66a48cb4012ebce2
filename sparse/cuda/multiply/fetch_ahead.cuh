// Parts of the plan and of x that a block has the L2 fetch before its warps ask for them.
#pragma once

#include <cstdint>

#include "device/matrix_copy.cuh"
#include "device/memory.cuh"
#include "sparse/cuda/multiply/arguments.cuh"
#include "sparse/cuda/multiply/block.hpp"

namespace lanky::sparse::cuda {

/// Fetches block `number`'s Shares, of x as many as rows have columns; one thread.
template <int kColumns, class E>
__device__ void fetch_shares(const DeviceMatrix<E>& a, const E* x, unsigned number) {
  const auto fetch = [&](const auto* all, int share) {
    const auto* const begin = reinterpret_cast<const unsigned char*>(all);
    if (share > 0) device::prefetch_bytes(begin + static_cast<std::int64_t>(number) * share, share);
  };
  fetch(a.values, a.shares.values);
  fetch(a.indices, a.shares.indices);
  fetch(x, a.shares.x * kColumns);
}

/// Fetches the first kAheadBytes of `bytes`; all threads of the team.
template <class Team>
__device__ void fetch_beginning(const void* begin, std::int64_t bytes) {
  constexpr int kLine = 128;
  const auto* const line = static_cast<const unsigned char*>(begin);
  const auto end = static_cast<int>(min(bytes, std::int64_t{kAheadBytes}));
  for (int at = Team::thread() * kLine; at < end; at += Team::threads() * kLine)
    device::prefetch(line + at);
}

/// Fetches the beginning of window `number`, for all warps at once.
template <class Team, class E>
__device__ void fetch_window(const DeviceMatrix<E>& a, const Window& window, unsigned number) {
  const bool last = number + 1 == a.window_count;
  const Window& next = a.windows[number + (last ? 0 : 1)];
  const std::int64_t slots = (last ? a.slots : next.first_slot) - window.first_slot;
  const std::int64_t units = (last ? a.index_units : next.first_index) - window.first_index;
  fetch_beginning<Team>(a.values + window.first_slot, slots * static_cast<int>(sizeof(E)));
  fetch_beginning<Team>(a.indices + window.first_index * kIndexUnit, units * kIndexUnit);
}

}  // namespace lanky::sparse::cuda
