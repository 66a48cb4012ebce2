// Rounds of samples until the medians are known well enough. Every round takes one sample of every
// contestant, so that a drift of the machine meets all of them alike.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace lanky::bench {

struct MeasureOptions {
  double target_noise = 0.01;  // stop when every median is known to +- this share
  int min_rounds = 7;
  int max_rounds = 200;
  double max_seconds = 1.0;   // for one measure(); never less than three rounds
  double batch_ms = 2.0;      // length of one sample
  double clock_drop = 0.05;   // a clock this share below the run's maximum spoils a round
  int max_retakes = 20;       // spoiled rounds before they are kept and flagged
  double oracle_terms = 1e8;  // multiply-adds that the reference of a dense product may take
  std::int64_t cpu_floor_bytes = 256LL << 20;  // that the read floor of a CPU is measured over

  /// For thousands of cases: a median of six samples, known to about a percent on a quiet machine.
  static MeasureOptions grid() {
    return {.target_noise = 0.01,
            .min_rounds = 6,
            .max_rounds = 20,
            .max_seconds = 0.06,
            .batch_ms = 0.6,
            .oracle_terms = 5e7};
  }
  /// Short: for a demo, or to see that all works.
  static MeasureOptions quick() {
    return {.target_noise = 0.05,
            .min_rounds = 6,
            .max_rounds = 30,
            .max_seconds = 0.1,
            .batch_ms = 0.5,
            .oracle_terms = 1e7,
            .cpu_floor_bytes = 64LL << 20};
  }
};

/// What the samples of one contestant say.
struct Estimate {
  double median_us = 0;
  double noise = 0;  // MedianInterval::noise(); infinite where the cap came first
  int samples = 0;
  bool throttled = false;  // some samples were taken at a lowered clock
};

/// One batch: microseconds per product.
using Sampler = std::function<double()>;

/// The clock of the processor, watched for a drop below its maximum so far.
class ClockWatch {
 public:
  ClockWatch() = default;
  /// `read_mhz` measures the clock at present.
  explicit ClockWatch(std::function<double()> read_mhz) : read_mhz_(std::move(read_mhz)) {}

  /// Measures; true where the clock is more than `share` below the highest measured. Without a
  /// clock to read never.
  bool dropped(double share);
  double highest_mhz() const { return highest_mhz_; }
  /// What an earlier process of this run has measured.
  void expect(double mhz) { highest_mhz_ = std::max(highest_mhz_, mhz); }

 private:
  std::function<double()> read_mhz_;
  double highest_mhz_ = 0;
};

/// Seconds from an arbitrary origin.
using Now = std::function<double()>;
double steady_seconds();

/// One estimate per sampler. Rounds go on for all until all have reached the target.
std::vector<Estimate> measure(std::span<const Sampler> samplers, const MeasureOptions& options,
                              ClockWatch& clock, const Now& now = steady_seconds);

}  // namespace lanky::bench
