// The end of every product: C = alpha sum + beta C, rounded to C's type. What has the factor zero
// is not looked at.
#pragma once

#include <cstdint>
#include <type_traits>

#include "dense/problem.hpp"
#include "device/element.cuh"
#include "device/memory.cuh"

namespace lanky::dense::cuda {

template <class Acc>
struct Epilogue {
  Acc alpha;  // 0 where k is 0, too
  Acc beta;

  template <class Scalar>
  __device__ Epilogue(std::int64_t k, const Scalar& alpha_scalar, const Scalar& beta_scalar)
      : alpha(k == 0 ? Acc(0) : alpha_scalar.load()), beta(beta_scalar.load()) {}

  __device__ bool multiplies() const { return alpha != Acc(0); }
  __device__ bool adds() const { return beta != Acc(0); }

  /// What becomes of `old` in C; it counts where beta is not 0, which the caller has asked:
  /// `reads`. `sum` is 0 where alpha is.
  template <class Result>
  __device__ Result of(Acc sum, Result old, bool reads) const {
    Acc value = alpha * sum;
    if (reads) value = value + beta * device::widen(old);
    return device::narrow<Result>(value);
  }
  /// C, one element.
  template <class Result>
  __device__ void store(Result& c, Acc sum) const {
    Acc value = multiplies() ? alpha * sum : Acc(0);
    if (adds()) value += beta * device::widen(c);
    c = device::narrow<Result>(value);
  }
  /// Element `at` of a C of E or, if it is `wide`, of Acc.
  template <class E>
  __device__ void store(void* c, bool wide, std::int64_t at, Acc sum) const {
    Acc* const wide_c = static_cast<Acc*>(c) + at;
    E* const narrow_c = static_cast<E*>(c) + at;
    wide = wide && sizeof(Acc) != sizeof(E);
    Acc value = multiplies() ? alpha * sum : Acc(0);
    if (adds()) value += beta * (wide ? *wide_c : device::widen(*narrow_c));
    if (wide) {
      *wide_c = value;
    } else {
      *narrow_c = device::narrow<E>(value);
    }
  }
};

/// Words of C that a lane has in flight before it stores the first: no load overtakes a store. More
/// cost registers.
inline constexpr int kWordsInFlight = 4;
/// Of kLines lines of kWords words each, those that a lane leaves at once: one where C is not read.
template <bool kAdds, int kLines, int kWords = 1>
inline constexpr int kLinesAtOnce = !kAdds || kWords >= kWordsInFlight ? 1
                                    : kLines * kWords < kWordsInFlight ? kLines
                                                                       : kWordsInFlight / kWords;

/// kWords words of kWord adjacent elements of C, word w at place(w), where there(w), from sums
/// sum(w, e). Without kAdds beta is 0.
template <bool kAdds, int kWords, int kWord, class Acc, class There, class Place, class Sum>
__device__ void leave_words(const Epilogue<Acc>& epilogue, There there, Place place, Sum sum) {
  using Result = std::remove_pointer_t<decltype(place(0))>;
  const bool adds = kAdds && epilogue.adds();
  Result old[kWords][kWord] = {};
  if (adds) {
#pragma unroll
    for (int w = 0; w < kWords; ++w)
      if (there(w)) device::load_words(old[w], place(w));
  }
#pragma unroll
  for (int w = 0; w < kWords; ++w) {
    if (!there(w)) continue;
#pragma unroll
    for (int e = 0; e < kWord; ++e)
      old[w][e] = epilogue.of(sum(w, e), old[w][e], adds);
    device::store_words(place(w), old[w]);
  }
}

/// leave_words(), a few of them at a time.
template <bool kAdds, int kWords, int kWord, class Acc, class There, class Place, class Sum>
__device__ void leave_all_words(const Epilogue<Acc>& epilogue, There there, Place place, Sum sum) {
  constexpr int kBatch = kLinesAtOnce<kAdds, kWords>;
#pragma unroll
  for (int w0 = 0; w0 < kWords; w0 += kBatch) {
    leave_words<kAdds, kBatch, kWord>(
        epilogue, [&](int w) { return there(w0 + w); }, [&](int w) { return place(w0 + w); },
        [&](int w, int e) { return sum(w0 + w, e); });
  }
}

}  // namespace lanky::dense::cuda
