// What a fork leaves behind: CUDA does not survive one, and OpenMP's threads are not there.
#include "process.hpp"

#include <nanobind/nanobind.h>
#include <omp.h>
#include <pthread.h>

#include <atomic>
#include <lanky/error.hpp>

namespace lanky::python {

namespace {

std::atomic<bool> cuda_began{false};
std::atomic<bool> cuda_lost{false};

/// The forking thread gives its team of threads up, and child and parent make new ones when they
/// need them: the child would wait for ever for the threads of the parent.
void before_fork() {
  omp_pause_resource_all(omp_pause_hard);
}

void in_child() {
  if (cuda_began.load()) cuda_lost.store(true);
}

}  // namespace

void watch_forks() {
  pthread_atfork(before_fork, nullptr, in_child);
}

void begin_cuda() {
  require_cuda_alive();
  if (cuda_began.exchange(true)) return;
  nanobind::module_::import_("lanky._vendor").attr("prepare")();
}

bool forked_after_cuda() noexcept {
  return cuda_lost.load(std::memory_order_relaxed);
}

void require_cuda_alive() {
  if (forked_after_cuda())
    throw Error(ErrorCode::device,
                "this process was forked from one that had used CUDA, which does not work in the "
                "child; start processes with multiprocessing's \"spawn\" or \"forkserver\"");
}

}  // namespace lanky::python
