// What a fork leaves behind: CUDA does not survive one. (The library gives OpenMP's threads up.)
#include "process.hpp"

#include <nanobind/nanobind.h>
#include <pthread.h>

#include <atomic>
#include <lanky/error.hpp>

namespace lanky::python {

namespace {

std::atomic<bool> cuda_began{false};
std::atomic<bool> cuda_lost{false};

void in_child() {
  if (cuda_began.load()) cuda_lost.store(true);
}

}  // namespace

void watch_forks() {
  pthread_atfork(nullptr, nullptr, in_child);
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
