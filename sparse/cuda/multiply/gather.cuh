// Gather: x at the columns of a slice, from memory by way of L1, or from shared memory where the
// window has staged it or columns are hot. All reads of x are in this file.
#pragma once

#include <cstdint>

#include "device/columns.hpp"
#include "device/guarded_load.cuh"
#include "device/matrix_copy.cuh"
#include "device/mbarrier.cuh"
#include "device/memory.cuh"
#include "sparse/cuda/multiply/block.hpp"
#include "sparse/packed.hpp"

namespace lanky::sparse::cuda {

/// Which part of x is in shared memory.
enum class Nearby : std::uint8_t {
  staged,    // columns of the window, for slices of kind staged; they have arrived
  arriving,  // the same, which may still be on their way
  hot        // the hot columns, for codes with kHotBit
};

/// Until this barrier completes, what the block stages is on its way. Some slice reads it, so that
/// no block ends before.
__device__ inline device::Mbarrier* staged_barrier() {
  __shared__ device::Mbarrier barrier;
  return &barrier;
}

/// Until the words have come, by threads that a barrier has parted from the start of the copies.
__device__ inline void wait_for_staged() {
  if constexpr (device::kBulkCopies) device::mbarrier_wait(staged_barrier(), 0);
}

template <class E, Nearby kNearby>
class Gather {
 public:
  using Factor = E;
  /// Wide slices may have pieces of different lengths.
  static constexpr bool kRagged = kNearby != Nearby::hot;
  /// Floats have registers left, for WideWalk::kLastSteps.
  static constexpr bool kSpare = kNearby == Nearby::staged;
  /// Slices have columns of this kind.
  static constexpr bool has(IndexKind kind) {
    return kNearby != Nearby::hot || kind == IndexKind::shared || kind == IndexKind::absolute;
  }

  __device__ Gather(const E* x, const E* nearby) : x_(x), nearby_(nearby) {}

  /// Before x of a slice of this kind is read.
  template <IndexKind kKind>
  __device__ void wait() const {
    if constexpr (kKind == IndexKind::staged && kNearby == Nearby::arriving) wait_for_staged();
  }

  /// factor = x[column + further], or 0 where the entry does not exist.
  template <IndexKind kKind>
  __device__ void load(E& factor, std::uint32_t column, int further, bool exists) const {
    if constexpr (kKind == IndexKind::staged) {
      factor = exists ? nearby_[column] : E{};
    } else if constexpr (kNearby == Nearby::hot) {
      const E* const source = (column & kHotBit) != 0 ? nearby_ : x_;
      factor = exists ? source[column & ~kHotBit] : E{};
    } else {
      device::load_if<device::Stay::normally>(factor, x_ + column + further, exists);
    }
  }

 private:
  const E* x_;
  const E* nearby_;
};

/// Several columns of rows of X, all of them from memory: a word of each row or, if kApart, an
/// element of each column.
template <class E, int kCount, bool kApart>
class ColumnsGather {
 public:
  using Factor = device::Columns<E, kCount>;
  static constexpr bool kRagged = true;
  static constexpr bool kSpare = false;
  static constexpr bool has(IndexKind /*kind*/) { return true; }

  /// `x`: row 0; columns of kind staged count from `first_column` on.
  __device__ ColumnsGather(const E* x, std::uint32_t row_bytes, std::int64_t further,
                           std::uint32_t first_column)
      : x_(x), further_(further), row_bytes_(row_bytes), first_column_(first_column) {}

  template <IndexKind kKind>
  __device__ void wait() const {}

  template <IndexKind kKind>
  __device__ void load(Factor& factor, std::uint32_t column, int further, bool exists) const {
    if constexpr (kKind == IndexKind::staged) column += first_column_;
    if constexpr (kApart) {
#pragma unroll
      for (int i = 0; i < kCount; ++i)
        device::load_if<device::Stay::normally>(factor.of[i], x_ + i * further_ + column + further,
                                                exists);
    } else {
      constexpr int kWord = sizeof(Factor) > kWordBytes ? kWordBytes / sizeof(E) : kCount;
      const E* const row = device::advanced(x_, column + further, row_bytes_);
#pragma unroll
      for (int i = 0; i < kCount; i += kWord) {
        auto& word = reinterpret_cast<device::Columns<E, kWord>&>(factor.of[i]);
        device::load_if<device::Stay::normally>(
            word, reinterpret_cast<const device::Columns<E, kWord>*>(row + i), exists);
      }
    }
  }

 private:
  const E* x_;
  std::int64_t further_;  // elements from column to column
  std::uint32_t row_bytes_;
  std::uint32_t first_column_;
};

/// Starts to copy `columns` elements of x to shared memory; returns where they stand, which is in a
/// word at or behind `target` as the source is in its own. Words are copied in bulk and arrive at
/// staged_barrier(), or by threads that call finish_staging(); columns before and behind them are
/// copied one by one. A barrier must follow.
template <class Team, class E>
__device__ E* stage_columns(const E* source, int columns, E* target) {
  constexpr int kWord = kWordBytes / static_cast<int>(sizeof(E));
  const int place = device::place_in_word<kWord>(source);
  const int before = min((kWord - place) % kWord, columns);
  const int whole = (columns - before) / kWord * kWord;
  const int behind = columns - before - whole;
  target += place;
  if constexpr (!device::kBulkCopies) {
    for (int i = Team::thread() * kWord; i < whole; i += Team::threads() * kWord)
      device::copy_word(target + before + i, source + before + i);
  } else if (Team::thread() == 0) {
    device::Mbarrier* const arrived = staged_barrier();
    device::mbarrier_init(arrived, 1);
    device::publish_mbarriers();
    const int bytes = whole * static_cast<int>(sizeof(E));
    device::mbarrier_arrive_expecting(arrived, static_cast<unsigned>(bytes));
    if (bytes > 0) device::copy_bytes(target + before, source + before, bytes, arrived);
  }
  const int single = Team::thread();
  if (single < before) target[single] = source[single];
  if (single < behind) target[before + whole + single] = source[before + whole + single];
  return target;
}

/// The words that this thread copies have come, ahead of the barrier.
__device__ inline void finish_staging() {
  if constexpr (!device::kBulkCopies) device::wait_for_copies();
}

/// Copies `columns` elements of x to `target` itself, by threads that a barrier must follow.
template <class Team, class E>
__device__ void copy_columns(const E* source, int columns, E* target) {
  for (int i = Team::thread(); i < columns; i += Team::threads())
    target[i] = source[i];
}

/// Copies x of `count` hot columns to shared memory, by all threads of the block, which a barrier
/// must follow.
template <class E>
__device__ void copy_hot_columns(const E* x, const std::int32_t* columns, unsigned count,
                                 E* target) {
#pragma unroll 8
  for (unsigned i = threadIdx.x; i < count; i += blockDim.x) {
    E element[1];
    device::load_constant(element, x + __ldg(columns + i));
    target[i] = element[0];
  }
}

}  // namespace lanky::sparse::cuda
