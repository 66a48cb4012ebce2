// operator new of this program, which an Injection can have fail.
#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <new>

#include "faults/injection.hpp"

namespace {

std::atomic<std::int64_t> blocks{0};

void* memory(std::size_t bytes, std::size_t alignment) noexcept {
  if (lanky::faults::detail::fails(lanky::faults::Source::host, "operator new", false))
    return nullptr;
  if (bytes == 0) bytes = 1;
  void* const data =
      alignment <= alignof(std::max_align_t)
          ? std::malloc(bytes)
          : std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
  if (data != nullptr) ++blocks;
  return data;
}

void give_back(void* data) noexcept {
  if (data != nullptr) --blocks;
  std::free(data);
}

void* memory_or_throw(std::size_t bytes, std::size_t alignment) {
  void* const data = memory(bytes, alignment);
  if (data == nullptr) throw std::bad_alloc();
  return data;
}

constexpr std::size_t kPlain = alignof(std::max_align_t);

}  // namespace

std::int64_t lanky::faults::host_blocks() noexcept {
  return blocks;
}

// NOLINTBEGIN: the names and arguments are the language's
void* operator new(std::size_t n) {
  return memory_or_throw(n, kPlain);
}
void* operator new[](std::size_t n) {
  return memory_or_throw(n, kPlain);
}
void* operator new(std::size_t n, std::align_val_t a) {
  return memory_or_throw(n, std::size_t(a));
}
void* operator new[](std::size_t n, std::align_val_t a) {
  return memory_or_throw(n, std::size_t(a));
}
void* operator new(std::size_t n, const std::nothrow_t&) noexcept {
  return memory(n, kPlain);
}
void* operator new[](std::size_t n, const std::nothrow_t&) noexcept {
  return memory(n, kPlain);
}
void* operator new(std::size_t n, std::align_val_t a, const std::nothrow_t&) noexcept {
  return memory(n, std::size_t(a));
}
void* operator new[](std::size_t n, std::align_val_t a, const std::nothrow_t&) noexcept {
  return memory(n, std::size_t(a));
}
void operator delete(void* p) noexcept {
  give_back(p);
}
void operator delete[](void* p) noexcept {
  give_back(p);
}
void operator delete(void* p, std::size_t) noexcept {
  give_back(p);
}
void operator delete[](void* p, std::size_t) noexcept {
  give_back(p);
}
void operator delete(void* p, std::align_val_t) noexcept {
  give_back(p);
}
void operator delete[](void* p, std::align_val_t) noexcept {
  give_back(p);
}
void operator delete(void* p, std::size_t, std::align_val_t) noexcept {
  give_back(p);
}
void operator delete[](void* p, std::size_t, std::align_val_t) noexcept {
  give_back(p);
}
void operator delete(void* p, const std::nothrow_t&) noexcept {
  give_back(p);
}
void operator delete[](void* p, const std::nothrow_t&) noexcept {
  give_back(p);
}
void operator delete(void* p, std::align_val_t, const std::nothrow_t&) noexcept {
  give_back(p);
}
void operator delete[](void* p, std::align_val_t, const std::nothrow_t&) noexcept {
  give_back(p);
}
// NOLINTEND
