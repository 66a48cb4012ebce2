// Runs an iteration whose vectors and scalars stay on the device, and looks at it now and then.
#pragma once

#include <cstdint>
#include <functional>
#include <lanky/stream.hpp>
#include <memory>
#include <vector>

#include "examples/solvers/replay.hpp"
#include "examples/solvers/scalars.hpp"

namespace lanky::examples::solvers {

struct Progress {
  std::int64_t iterations = 0;
  double residual = 0;  // what the tolerance is compared with
  State state = State::running;
};

class Iteration {
 public:
  virtual ~Iteration() = default;
  virtual const Stream& stream() const = 0;
  /// Begins anew.
  virtual void start() = 0;
  /// One iteration; only launches, so that it can be captured in a CUDA graph.
  virtual void iterate() = 0;
  /// How far it is; waits. Throws Error where it has broken down.
  virtual Progress progress() const = 0;
};

/// An iteration for a vector of T.
template <class T>
class Solve : public Iteration {
 public:
  /// The vector as it is; waits.
  virtual std::vector<T> solution() const = 0;
};

/// Runs an iteration `check` at a time, as one CUDA graph where `graph`.
class Loop {
 public:
  /// Throws Error: invalid_argument (check < 1), unsupported (a graph on the CPU).
  Loop(Iteration& iteration, int check, bool graph);

  /// Until it ends, or has run so many iterations more; calls `look` after each check.
  Progress run(std::int64_t iterations,
               const std::function<void(const Progress&)>& look = {}) const;

 private:
  Iteration& iteration_;
  int check_;
  std::unique_ptr<Replay> replay_;  // of `check_` iterations; null: without a graph
};

}  // namespace lanky::examples::solvers
