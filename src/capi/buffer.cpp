// Buffers, and callers' allocators.
#include <lanky/lanky.h>
#include <lanky/buffer.hpp>
#include <lanky/error.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "capi/arguments.hpp"
#include "capi/handles.hpp"
#include "capi/structs.hpp"

namespace lanky::capi {

namespace {

/// A caller's two functions.
class CallerAllocator final : public Allocator {
 public:
  explicit CallerAllocator(const lanky_allocator& functions) : functions_(functions) {}

  void* allocate(std::size_t bytes, const Stream& stream) override {
    const lanky_stream handle{stream};
    void* data = functions_.allocate(bytes, &handle, functions_.user);
    if (data == nullptr) {
      throw Error(ErrorCode::out_of_memory,
                  "the caller's allocator has no " + std::to_string(bytes) + " bytes");
    }
    if (reinterpret_cast<std::uintptr_t>(data) % kAlignment != 0) {
      functions_.deallocate(data, bytes, &handle, functions_.user);
      throw Error(ErrorCode::invalid_argument,
                  "the caller's allocator returned memory at " +
                      std::to_string(reinterpret_cast<std::uintptr_t>(data)) +
                      ", which is no multiple of 256");
    }
    return data;
  }

  void deallocate(void* data, std::size_t bytes, const Stream& stream) noexcept override {
    const lanky_stream handle{stream};
    functions_.deallocate(data, bytes, &handle, functions_.user);
  }

 private:
  static constexpr std::uintptr_t kAlignment = 256;  // what Allocator promises to plans

  lanky_allocator functions_;
};

/// Memory that is lent: of one allocation, which does not free it.
class LentMemory final : public Allocator {
 public:
  explicit LentMemory(void* data) : data_(data) {}
  void* allocate(std::size_t, const Stream&) override { return data_; }
  void deallocate(void*, std::size_t, const Stream&) noexcept override {}

 private:
  void* data_;
};

}  // namespace

std::unique_ptr<Allocator> to_allocator(const lanky_allocator* allocator) {
  if (allocator == nullptr) return nullptr;
  const lanky_allocator functions = read_struct(*allocator, lanky_allocator{});
  if (functions.allocate == nullptr || functions.deallocate == nullptr) {
    throw Error(ErrorCode::invalid_argument,
                std::string(functions.allocate == nullptr ? "allocate" : "deallocate") +
                    " of a lanky_allocator is NULL");
  }
  return std::make_unique<CallerAllocator>(functions);
}

namespace {

/// Bytes of a copy, which C callers give with a sign.
std::size_t copied_bytes(const void* host, std::int64_t bytes) {
  if (bytes != 0) require(static_cast<const char*>(host), "host");
  return detail::checked_bytes(bytes, 1);
}

}  // namespace

}  // namespace lanky::capi

struct lanky_buffer {
  lanky_buffer(const lanky::Stream& stream, std::int64_t bytes,
               std::unique_ptr<lanky::Allocator> source)
      : allocator(std::move(source)),
        allocation(stream, lanky::detail::checked_bytes(bytes, 1), allocator.get()) {}

  std::unique_ptr<lanky::Allocator> allocator;  // outlives what it allocated
  lanky::detail::Allocation allocation;
};

lanky_status lanky_allocator_init(lanky_allocator* allocator, size_t size) {
  return capi::init_struct(allocator, size, {});
}

lanky_status lanky_buffer_create(const lanky_stream* stream, int64_t bytes,
                                 const lanky_allocator* allocator, lanky_buffer** buffer) {
  return capi::make_handle(buffer, "buffer", [&] {
    return std::make_unique<lanky_buffer>(capi::require(stream, "stream").stream, bytes,
                                          capi::to_allocator(allocator));
  });
}

lanky_status lanky_buffer_wrap(const lanky_stream* stream, void* data, int64_t bytes,
                               lanky_buffer** buffer) {
  return capi::make_handle(buffer, "buffer", [&] {
    if (bytes != 0) capi::require(static_cast<const char*>(data), "data");
    return std::make_unique<lanky_buffer>(capi::require(stream, "stream").stream, bytes,
                                          std::make_unique<capi::LentMemory>(data));
  });
}

void lanky_buffer_destroy(lanky_buffer* buffer) {
  delete buffer;
}

void* lanky_buffer_data(const lanky_buffer* buffer) {
  return capi::property(buffer, "buffer", static_cast<void*>(nullptr),
                        [](const lanky_buffer& given) { return given.allocation.data(); });
}

int64_t lanky_buffer_bytes(const lanky_buffer* buffer) {
  return capi::property(buffer, "buffer", std::int64_t{-1},
                        [](const lanky_buffer& given) { return given.allocation.bytes(); });
}

lanky_status lanky_buffer_copy_from(lanky_buffer* buffer, const void* host, int64_t bytes) {
  return capi::guarded([&] {
    capi::require(buffer, "buffer")
        .allocation.copy_from_host(host, capi::copied_bytes(host, bytes));
  });
}

lanky_status lanky_buffer_to_host(const lanky_buffer* buffer, void* host, int64_t bytes) {
  return capi::guarded([&] {
    capi::require(buffer, "buffer").allocation.copy_to_host(host, capi::copied_bytes(host, bytes));
  });
}

lanky_status lanky_buffer_fill_zero(lanky_buffer* buffer) {
  return capi::guarded([&] { capi::require(buffer, "buffer").allocation.fill_zero(); });
}
