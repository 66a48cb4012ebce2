#include <pthread.h>

#include <atomic>
#include <lanky/error.hpp>

#include "core/forked.hpp"

namespace lanky::runtime {

namespace {

std::atomic<bool> forked{false};

}  // namespace

void watch_forks() noexcept {
  // Where there is no memory for it, the child has CUDA's own words alone.
  pthread_atfork(nullptr, nullptr, [] { forked.store(true); });
}

bool is_forked() noexcept {
  return forked.load(std::memory_order_relaxed);
}

void check_not_forked() {
  if (is_forked()) throw Error(ErrorCode::no_device, kForked);
}

}  // namespace lanky::runtime
