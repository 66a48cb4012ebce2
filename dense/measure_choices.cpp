// Times all ways to compute a product on the caller's operands.
#include <algorithm>
#include <lanky/tuning.hpp>
#include <optional>

#include "core/plan_types.hpp"
#include "core/timed_runs.hpp"

namespace lanky::inline v1 {

namespace {

/// The plan that follows one choice, or its own without one, and its runs.
template <class T, class TOut>
struct Contender {
  Contender(const Stream& stream, const GemmQuery& query, const GemmOperands<T, TOut>& operands,
            const std::optional<GemmChoice>& choice)
      : plan(stream, query.shape, options(query, choice)), runs(stream, [this, &stream, &operands] {
          plan.run(stream, operands.alpha, operands.a, operands.b, operands.beta, operands.c);
        }) {}

  GemmTuning tuning;
  GemmPlan<T, TOut> plan;
  TimedRuns runs;

 private:
  GemmOptions options(const GemmQuery& query, const std::optional<GemmChoice>& choice) {
    if (!choice) return {.math = query.math};
    tuning.set(query, *choice);
    return {.math = query.math, .tuning = &tuning};
  }
};

}  // namespace

template <class T, class TOut>
std::vector<GemmTrial> measure_choices(const Stream& stream, const GemmShape& shape,
                                       const GemmOperands<T, TOut>& operands, GemmTuning& tuning,
                                       Math math) {
  if (shape.m == 0 || shape.n == 0) return {};
  GemmQuery query{stream.device(), shape, kDType<T>, kDType<TOut>};
  query.same_operands = operands.a.data == operands.b.data;
  query.math = math;
  query.adds = !query.same_operands && operands.beta != GemmAccumulator<T, TOut>(0);
  stream.synchronize();               // what the operands wait for
  const Stream own(stream.device());  // one that can be captured, whatever the caller's is
  // The plan's own way, which stays to race with: whoever is first finds the operands in no cache.
  Contender<T, TOut> model(own, query, operands, std::nullopt);
  const GemmInfo info = model.plan.info();
  const auto taken = static_cast<std::size_t>(info.of_aligned[query.same_operands][query.adds]);
  const GemmRoute& route = info.routes[taken];
  std::vector<GemmTrial> trials{{{route.vendor, route.algorithm}, model.runs.sample_us()}};
  std::size_t fastest = 0;
  double least = 1;
  constexpr int kRounds = 3;
  for (const GemmChoice& choice : gemm_choices(query)) {
    within_memory([&] {
      Contender<T, TOut> other(own, query, operands, choice);
      const Race race(other.runs, model.runs, kRounds);
      trials.front().us = std::min(trials.front().us, race.model_us);
      trials.push_back({choice, race.other_us});
      if (race.ratio() >= least) return;
      least = race.ratio();
      fastest = trials.size() - 1;
    });
  }
  if (fastest == 0) return trials;
  // Once more, and longer: the least of many ratios is too small by chance.
  const GemmChoice choice = trials[fastest].choice;
  Contender<T, TOut> other(own, query, operands, choice);
  if (Race(other.runs, model.runs, 3 * kRounds).ratio() < kWorthwhile) tuning.set(query, choice);
  return trials;
}

#define LANKY_INSTANTIATE(T, TOut)                          \
  template std::vector<GemmTrial> measure_choices<T, TOut>( \
      const Stream&, const GemmShape&, const GemmOperands<T, TOut>&, GemmTuning&, Math);
LANKY_FOR_EACH_GEMM_TYPE(LANKY_INSTANTIATE)
#undef LANKY_INSTANTIATE

}  // namespace lanky::inline v1
