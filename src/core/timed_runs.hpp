// Work that is timed beside other work, where a plan measures instead of predicting.
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <exception>
#include <functional>
#include <lanky/error.hpp>
#include <lanky/stream.hpp>
#include <limits>
#include <optional>
#include <utility>

#include "core/graph.hpp"

namespace lanky {

// Of the time of a plan's own choice, what another must take less than to be kept, as `lanky tune`
// has it.
inline constexpr double kWorthwhile = 0.98;

/// Waits for the stream when it goes, by whatever way: what work reads may go then. Work that
/// failed has been told.
class Awaited {
 public:
  explicit Awaited(const Stream& stream) : stream_(stream) {}
  Awaited(const Awaited&) = delete;
  Awaited& operator=(const Awaited&) = delete;
  ~Awaited() {
    try {
      stream_.synchronize();
    } catch (const std::exception&) {  // NOLINT: nothing is left to do
    }
  }

 private:
  Stream stream_;
};

/// Runs that are given to a stream, enough of them at once to be timed: on a GPU in a graph, so
/// that the host's launches are not. The stream can be captured.
class TimedRuns {
 public:
  TimedRuns(const Stream& stream, std::function<void()> run)
      : awaited_(stream),
        stream_(stream),
        run_(std::move(run)),
        start_(stream.device()),
        end_(stream.device()) {
    run_();  // loads what is loaded at first use
    const double us = time_us([this] { run_times(kLeast); }) / kLeast;
    count_ = static_cast<int>(std::clamp<double>(std::ceil(kBatchUs / us), kLeast, kMost));
    if (!stream.device().is_cuda()) return;
    graph_.emplace(stream, [this] { run_times(count_); });
    sample_us();  // the first launch uploads the graph
  }
  TimedRuns(const TimedRuns&) = delete;
  TimedRuns& operator=(const TimedRuns&) = delete;

  /// Microseconds a run. Short ones are begun before the clock, so that the host has launched what
  /// is timed when the device comes to it.
  double sample_us() {
    if (!graph_) return time_us([this] { run_times(count_); }) / count_;
    if (count_ > kLeast) graph_->launch(stream_);
    return time_us([this] { graph_->launch(stream_); }) / count_;
  }

 private:
  static constexpr int kLeast = 3;
  static constexpr int kMost = 100;
  static constexpr double kBatchUs = 200;

  void run_times(int count) const {
    for (int i = 0; i < count; ++i)
      run_();
  }
  /// Until the work that is given to the stream is done.
  template <class F>
  double time_us(F&& work) {
    using Clock = std::chrono::steady_clock;
    const auto begin = Clock::now();
    start_.record(stream_);
    std::forward<F>(work)();
    end_.record(stream_);
    end_.synchronize();
    if (stream_.device().is_cuda()) return Event::elapsed_ms(start_, end_) * 1e3;
    return std::chrono::duration<double, std::micro>(Clock::now() - begin).count();
  }

  Awaited awaited_;  // the first: also where the constructor throws, as where memory is short
  Stream stream_;
  std::function<void()> run_;
  Event start_;
  Event end_;
  int count_ = kLeast;
  std::optional<runtime::Graph> graph_;
};

/// The least of so many samples of each, in turn.
struct Race {
  Race(TimedRuns& other, TimedRuns& model, int rounds) {
    for (int round = 0; round < rounds; ++round) {
      model_us = std::min(model_us, model.sample_us());
      other_us = std::min(other_us, other.sample_us());
    }
  }

  double ratio() const { return other_us / model_us; }

  double model_us = std::numeric_limits<double>::infinity();
  double other_us = std::numeric_limits<double>::infinity();
};

/// Calls f; false where memory was not enough.
template <class F>
bool within_memory(F&& f) {
  try {
    std::forward<F>(f)();
    return true;
  } catch (const Error& error) {
    if (error.code() != ErrorCode::out_of_memory) throw;
    return false;
  }
}

}  // namespace lanky
