#include "bench/ladder/record.hpp"

#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "bench/harness/statistics.hpp"
#include "bench/records/record.hpp"
#include "core/runtime.hpp"

namespace lanky::ladder {

namespace {

using Json = nlohmann::ordered_json;

Json number(std::optional<double> value) {
  return value && std::isfinite(*value) ? Json(*value) : Json(nullptr);
}

/// Median time of copying the operands to the device and the result back, one after the other, from
/// and to pageable memory, as programs have it that were not written for this.
double transfer_us(bench::Session& session, const bench::Footprint& footprint) {
  constexpr int kRounds = 3;
  const Stream& stream = session.stream;
  std::vector<char> host(static_cast<std::size_t>(std::max(footprint.read, footprint.written)));
  char* const device = session.operands.reserve(footprint.bytes());
  const int index = stream.device().index();
  std::vector<double> times;
  for (int round = 0; round < kRounds; ++round) {
    stream.synchronize();
    const double start = bench::steady_seconds();
    runtime::copy(device, host.data(), static_cast<std::size_t>(footprint.read), stream.native(),
                  index);
    runtime::copy(host.data(), device + footprint.read, static_cast<std::size_t>(footprint.written),
                  stream.native(), index);
    stream.synchronize();
    times.push_back((bench::steady_seconds() - start) * 1e6);
  }
  return bench::median(std::move(times));
}

}  // namespace

Scene::Scene(bench::Session& session, const bench::CaseReport& report, std::string_view ladder,
             const ClimbOptions& options)
    : report_(report),
      ladder_(ladder),
      first_us_(time_of(report.outcomes.front())),
      checked_(options.checks != bench::Checks::none) {
  for (const bench::Outcome& outcome : report.outcomes) {
    if (outcome.contestant == ladder || outcome.contestant == "lanky") continue;
    const std::optional<double> us = time_of(outcome);
    if (us && (!vendor_us_ || *us < *vendor_us_)) vendor_us_ = us;
  }
  if (options.transfers) transfer_us_ = transfer_us(session, report.footprint);
}

std::optional<double> Scene::time_of(const bench::Outcome& outcome) const {
  if (const bench::Estimate* const time = report_.counted(outcome.timing)) return time->median_us;
  // Whoever is far slower than all others has no graph.
  return outcome.timing ? std::optional(outcome.timing->warm.median_us) : std::nullopt;
}

Json Scene::line(const bench::Outcome& outcome, const Rung& rung,
                 std::optional<double> peak_flops) const {
  Json line = std::visit([](const auto& subject) { return bench::head(subject); }, report_.subject);
  line["kind"] = "ladder";
  line["ladder"] = ladder_;
  line["contestant"] = outcome.contestant;
  line["rung"] = rung.name;
  line["idea"] = rung.idea;
  line["status"] = bench::to_string(outcome.status);
  if (!outcome.message.empty()) line["message"] = outcome.message;
  if (outcome.contestant == ladder_ && !outcome.explanation.empty())
    line["chosen"] = outcome.explanation;
  const std::optional<double> us = time_of(outcome);
  const auto ratio = [&](std::optional<double> other) {
    return us && other ? number(*other / *us) : Json(nullptr);
  };
  const bench::Estimate* const floor = report_.counted(report_.floor);
  const double flops = report_.footprint.flops;
  line["us"] = number(us);
  const bench::Estimate* const counted = report_.counted(outcome.timing);
  line["noise"] = counted != nullptr ? number(counted->noise) : Json(nullptr);
  line["setup_us"] = us ? number(outcome.setup_us) : Json(nullptr);
  line["transfer_us"] = number(transfer_us_);
  line["gflops"] = us ? number(flops / *us * 1e-3) : Json(nullptr);
  line["peak_gflops"] = peak_flops ? number(*peak_flops * 1e-9) : Json(nullptr);
  line["floor_us"] = floor == nullptr ? Json(nullptr) : number(floor->median_us);
  line["speedup_first"] = ratio(first_us_);
  line["speedup_vendor"] = ratio(vendor_us_);
  line["reads"] = number(rung.reads);
  line["predicted_us"] = number(rung.predicted_us);
  line["bytes"] = report_.footprint.bytes();
  line["flops"] = flops;
  line["plan_bytes"] = outcome.plan_bytes;
  line["checked"] = checked_;
  if (outcome.verdict) {
    line["error"] = number(outcome.verdict->error);
    line["bound"] = number(outcome.verdict->bound);
  }
  return line;
}

Rung rung_of(const bench::Outcome& outcome) {
  if (outcome.contestant == "lanky") return {.name = "lanky", .idea = "this library's kernel"};
  return {.name = outcome.contestant + " " + outcome.variant, .idea = "the vendor's"};
}

}  // namespace lanky::ladder
