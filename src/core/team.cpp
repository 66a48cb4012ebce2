#include "core/team.hpp"

#include <omp.h>

#include <algorithm>
#include <array>
#include <chrono>

namespace lanky {

namespace {

double now_us() {
  using Microseconds = std::chrono::duration<double, std::micro>;
  return Microseconds(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// As products do: threads that wait for each other once, then take a task each.
double region_us(int threads, double task_us) {
  const double begin = now_us();
#pragma omp parallel num_threads(threads)
  {
#pragma omp barrier
#pragma omp for schedule(dynamic, 1)
    for (int task = 0; task < threads; ++task) {
      const double end = now_us() + task_us;
      while (now_us() < end) {
      }
    }
  }
  return now_us() - begin;
}

double measure() {
  constexpr double kTaskUs = 15;  // long enough for a thread that has nothing to do to fall asleep
  std::array<double, 15> samples{};
  const int threads = omp_get_max_threads();
  for (double& sample : samples)
    sample = std::max(0.0, region_us(threads, kTaskUs) - kTaskUs);
  std::nth_element(samples.begin(), samples.begin() + samples.size() / 2, samples.end());
  return samples[samples.size() / 2];
}

}  // namespace

double team_us() {
  if (omp_get_max_threads() <= 1 || omp_in_parallel() != 0) return 0;
  static const double measured = measure();
  return measured;
}

}  // namespace lanky
