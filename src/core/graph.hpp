// A CUDA graph without CUDA's headers: graph_cuda.cpp, or runtime_absent.cpp.
#pragma once

#include <cstdint>
#include <functional>
#include <lanky/stream.hpp>
#include <memory>

struct CUgraphExec_st;

namespace lanky::runtime {

/// Whether CUDA can capture what is given to the stream: all streams but the legacy default one.
inline bool can_capture(const Stream& stream) {
  constexpr std::uintptr_t kLegacy = 1;  // cudaStreamLegacy
  return stream.device().is_cuda() && stream.native() != nullptr &&
         reinterpret_cast<std::uintptr_t>(stream.native()) != kLegacy;
}

/// Work captured once and replayed with one launch.
class Graph {
 public:
  /// Captures what `work` gives to the stream; throws what the capture reports.
  Graph(const Stream& stream, const std::function<void()>& work);

  void launch(const Stream& stream) const;

 private:
  std::unique_ptr<CUgraphExec_st, void (*)(CUgraphExec_st*)> executable_;
};

}  // namespace lanky::runtime
