// The performance model of TSM2 (Chen et al., ICS '19, section 3): which t1, t2 and t3 its kernel
// should have on a card, and what time that takes.
#pragma once

#include <cstdint>

namespace lanky::ladder {

/// Threads of a block, which are also the rows of a tile of B; columns of B that a thread works on
/// at a time; elements of A that it loads ahead.
struct Tsm2Choice {
  int t1 = 0;
  int t2 = 0;
  int t3 = 0;

  friend bool operator==(const Tsm2Choice&, const Tsm2Choice&) = default;
};

/// The values that kernels are compiled for.
inline constexpr int kTsm2T1[] = {64, 128, 256, 512};
inline constexpr int kTsm2T2[] = {2, 4, 8, 16};
inline constexpr int kTsm2T3[] = {1, 2, 4, 8};

struct Tsm2Card {
  int multiprocessors = 0;
  int threads_per_multiprocessor = 0;
  int blocks_per_multiprocessor = 0;
  std::int64_t registers_per_multiprocessor = 0;
  std::int64_t shared_bytes_per_multiprocessor = 0;
  double clock_hz = 0;
  double bytes_per_second = 0;    // that a kernel which only reads gets from memory
  double flops_per_second = 0;    // of CUDA cores, in the element type; an FMA counts two
  double memory_latency = 0;      // clocks from a load that misses all caches to its value
  double arithmetic_latency = 0;  // clocks from an FMA to one that needs its result
};

/// C[m,n] = A[m,k] B[k,n], elements of `size` bytes.
struct Tsm2Product {
  std::int64_t m = 0;
  std::int64_t n = 0;
  std::int64_t k = 0;
  int size = 8;
};

struct Tsm2Estimate {
  double threads = 0;           // resident on a multiprocessor, by registers, shared memory, grid
  double memory_share = 0;      // of the bytes in flight that Little's law asks for, at most 1
  double arithmetic_share = 0;  // of the FMAs in flight, likewise
  double memory_seconds = 0;
  double arithmetic_seconds = 0;

  double seconds() const {
    return memory_seconds > arithmetic_seconds ? memory_seconds : arithmetic_seconds;
  }
  bool memory_bound() const { return memory_seconds >= arithmetic_seconds; }
};

/// Time of the kernel with these parameters, as real numbers t2 and t3 for the descent.
Tsm2Estimate estimate_tsm2(const Tsm2Card& card, const Tsm2Product& product, int t1, double t2,
                           double t3);

/// Columns at a time below which a pass over A takes longer than its arithmetic.
double tsm2_threshold(const Tsm2Card& card, int size);

/// t2 and t3 by gradient descent from (1, 1), then the best of kTsm2T2 and kTsm2T3 beside that
/// place; t1 as given.
Tsm2Choice descend_tsm2(const Tsm2Card& card, const Tsm2Product& product, int t1);

}  // namespace lanky::ladder
