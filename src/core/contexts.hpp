// The CUDA contexts that streams and events were made in, which are gone with it.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>

#include "core/cuda_check.hpp"

namespace lanky::runtime {

/// Whether `context` is there and has that number (context_number()): cudaDeviceReset makes another
/// one at the same place.
bool has_number(CUctx_st* context, std::uint64_t number) noexcept;

/// Not even a call that destroys streams and events may name them after cudaDeviceReset.
class Contexts {
 public:
  /// `made` is in the current context, if it is not known, or was in one that is gone.
  void add(const void* made) {
    const std::lock_guard lock(mutex_);
    const auto known = contexts_.find(made);
    if (known != contexts_.end() && is_there(known->second)) return;
    contexts_[made] = {current_context(), context_number()};
  }
  void remove(const void* made) noexcept {
    const std::lock_guard lock(mutex_);
    contexts_.erase(made);
  }
  bool is_alive(const void* made) noexcept {
    const std::lock_guard lock(mutex_);
    const auto known = contexts_.find(made);
    return known == contexts_.end() || is_there(known->second);
  }

 private:
  struct Context {
    CUctx_st* handle;
    std::uint64_t number;
  };
  static bool is_there(const Context& context) noexcept {
    return context.handle == nullptr || has_number(context.handle, context.number);
  }

  std::mutex mutex_;
  std::map<const void*, Context> contexts_;
};

}  // namespace lanky::runtime
