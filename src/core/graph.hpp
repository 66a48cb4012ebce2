// A CUDA graph without CUDA's headers: graph_cuda.cpp, or runtime_absent.cpp.
#pragma once

#include <functional>
#include <lanky/stream.hpp>

struct CUgraphExec_st;

namespace lanky::runtime {

/// Work captured once and replayed with one launch.
class Graph {
 public:
  /// Captures what `work` gives to the stream; throws what the capture reports.
  Graph(const Stream& stream, const std::function<void()>& work);
  Graph(Graph&& other) noexcept;
  Graph& operator=(Graph&& other) noexcept;
  ~Graph();

  void launch(const Stream& stream) const;

 private:
  CUgraphExec_st* executable_ = nullptr;
};

}  // namespace lanky::runtime
