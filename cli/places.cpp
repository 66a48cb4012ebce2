#include "cli/places.hpp"

#include <omp.h>

#include <cstddef>

namespace lanky::cli {

namespace {

std::size_t bytes(const std::vector<cpu_set_t>& cpus) noexcept {
  return cpus.size() * sizeof(cpu_set_t);
}

}  // namespace

Places::Places() {
  for (int place = 0; place < omp_get_num_places(); ++place) {
    std::vector<int> numbers(static_cast<std::size_t>(omp_get_place_num_procs(place)));
    omp_get_place_proc_ids(place, numbers.data());
    for (const int number : numbers) {
      const auto cpu = static_cast<std::size_t>(number);
      if (cpu >= cpus_.size() * CPU_SETSIZE) cpus_.resize(cpu / CPU_SETSIZE + 1);
      CPU_SET_S(cpu, bytes(cpus_), cpus_.data());
    }
  }
}

void Places::unbind() const noexcept {
  if (!cpus_.empty()) sched_setaffinity(0, bytes(cpus_), cpus_.data());
}

}  // namespace lanky::cli
