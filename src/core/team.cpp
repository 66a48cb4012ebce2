#include "core/team.hpp"

#include <dlfcn.h>
#include <omp.h>
#include <pthread.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <string_view>

namespace lanky {

namespace {

/// Of libgomp: others look after forks themselves, and LLVM's holds locks meanwhile that a call
/// would wait for.
bool forks_need_help() {
  Dl_info found{};
  return dladdr(reinterpret_cast<void*>(&omp_pause_resource_all), &found) != 0 &&
         std::string_view(found.dli_fname).find("libgomp") != std::string_view::npos;
}

/// A thread that forks gives its team up, and child and parent make new ones when they need them:
/// the child would wait for ever for the threads of the parent.
void give_up_team() {
  static const bool needed = forks_need_help();
  if (!needed) return;
  const int threads = omp_get_max_threads();
  omp_pause_resource_all(omp_pause_hard);
  omp_set_num_threads(threads);  // which went with the team
}

[[maybe_unused]] const int watched_forks = pthread_atfork(give_up_team, nullptr, nullptr);

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
