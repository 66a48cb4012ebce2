// A caller's allocator that counts what it gave out, and fails when it is told to.
#pragma once

#include <cstddef>
#include <cstdint>
#include <lanky/buffer.hpp>
#include <lanky/error.hpp>
#include <limits>
#include <vector>

namespace lanky::testing {

class CountingAllocator : public Allocator {
 public:
  void* allocate(std::size_t bytes, const Stream& stream) override {
    if (requests_ >= most_requests) throw Error(ErrorCode::out_of_memory, "no more requests");
    ++requests_;
    held_.emplace_back(stream, static_cast<std::int64_t>(bytes));
    live_bytes_ += static_cast<std::int64_t>(bytes);
    return held_.back().data();
  }
  void deallocate(void* data, std::size_t bytes, const Stream& /*stream*/) noexcept override {
    returned_wrong_ +=
        std::erase_if(held_, [&](const Buffer<std::byte>& buffer) {
          return buffer.data() == data && buffer.size() == static_cast<std::int64_t>(bytes);
        }) != 1;
    live_bytes_ -= static_cast<std::int64_t>(bytes);
  }

  /// Bytes given out and not yet returned.
  std::int64_t live_bytes() const { return live_bytes_; }
  int requests() const { return requests_; }
  /// Returns of memory that was never given out, or of another size.
  int returned_wrong() const { return returned_wrong_; }

  int most_requests = std::numeric_limits<int>::max();  // those after it throw

 private:
  std::vector<Buffer<std::byte>> held_;
  std::int64_t live_bytes_ = 0;
  int requests_ = 0;
  int returned_wrong_ = 0;
};

}  // namespace lanky::testing
