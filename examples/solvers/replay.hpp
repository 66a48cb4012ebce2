// Launches captured once in a CUDA graph, and replayed with one launch.
#pragma once

#include <functional>
#include <lanky/stream.hpp>
#include <memory>

namespace lanky::examples::solvers {

class Replay {
 public:
  virtual ~Replay() = default;
  virtual void launch(const Stream& stream) const = 0;
};

/// Captures what `work` gives to the stream. Throws Error: unsupported (on the CPU), device.
std::unique_ptr<Replay> capture(const Stream& stream, const std::function<void()>& work);

/// The same, of a GPU's stream.
std::unique_ptr<Replay> cuda_capture(const Stream& stream, const std::function<void()>& work);

}  // namespace lanky::examples::solvers
