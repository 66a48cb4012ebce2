#include "bench/harness/stopwatch.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <lanky/error.hpp>
#include <limits>

#include "bench/harness/statistics.hpp"
#include "core/graph.hpp"

namespace lanky::bench {

namespace {

constexpr int kMostLaunches = 2048;  // in one batch or graph: beyond this, launches only queue up

/// A lap with its state: how many products make one sample, and which slot comes next.
struct Runner {
  const Lap* lap;
  double first_us = 0;  // of the calibration's last launch or batch
  int count = 1;
  std::int64_t turn = 0;
};

/// Takes samples of a lap, and has those judged whose number is a power of two: many at first,
/// since judging takes time, and some however long it goes on.
class JudgedSamples {
 public:
  explicit JudgedSamples(const Lap& lap) : lap_(lap) {}

  template <class Sample>
  double take(int last_slot, Sample sample) {
    const bool judged = lap_.judge && std::has_single_bit(++taken_);
    if (judged) lap_.poison(last_slot);
    const double us = sample();
    if (judged) lap_.judge(last_slot);
    return us;
  }

 private:
  const Lap& lap_;
  unsigned taken_ = 0;
};

double elapsed_us(const Event& start, const Event& end) {
  end.synchronize();
  return Event::elapsed_ms(start, end) * 1e3;
}

/// Warms up, and chooses the count that fills a sample's time.
Runner calibrate(const Session& session, const Lap& lap) {
  constexpr double kLongUs = 2e4;  // needs no second launch to be known as longer than a sample
  Runner runner{&lap};
  const double target_us = session.options.batch_ms * 1e3;
  for (bool warm = false;; warm = true) {
    const double us = batch_us(session.stream, lap, runner.count, runner.turn);
    runner.first_us = us;
    if (us > target_us && (warm || us > kLongUs)) return runner;  // a launch is a sample
    if (!warm) continue;
    if (runner.count >= kMostLaunches || runner.count * us * 2 >= target_us) {
      const double wanted = target_us / std::max(us, 1e-3);
      runner.count = std::clamp(static_cast<int>(std::lround(wanted)), 1, kMostLaunches);
      return runner;
    }
    runner.count = std::min(runner.count * 4, kMostLaunches);
  }
}

std::vector<Estimate> time_batches(Session& session, std::vector<Runner>& runners) {
  std::vector<Sampler> samplers;
  samplers.reserve(runners.size());
  for (Runner& runner : runners) {
    samplers.emplace_back([&session, &runner, samples = JudgedSamples(*runner.lap)]() mutable {
      const auto last = static_cast<int>((runner.turn + runner.count - 1) % runner.lap->slots);
      return samples.take(
          last, [&] { return batch_us(session.stream, *runner.lap, runner.count, runner.turn); });
    });
  }
  return measure(samplers, session.options, session.clock);
}

/// As many products as a sample has, but each slot equally often.
int graph_count(const Runner& runner) {
  const int slots = runner.lap->slots;
  return std::max(1, runner.count / slots) * slots;
}

double replay_us(const Session& session, const runtime::Graph& graph, int count) {
  Event start(session.stream.device());
  Event end(session.stream.device());
  start.record(session.stream);
  graph.launch(session.stream);
  end.record(session.stream);
  return elapsed_us(start, end) / count;
}

runtime::Graph capture(const Session& session, const Runner& runner) {
  const int count = graph_count(runner);
  return runtime::Graph(session.stream, [&] {
    for (int i = 0; i < count; ++i)
      runner.lap->product(session.stream, i % runner.lap->slots);
  });
}

/// All slots of a slow contestant make a graph that takes longer than everything else together.
constexpr double kLongGraphUs = 2e4;

void time_graphs(Session& session, const std::vector<Runner>& runners,
                 std::vector<Timing>& timings) {
  std::vector<runtime::Graph> graphs;
  std::vector<std::size_t> captured;  // index of each graph's lap
  std::vector<double> warm_us;
  warm_us.reserve(timings.size());
  for (const Timing& timing : timings)
    warm_us.push_back(timing.warm.median_us);
  const double median_us = median(std::move(warm_us));
  for (std::size_t i = 0; i < runners.size(); ++i) {
    const double sample_us = graph_count(runners[i]) * timings[i].warm.median_us;
    const bool too_long = sample_us > kLongGraphUs && timings[i].warm.median_us > 5 * median_us;
    if (!runners[i].lap->graph || too_long) continue;
    try {
      graphs.push_back(capture(session, runners[i]));
      captured.push_back(i);
      replay_us(session, graphs.back(), 1);  // the first launch uploads the graph
    } catch (const Error& error) {
      if (error.code() == ErrorCode::out_of_memory) throw;
      timings[i].graph_failure = error.what();
    }
  }
  std::vector<Sampler> samplers;
  for (std::size_t g = 0; g < graphs.size(); ++g) {
    const Runner& runner = runners[captured[g]];
    samplers.emplace_back([&session, &graph = graphs[g], count = graph_count(runner),
                           slots = runner.lap->slots,
                           samples = JudgedSamples(*runner.lap)]() mutable {
      return samples.take((count - 1) % slots, [&] { return replay_us(session, graph, count); });
    });
  }
  const std::vector<Estimate> estimates = measure(samplers, session.options, session.clock);
  for (std::size_t g = 0; g < graphs.size(); ++g)
    timings[captured[g]].graph = estimates[g];
}

/// Median of a few launches, the caches flushed before each; the flush is not timed.
double cold_us(Session& session, const Lap& lap) {
  constexpr int kLaunches = 5;
  const int launches = session.stream.device().is_cuda() ? kLaunches : 1;
  std::vector<Event> starts;
  std::vector<Event> ends;
  for (int i = 0; i < launches; ++i) {
    starts.emplace_back(session.stream.device());
    ends.emplace_back(session.stream.device());
  }
  for (int i = 0; i < launches; ++i) {
    session.flush.fill_zero();
    starts[i].record(session.stream);
    lap.product(session.stream, 0);
    ends[i].record(session.stream);
  }
  std::vector<double> times;
  times.reserve(ends.size());
  for (int i = 0; i < launches; ++i)
    times.push_back(elapsed_us(starts[i], ends[i]));
  return median(std::move(times));
}

void time_cold(Session& session, const std::vector<Runner>& runners, std::vector<Timing>& timings) {
  std::vector<Sampler> samplers;
  std::vector<std::size_t> sampled;
  for (std::size_t i = 0; i < runners.size(); ++i) {
    if (!runners[i].lap->cold) continue;
    sampled.push_back(i);
    const Lap& lap = *runners[i].lap;
    samplers.emplace_back([&session, &lap, samples = JudgedSamples(lap)]() mutable {
      return samples.take(0, [&] { return cold_us(session, lap); });
    });
  }
  const std::vector<Estimate> estimates = measure(samplers, session.options, session.clock);
  for (std::size_t s = 0; s < sampled.size(); ++s)
    timings[sampled[s]].cold = estimates[s];
}

/// Whether one measurement says enough: whoever is so slow would take all the others' time.
/// Measured once more before it is said, since a disturbance looks the same, if a short one.
bool hopeless(const Session& session, Runner& runner, double median_us) {
  constexpr double kTimes = 20;     // slower than the median lap
  constexpr double kWorthUs = 100;  // and long
  constexpr double kSureUs = 2e6;   // no disturbance lasts
  if (runner.first_us < kWorthUs || runner.first_us < kTimes * median_us) return false;
  if (runner.first_us > kSureUs) return true;
  const double again = batch_us(session.stream, *runner.lap, runner.count, runner.turn);
  runner.first_us = std::min(runner.first_us, again);
  return runner.first_us >= kWorthUs && runner.first_us >= kTimes * median_us;
}

}  // namespace

double batch_us(const Stream& stream, const Lap& lap, int count, std::int64_t& turn) {
  Event start(stream.device());
  Event end(stream.device());
  start.record(stream);
  for (int i = 0; i < count; ++i)
    lap.product(stream, static_cast<int>(turn++ % lap.slots));
  end.record(stream);
  return elapsed_us(start, end) / count;
}

std::vector<Timing> time_laps(Session& session, std::span<const Lap> laps) {
  std::vector<Runner> runners;
  std::vector<double> first_us;
  first_us.reserve(laps.size());
  for (const Lap& lap : laps) {
    runners.push_back(calibrate(session, lap));
    first_us.push_back(runners.back().first_us);
  }
  const double median_us = median(std::move(first_us));
  std::vector<Timing> timings(laps.size());
  std::vector<Runner> raced;
  std::vector<std::size_t> places;  // of those who race, in laps
  for (std::size_t i = 0; i < laps.size(); ++i) {
    if (hopeless(session, runners[i], median_us)) {
      timings[i].warm = {.median_us = runners[i].first_us,
                         .noise = std::numeric_limits<double>::infinity(),
                         .samples = 1};
      continue;
    }
    raced.push_back(runners[i]);
    places.push_back(i);
  }
  std::vector<Timing> times(raced.size());
  const std::vector<Estimate> warm = time_batches(session, raced);
  for (std::size_t r = 0; r < raced.size(); ++r)
    times[r].warm = warm[r];
  if (session.stream.device().is_cuda()) time_graphs(session, raced, times);
  time_cold(session, raced, times);
  for (std::size_t r = 0; r < raced.size(); ++r)
    timings[places[r]] = std::move(times[r]);
  return timings;
}

}  // namespace lanky::bench
