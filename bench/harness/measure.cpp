#include "bench/harness/measure.hpp"

#include <algorithm>
#include <chrono>

#include "bench/harness/statistics.hpp"

namespace lanky::bench {

namespace {

constexpr int kFewestRounds = 3;  // taken whatever they cost: a median needs them

double worst_noise(const std::vector<std::vector<double>>& samples) {
  double worst = 0;
  for (const auto& each : samples)
    worst = std::max(worst, median_interval(each).noise());
  return worst;
}

}  // namespace

bool ClockWatch::dropped(double share) {
  if (!read_mhz_) return false;
  const double mhz = read_mhz_();
  highest_mhz_ = std::max(highest_mhz_, mhz);
  return mhz < (1 - share) * highest_mhz_;
}

double steady_seconds() {
  const auto time = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double>(time).count();
}

std::vector<Estimate> measure(std::span<const Sampler> samplers, const MeasureOptions& options,
                              ClockWatch& clock, const Now& now) {
  if (samplers.empty()) return {};
  std::vector<std::vector<double>> samples(samplers.size());
  const double start = now();
  int retakes = 0;
  bool throttled = false;
  for (int rounds = 0; rounds < options.max_rounds;) {
    std::vector<double> round;
    for (const Sampler& sample : samplers)
      round.push_back(sample());
    const bool dropped = clock.dropped(options.clock_drop);
    if (dropped && retakes < options.max_retakes) {
      ++retakes;
      continue;
    }
    throttled = throttled || dropped;
    for (std::size_t i = 0; i < round.size(); ++i)
      samples[i].push_back(round[i]);
    ++rounds;
    if (rounds >= kFewestRounds && now() - start > options.max_seconds) break;
    if (rounds >= options.min_rounds && worst_noise(samples) < options.target_noise) break;
  }
  std::vector<Estimate> estimates;
  for (const auto& each : samples) {
    const MedianInterval interval = median_interval(each);
    estimates.push_back(
        {interval.median, interval.noise(), static_cast<int>(each.size()), throttled});
  }
  return estimates;
}

}  // namespace lanky::bench
