// A few kilobytes that host and device tell each other in every iteration: memory of the device and
// its image in pinned host memory. On the CPU both are the same memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <lanky/buffer.hpp>
#include <lanky/stream.hpp>
#include <memory>

#include "core/pinned.hpp"
#include "core/runtime.hpp"

namespace lanky::solvers {

class Mirror {
 public:
  Mirror(const Stream& stream, std::int64_t bytes, Allocator* allocator)
      : device_(stream, bytes, allocator), host_(nullptr, runtime::deallocate_pinned) {
    device_.fill_zero();
    if (!stream.device().is_cuda() || bytes == 0) return;
    host_.reset(runtime::allocate_pinned(static_cast<std::size_t>(bytes), stream.device().index()));
    to_host(bytes);
    stream.synchronize();
  }

  template <class E>
  E* on_device(std::int64_t place) {
    return reinterpret_cast<E*>(device_.data() + place);
  }
  template <class E>
  E* on_host(std::int64_t place) {
    return reinterpret_cast<E*>(image() + place);
  }
  template <class E>
  const E* on_host(std::int64_t place) const {
    return reinterpret_cast<const E*>(const_cast<Mirror*>(this)->image() + place);
  }

  /// The first `bytes`, in the order of the stream; both wait for nothing and can be captured.
  void to_device(std::int64_t bytes) { copy(device_.data(), host_.get(), bytes); }
  void to_host(std::int64_t bytes) { copy(host_.get(), device_.data(), bytes); }

 private:
  std::byte* image() {
    return host_ == nullptr ? device_.data() : static_cast<std::byte*>(host_.get());
  }
  void copy(void* target, const void* source, std::int64_t bytes) const {
    if (host_ == nullptr) return;
    runtime::copy(target, source, static_cast<std::size_t>(bytes), device_.stream().native(),
                  device_.stream().device().index());
  }

  Buffer<std::byte> device_;
  std::unique_ptr<void, void (*)(void*)> host_;
};

}  // namespace lanky::solvers
