// Times all ways to compute a product on the caller's operands.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <lanky/error.hpp>
#include <lanky/tuning.hpp>
#include <optional>

#include "core/graph.hpp"
#include "core/plan_types.hpp"

namespace lanky {

namespace {

// Of the time of the plan's own choice, what another must take less than to be kept.
constexpr double kWorthwhile = 0.98;

/// Runs of a plan, enough of them at once to be timed: on a GPU in a graph, so that the host's
/// launches are not.
class Race {
 public:
  Race(const Stream& stream, const std::function<void()>& run)
      : stream_(stream), run_(run), start_(stream.device()), end_(stream.device()) {
    run_();  // loads what is loaded at first use
    count_ = kLeast;
    const double us = time_us([this] { run_all(); }) / kLeast;
    count_ = static_cast<int>(std::clamp(std::ceil(kBatchUs / us), 1.0, double{kMost}));
    if (stream.device().is_cuda()) {
      graph_.emplace(stream, [this] { run_all(); });
      sample_us();  // the first launch uploads the graph
    }
  }

  /// Microseconds a product.
  double sample_us() {
    if (!graph_) return time_us([this] { run_all(); }) / count_;
    graph_->launch(stream_);  // the clock begins when the host is ahead
    return time_us([this] { graph_->launch(stream_); }) / count_;
  }

 private:
  static constexpr int kLeast = 2;
  static constexpr int kMost = 100;
  static constexpr double kBatchUs = 300;

  void run_all() const {
    for (int i = 0; i < count_; ++i)
      run_();
  }
  template <class F>
  double time_us(F&& work) {
    using Clock = std::chrono::steady_clock;
    const auto begin = Clock::now();
    start_.record(stream_);
    work();
    end_.record(stream_);
    end_.synchronize();
    if (stream_.device().is_cuda()) return Event::elapsed_ms(start_, end_) * 1e3;
    return std::chrono::duration<double, std::micro>(Clock::now() - begin).count();
  }

  const Stream& stream_;
  std::function<void()> run_;
  Event start_;
  Event end_;
  int count_ = 1;
  std::optional<runtime::Graph> graph_;
};

/// The plan that follows one choice, or lanky's own without one, and its race.
template <class T, class TOut>
struct Contender {
  Contender(const Stream& stream, const GemmQuery& query, const GemmOperands<T, TOut>& operands,
            const std::optional<GemmChoice>& choice)
      : plan(stream, query.shape, options(query, choice)), race(stream, [this, &stream, &operands] {
          plan.run(stream, operands.alpha, operands.a, operands.b, operands.beta, operands.c);
        }) {}

  double least_us(int samples) {
    double least = race.sample_us();
    for (int s = 1; s < samples; ++s)
      least = std::min(least, race.sample_us());
    return least;
  }

  GemmTuning tuning;
  GemmPlan<T, TOut> plan;
  Race race;

 private:
  GemmOptions options(const GemmQuery& query, const std::optional<GemmChoice>& choice) {
    if (!choice) return {};
    tuning.set(query, *choice);
    return {.tuning = &tuning};
  }
};

}  // namespace

template <class T, class TOut>
std::vector<GemmTrial> measure_choices(const Stream& stream, const GemmShape& shape,
                                       const GemmOperands<T, TOut>& operands, GemmTuning& tuning) {
  using Contestant = Contender<T, TOut>;
  GemmQuery query{stream.device(), shape, kDType<T>, kDType<TOut>};
  query.same_operands = operands.a.data == operands.b.data;
  query.adds = !query.same_operands && operands.beta != Accumulator<T>(0);
  stream.synchronize();               // what the operands wait for
  const Stream own(stream.device());  // one that can be captured, whatever the caller's is
  std::vector<GemmTrial> trials;
  const auto measure = [&](const std::optional<GemmChoice>& choice) {
    Contestant contender(own, query, operands, choice);
    const GemmInfo info = contender.plan.info();
    const auto taken = static_cast<std::size_t>(info.of_aligned[query.same_operands][query.adds]);
    const GemmRoute& route = info.routes[taken];
    trials.push_back(
        {choice.value_or(GemmChoice{route.vendor, route.algorithm}), contender.least_us(3)});
  };
  if (shape.m == 0 || shape.n == 0) return trials;
  measure(std::nullopt);
  trials.clear();  // whoever is first finds the operands in no cache
  measure(std::nullopt);
  for (const GemmChoice& choice : gemm_choices(query)) {
    try {
      measure(choice);
    } catch (const Error& error) {
      if (error.code() != ErrorCode::out_of_memory) throw;  // others may need less
    }
  }
  const auto fastest = std::min_element(
      trials.begin(), trials.end(),
      [](const GemmTrial& one, const GemmTrial& other) { return one.us < other.us; });
  if (fastest == trials.begin()) return trials;
  // Once more beside each other: one of many is fast by chance.
  Contestant first(own, query, operands, std::nullopt);
  Contestant other(own, query, operands, fastest->choice);
  double first_us = first.race.sample_us();
  double other_us = other.race.sample_us();
  for (int sample = 0; sample < 4; ++sample) {
    first_us = std::min(first_us, first.race.sample_us());
    other_us = std::min(other_us, other.race.sample_us());
  }
  if (other_us < kWorthwhile * first_us) tuning.set(query, fastest->choice);
  return trials;
}

#define LANKY_INSTANTIATE(T, TOut)                          \
  template std::vector<GemmTrial> measure_choices<T, TOut>( \
      const Stream&, const GemmShape&, const GemmOperands<T, TOut>&, GemmTuning&);
LANKY_FOR_EACH_PLAN_TYPE(LANKY_INSTANTIATE)
#undef LANKY_INSTANTIATE

}  // namespace lanky
