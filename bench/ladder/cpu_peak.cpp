#include "bench/ladder/cpu_peak.hpp"

#include <algorithm>

#include "bench/harness/measure.hpp"

namespace lanky::ladder {

namespace {

constexpr int kChains = 12;  // independent sums: they hide the latency of an FMA

/// 64 bytes of elements; the compiler makes as few instructions of it as the target allows.
template <class T>
struct Vector {
  using Type [[gnu::vector_size(64)]] = T;
  static constexpr int kSize = 64 / sizeof(T);
};

/// factor is 0 at run time, which the compiler does not know.
template <class T>
[[gnu::always_inline]] inline T multiply_add(int repeats, T factor) {
  using Sums = typename Vector<T>::Type;
  Sums sums[kChains];
  for (int c = 0; c < kChains; ++c)
    sums[c] = Sums{} + static_cast<T>(c);
  for (int repeat = 0; repeat < repeats; ++repeat) {
    for (Sums& sum : sums)
      sum = sum * factor + factor;
  }
  Sums total = sums[0];
  for (int c = 1; c < kChains; ++c)
    total += sums[c];
  return total[0];
}

// The loader takes the version that the processor can run.
[[gnu::target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")]] float multiply_add_f32(
    int repeats, float factor) {
  return multiply_add(repeats, factor);
}
[[gnu::target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")]] double multiply_add_f64(
    int repeats, double factor) {
  return multiply_add(repeats, factor);
}

template <class T>
double best_rate(T (*multiply)(int, T)) {
  constexpr int kRepeats = 1 << 20;
  constexpr double kFlops = 2.0 * kChains * Vector<T>::kSize * kRepeats;
  const volatile T zero = 0;
  double best = 0;
  for (int attempt = 0; attempt < 5; ++attempt) {
    int threads = 0;
    double total = 0;
    const double start = bench::steady_seconds();
#pragma omp parallel reduction(+ : threads, total)
    {
      threads += 1;
      total += static_cast<double>(multiply(kRepeats, zero));
    }
    const double seconds = bench::steady_seconds() - start;
    // The sums take part so that nobody leaves them out: they are never negative.
    if (total >= 0) best = std::max(best, kFlops * threads / seconds);
  }
  return best;
}

}  // namespace

double cpu_peak_flops(DType dtype) {
  return dtype == DType::f64 ? best_rate(multiply_add_f64) : best_rate(multiply_add_f32);
}

}  // namespace lanky::ladder
