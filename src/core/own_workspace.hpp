// The workspace that a plan allocates for runs to which the caller lends none. It belongs to the
// stream that the plan was made on, whose order keeps runs from overwriting each other's sums.
#pragma once

#include <cstddef>
#include <cstdint>
#include <lanky/buffer.hpp>
#include <lanky/stream.hpp>
#include <memory>
#include <mutex>
#include <thread>

namespace lanky {

class OwnWorkspace {
 public:
  /// `bytes` of zeros, there for every stream on return: waits for `stream`.
  OwnWorkspace(const Stream& stream, std::int64_t bytes, Allocator* allocator);

  /// The memory for one run, until this goes: the kernels of two runs never mix in the stream, nor
  /// two runs on the CPU.
  class Turn {
   public:
    std::byte* data() const noexcept { return data_; }

   private:
    friend class OwnWorkspace;
    Turn(std::byte* data, std::unique_lock<std::mutex> lock) noexcept
        : data_(data), lock_(std::move(lock)) {}

    std::byte* data_;
    std::unique_lock<std::mutex> lock_;
  };
  /// Throws Error: wrong_memory (a stream of another device), invalid_argument (another stream than
  /// the constructor's, unless there are no bytes to share).
  Turn take(const Stream& stream) const;

 private:
  Stream stream_;
  std::thread::id thread_;  // that made it: cudaStreamPerThread is another stream in each
  std::unique_ptr<Buffer<std::byte>> memory_;
  std::unique_ptr<std::mutex> mutex_;  // a plan moves
};

}  // namespace lanky
