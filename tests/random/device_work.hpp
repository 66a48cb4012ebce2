// What lanky's public API has not: copies to and from a part of a buffer, and graphs.
// device_work_cuda.cpp, or device_work_absent.cpp in a build without CUDA.
#pragma once

#include <cstddef>
#include <functional>
#include <lanky/stream.hpp>

struct CUgraphExec_st;

namespace lanky::random_cases {

/// Copies host memory, which may be reused at once, to that of the stream's device, in its order.
void upload(const Stream& stream, void* device, const void* host, std::size_t bytes);
/// And back; waits for it.
void download(const Stream& stream, void* host, const void* device, std::size_t bytes);

/// What `work` gives to the stream, of a GPU, for replays.
class Captured {
 public:
  Captured(const Stream& stream, const std::function<void()>& work);
  ~Captured();
  Captured(const Captured&) = delete;
  Captured& operator=(const Captured&) = delete;
  void launch(const Stream& stream) const;

 private:
  CUgraphExec_st* executable_ = nullptr;
};

}  // namespace lanky::random_cases
