// Products captured in a CUDA graph and replayed: capture_cuda.cpp, or capture_absent.cpp.
#pragma once

#include <functional>
#include <lanky/stream.hpp>

struct CUgraphExec_st;

namespace lanky::random_cases {

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
