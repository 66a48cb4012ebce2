#include "bench/cases/case.hpp"

#include <algorithm>
#include <lanky/error.hpp>
#include <utility>

#include "bench/harness/floor.hpp"
#include "bench/harness/measure.hpp"
#include "bench/harness/memory_peak.hpp"
#include "core/text.hpp"

namespace lanky::bench {

namespace {

/// Runs the contestant once on poisoned results; a wrong or failing one loses its `run`.
std::optional<Verdict> judge(Session& session, Workload& workload, Contestant& contestant,
                             Fill fill) {
  if (contestant.status != Status::ok) return std::nullopt;
  try {
    workload.poison(0);
    contestant.run(session.stream, 0);
    session.stream.synchronize();
    Verdict verdict = workload.check(fill, contestant, 0);
    if (fill == Fill::random) contestant.seen_bits.add(verdict.digest);
    if (!verdict.right) {
      contestant.status = Status::wrong;
      contestant.message = verdict.message;
    }
    return verdict;
  } catch (...) {
    contestant.status = status_of_current_exception(contestant.message);
    return std::nullopt;
  }
}

/// Per update of a replayed graph, as products are timed; of a batch where there is no graph.
double update_us(Session& session, const Contestant& contestant) {
  const Lap lap{.product = [&](const Stream& /*stream*/, int /*slot*/) { contestant.update(); },
                .cold = false};
  const Timing timing = time_laps(session, {&lap, 1}).front();
  return timing.graph ? timing.graph->median_us : timing.warm.median_us;
}

/// Gives a plan made for other values those that the workload has now, and times that. None where
/// its product is wrong afterwards.
std::optional<double> judge_update(Session& session, Workload& workload, Contestant& contestant) {
  if (contestant.status != Status::ok || !contestant.update) return std::nullopt;
  std::optional<double> us;
  try {
    us = update_us(session, contestant);
  } catch (...) {
    contestant.status = status_of_current_exception(contestant.message);
  }
  judge(session, workload, contestant, Fill::random);
  if (contestant.status == Status::ok) return us;
  contestant.message = "given new values: " + contestant.message;
  return std::nullopt;
}

/// What is known of a contestant before it is built for random data.
struct Finding {
  Status status = Status::ok;
  std::string message;
  std::optional<double> update_us;
};

/// Contestants on integer data, in the order of contestants(), and given random values thereafter,
/// which the workload keeps.
std::vector<Finding> judge_integers(Session& session, Workload& workload) {
  workload.fill(Fill::integers);
  std::vector<Contestant> contestants = workload.contestants();
  for (Contestant& contestant : contestants) {
    judge(session, workload, contestant, Fill::integers);
    if (!contestant.update) contestant.run = nullptr;  // its memory may be wanted
  }
  workload.fill(Fill::random);
  std::vector<Finding> findings;
  for (Contestant& contestant : contestants) {
    const std::optional<double> update_us = judge_update(session, workload, contestant);
    findings.push_back({contestant.status, contestant.message, update_us});
  }
  return findings;
}

/// How a contestant that is timed is judged by what its timed products wrote.
Lap judged_lap(Session& session, Workload& workload, Contestant& contestant) {
  Lap lap{.product = contestant.run,
          .slots = workload.slots(),
          .graph = workload.timed_by_graph(),
          .cold = workload.timed_cold()};
  if (!workload.repeatable()) return lap;
  lap.poison = [&](int slot) {
    workload.poison(slot);
    session.stream.synchronize();
  };
  lap.judge = [&](int slot) {
    if (contestant.status != Status::ok) return;
    session.stream.synchronize();
    const Verdict verdict = workload.check(Fill::random, contestant, slot);
    contestant.seen_bits.add(verdict.digest);
    if (verdict.right) return;
    contestant.status = Status::wrong;
    contestant.message = "while timed: " + verdict.message;
  };
  return lap;
}

/// Products one by one after the timing, for so long: whoever stops multiplying, or is wrong now
/// and then, is found.
void judge_again(Session& session, Workload& workload, Contestant& contestant, double seconds) {
  constexpr int kProducts = 16;
  const double start = steady_seconds();
  for (int i = 0; i < kProducts && contestant.status == Status::ok; ++i) {
    if (i > 0 && steady_seconds() - start > seconds) return;
    judge(session, workload, contestant, Fill::random);
    if (contestant.status != Status::ok)
      contestant.message = "after it was timed: " + contestant.message;
  }
}

/// A time in which the device cannot move what the product needs is no time of that product.
void judge_time(const Footprint& footprint, const MemoryPeak& peak, const Timing& timing,
                Contestant& contestant) {
  const double least_us = peak.least_us(footprint.least);
  for (const std::optional<Estimate>& time :
       {std::optional(timing.warm), timing.graph, timing.cold}) {
    if (contestant.status != Status::ok || !time || time->median_us >= least_us) continue;
    contestant.status = Status::wrong;
    contestant.message = concat("takes ", time->median_us, " us, but the device needs ", least_us,
                                " us to move the ", footprint.least, " bytes of a product");
  }
}

/// Times the contestants that are still ok, the floor beside them, and judges them by it.
void time_contestants(Session& session, Workload& workload, std::vector<Contestant>& contestants,
                      Checks checks, CaseReport& report) {
  std::vector<Lap> laps;
  std::vector<std::size_t> timed;
  for (std::size_t i = 0; i < contestants.size(); ++i) {
    if (contestants[i].status != Status::ok) continue;
    laps.push_back(judged_lap(session, workload, contestants[i]));
    if (checks == Checks::none) laps.back().judge = nullptr;
    timed.push_back(i);
  }
  if (laps.empty()) return;
  StreamingFloor floor(session, report.footprint.read, report.footprint.written, workload.slots());
  laps.push_back(floor.lap());
  laps.back().graph = workload.timed_by_graph();
  std::vector<Timing> timings = time_laps(session, laps);
  report.floor = std::move(timings.back());
  report.peak_us = workload.peak_us();
  const MemoryPeak peak = memory_peak(session.stream.device());
  // All contestants together may take as long as one way of timing.
  const double seconds = session.options.max_seconds / static_cast<double>(timed.size());
  for (std::size_t t = 0; t < timed.size(); ++t) {
    Contestant& contestant = contestants[timed[t]];
    Outcome& outcome = report.outcomes[timed[t]];
    if (checks != Checks::none) {
      judge_again(session, workload, contestant, seconds);
      judge_time(report.footprint, peak, timings[t], contestant);
    }
    outcome.status = contestant.status;
    outcome.message = contestant.message;
    outcome.reproducible = contestant.seen_bits.equal();
    if (outcome.status == Status::ok) outcome.timing = std::move(timings[t]);
  }
}

Outcome outcome_of(const Contestant& contestant, const std::optional<Verdict>& verdict,
                   const std::optional<double>& update_us) {
  return {.contestant = contestant.name,
          .variant = contestant.variant,
          .status = contestant.status,
          .message = contestant.message,
          .setup_us = contestant.setup_us,
          .update_us = update_us,
          .plan_bytes = contestant.plan_bytes,
          .setup_bytes = contestant.setup_bytes,
          .explanation = contestant.explanation,
          .decision = contestant.decision,
          .verdict = verdict,
          .timing = std::nullopt};
}

}  // namespace

std::string_view to_string(Op op) noexcept {
  return op == Op::none ? "n" : op == Op::trans ? "t" : "c";
}

std::string_view to_string(Layout layout) noexcept {
  return layout == Layout::col ? "col" : "row";
}

std::string family_name(const GemmCase& gemm) {
  return gemm.symmetric ? "syrk"
                        : std::string(lanky::to_string(gemm_family(gemm.m, gemm.n, gemm.k)));
}

std::string_view to_string(const GemmType& type) noexcept {
  if (type.math == Math::tf32) return "tf32";
  if (type.math == Math::tf32x3) return "tf32x3";
  return lanky::to_string(type.in);
}

GemmType parse_gemm_type(std::string_view text) {
  if (text == "tf32") return {DType::f32, DType::f32, Math::tf32};
  if (text == "tf32x3") return {DType::f32, DType::f32, Math::tf32x3};
  try {
    return GemmType::same(parse_dtype(text));
  } catch (const Error& error) {
    throw Error(error.code(), std::string(error.what()) + ", tf32, tf32x3");
  }
}

bool Outcome::expected() const {
  return contestant != "lanky" && (status == Status::unsupported || status == Status::timeout);
}

bool CaseReport::all_ok() const {
  return std::all_of(outcomes.begin(), outcomes.end(), [](const Outcome& outcome) {
    return outcome.status == Status::ok || outcome.expected();
  });
}

const Estimate* CaseReport::counted(const std::optional<Timing>& timing) const {
  const bool by_graph = std::holds_alternative<SpmvCase>(subject) && floor && floor->graph;
  if (!timing || (by_graph && !timing->graph)) return nullptr;
  return by_graph ? &*timing->graph : &timing->warm;
}

const Outcome* CaseReport::best(bool lanky) const {
  const Outcome* best = nullptr;
  for (const Outcome& outcome : outcomes) {
    if ((outcome.contestant == "lanky") != lanky) continue;
    if (lanky && outcome.variant == kByColumns) continue;
    const Estimate* const time = counted(outcome.timing);
    const Estimate* const least = best == nullptr ? nullptr : counted(best->timing);
    const bool faster = time != nullptr && (least == nullptr || time->median_us < least->median_us);
    if (best == nullptr || faster) best = &outcome;
  }
  return best;
}

std::optional<double> CaseReport::speedup() const {
  const Outcome* const own = best(true);
  const Outcome* const rival = best(false);
  const Estimate* const own_time = own == nullptr ? nullptr : counted(own->timing);
  const Estimate* const rival_time = rival == nullptr ? nullptr : counted(rival->timing);
  if (own_time == nullptr || rival_time == nullptr) return std::nullopt;
  return rival_time->median_us / own_time->median_us;
}

CaseReport run_workload(Session& session, Workload& workload, Checks checks) {
  CaseReport report{workload.subject(), workload.footprint(), std::nullopt, std::nullopt, {}};
  std::vector<Finding> findings;
  if (checks == Checks::all) {
    findings = judge_integers(session, workload);
  } else {
    workload.fill(Fill::random);
  }
  std::vector<Contestant> contestants = workload.contestants();
  for (std::size_t i = 0; i < contestants.size(); ++i) {
    Contestant& contestant = contestants[i];
    if (checks == Checks::none) {
      report.outcomes.push_back(outcome_of(contestant, std::nullopt, std::nullopt));
      continue;
    }
    const std::optional<Verdict> verdict = judge(session, workload, contestant, Fill::random);
    if (findings.empty()) {
      report.outcomes.push_back(outcome_of(contestant, verdict, std::nullopt));
      continue;
    }
    if (contestant.status == Status::ok) {
      contestant.status = findings[i].status;
      contestant.message = findings[i].message;
    }
    report.outcomes.push_back(outcome_of(contestant, verdict, findings[i].update_us));
  }
  try {
    time_contestants(session, workload, contestants, checks, report);
  } catch (...) {  // whoever failed under load, no time of this case can be trusted
    std::string message;
    const Status status = status_of_current_exception(message);
    for (Outcome& outcome : report.outcomes) {
      if (outcome.status != Status::ok) continue;
      outcome.status = status;
      outcome.message = "while timed: " + message;
    }
  }
  return report;
}

}  // namespace lanky::bench
