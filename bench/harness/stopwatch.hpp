// Times products on a stream in three ways: in a batch of launches, in a replayed CUDA graph, and
// with cold caches.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bench/harness/contestant.hpp"
#include "bench/harness/session.hpp"

namespace lanky::bench {

/// What is to be timed. A product with several slots rotates through them, launch after launch.
struct Lap {
  Product product;
  int slots = 1;
  bool graph = true;
  bool cold = true;
  /// Called outside of the time around some of the samples, in each of the three ways around the
  /// first, with the slot that the last product of the sample writes. Absent: no sample is judged.
  std::function<void(int slot)> poison{};
  std::function<void(int slot)> judge{};
};

/// Microseconds per product. graph and cold are absent where they were not asked for, graph also on
/// the CPU and where the capture failed.
struct Timing {
  Estimate warm;
  std::optional<Estimate> graph;
  std::optional<Estimate> cold;
  std::string graph_failure;
};

/// Laps are interleaved sample by sample: first all batches, then all graphs, then all cold runs.
std::vector<Timing> time_laps(Session& session, std::span<const Lap> laps);

/// Microseconds per product of one batch of `count` after another, warm: what time_laps samples.
double batch_us(const Stream& stream, const Lap& lap, int count, std::int64_t& turn);

}  // namespace lanky::bench
