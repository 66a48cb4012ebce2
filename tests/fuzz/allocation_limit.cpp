#include "fuzz/allocation_limit.hpp"

#include <atomic>
#include <cstdlib>
#include <limits>
#include <new>

namespace {

constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();
std::atomic<std::size_t> most = kNone;  // threads of products allocate, too

void* allocate(std::size_t bytes) noexcept {
  return bytes > most ? nullptr : std::malloc(bytes == 0 ? 1 : bytes);
}

void* allocate(std::size_t bytes, std::align_val_t alignment) noexcept {
  const auto step = static_cast<std::size_t>(alignment);
  const bool fits = bytes <= most && bytes < kNone - step;
  return fits ? std::aligned_alloc(step, (bytes + step - 1) / step * step) : nullptr;
}

void* or_throw(void* data) {
  if (data == nullptr) throw std::bad_alloc();
  return data;
}

}  // namespace

// All of them: AddressSanitizer has its own array and nothrow forms, which would not fit these.
// NOLINTBEGIN(readability-inconsistent-declaration-parameter-name)
void* operator new(std::size_t bytes) {
  return or_throw(allocate(bytes));
}
void* operator new[](std::size_t bytes) {
  return or_throw(allocate(bytes));
}
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  return allocate(bytes);
}
void* operator new[](std::size_t bytes, const std::nothrow_t&) noexcept {
  return allocate(bytes);
}
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return or_throw(allocate(bytes, alignment));
}
void* operator new[](std::size_t bytes, std::align_val_t alignment) {
  return or_throw(allocate(bytes, alignment));
}
void* operator new(std::size_t bytes, std::align_val_t alignment, const std::nothrow_t&) noexcept {
  return allocate(bytes, alignment);
}
void* operator new[](std::size_t bytes, std::align_val_t alignment,
                     const std::nothrow_t&) noexcept {
  return allocate(bytes, alignment);
}
void operator delete(void* data) noexcept {
  std::free(data);
}
void operator delete[](void* data) noexcept {
  std::free(data);
}
void operator delete(void* data, std::size_t) noexcept {
  std::free(data);
}
void operator delete[](void* data, std::size_t) noexcept {
  std::free(data);
}
void operator delete(void* data, const std::nothrow_t&) noexcept {
  std::free(data);
}
void operator delete[](void* data, const std::nothrow_t&) noexcept {
  std::free(data);
}
void operator delete(void* data, std::align_val_t) noexcept {
  std::free(data);
}
void operator delete[](void* data, std::align_val_t) noexcept {
  std::free(data);
}
void operator delete(void* data, std::size_t, std::align_val_t) noexcept {
  std::free(data);
}
void operator delete[](void* data, std::size_t, std::align_val_t) noexcept {
  std::free(data);
}
void operator delete(void* data, std::align_val_t, const std::nothrow_t&) noexcept {
  std::free(data);
}
void operator delete[](void* data, std::align_val_t, const std::nothrow_t&) noexcept {
  std::free(data);
}
// NOLINTEND(readability-inconsistent-declaration-parameter-name)

namespace lanky::fuzz {

AllocationLimit::AllocationLimit(std::size_t bytes) noexcept {
  most = bytes;
}
AllocationLimit::~AllocationLimit() {
  most = kNone;
}

}  // namespace lanky::fuzz
