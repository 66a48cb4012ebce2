#include "bench/ladder/climb.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "bench/gemm_case.hpp"
#include "bench/gpu.hpp"
#include "bench/ladder/cpu_peak.hpp"
#include "bench/record.hpp"
#include "bench/statistics.hpp"
#include "core/runtime.hpp"
#include "core/text.hpp"

namespace lanky::ladder {

namespace {

using Json = nlohmann::ordered_json;

Json number(std::optional<double> value) {
  return value && std::isfinite(*value) ? Json(*value) : Json(nullptr);
}

template <class AnyRung>
void keep_asked(std::vector<AnyRung>& rungs, const std::vector<std::string>& names,
                std::string_view ladder) {
  if (names.empty()) return;
  const auto name_of = [](const AnyRung& rung) { return rung.rung.name; };
  for (const std::string& name : names) {
    if (std::any_of(rungs.begin(), rungs.end(), [&](const auto& r) { return name_of(r) == name; }))
      continue;
    std::string known;
    for (const AnyRung& rung : rungs)
      known += (known.empty() ? "" : ", ") + name_of(rung);
    throw Error(ErrorCode::invalid_argument,
                concat("ladder ", ladder, " has no rung \"", name, "\"; it has ", known));
  }
  std::erase_if(rungs, [&](const AnyRung& rung) {
    return std::find(names.begin(), names.end(), name_of(rung)) == names.end();
  });
}

/// Flops per second of the device in this arithmetic.
double peak_flops(bench::Session& session, const bench::GemmType& type) {
  const auto [known, is_new] = session.peaks.try_emplace(std::string(bench::name(type)), 0.0);
  if (is_new) {
    known->second = session.stream.device().is_cuda() ? bench::gpu::peak_flops(session.stream, type)
                                                      : cpu_peak_flops(type.in);
  }
  return known->second;
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

/// What all lines of a case are formed with.
struct Scene {
  const bench::CaseReport& report;
  std::string_view ladder;
  std::optional<double> first_us;   // of the first rung
  std::optional<double> vendor_us;  // of the best of the vendor's routines
  std::optional<double> transfer_us;
  bool checked;
};

std::optional<double> time_of(const bench::CaseReport& report, const bench::Outcome& outcome) {
  const bench::Estimate* const time = report.counted(outcome.timing);
  return time == nullptr ? std::nullopt : std::optional(time->median_us);
}

Json line_of(const Scene& scene, const bench::Outcome& outcome, const Rung& rung,
             double peak_flops) {
  Json line =
      std::visit([](const auto& subject) { return bench::head(subject); }, scene.report.subject);
  line["kind"] = "ladder";
  line["ladder"] = scene.ladder;
  line["contestant"] = outcome.contestant;
  line["rung"] = rung.name;
  line["idea"] = rung.idea;
  line["status"] = bench::name(outcome.status);
  if (!outcome.message.empty()) line["message"] = outcome.message;
  if (outcome.contestant == scene.ladder && !outcome.explanation.empty())
    line["chosen"] = outcome.explanation;
  const std::optional<double> us = time_of(scene.report, outcome);
  const auto ratio = [&](std::optional<double> other) {
    return us && other ? number(*other / *us) : Json(nullptr);
  };
  const bench::Estimate* const floor = scene.report.counted(scene.report.floor);
  const double flops = scene.report.footprint.flops;
  line["us"] = number(us);
  line["noise"] = us ? number(scene.report.counted(outcome.timing)->noise) : Json(nullptr);
  line["transfer_us"] = number(scene.transfer_us);
  line["gflops"] = us ? number(flops / *us * 1e-3) : Json(nullptr);
  line["peak_gflops"] = number(peak_flops * 1e-9);
  line["floor_us"] = floor == nullptr ? Json(nullptr) : number(floor->median_us);
  line["speedup_first"] = ratio(scene.first_us);
  line["speedup_vendor"] = ratio(scene.vendor_us);
  line["reads"] = number(rung.reads);
  line["predicted_us"] = number(rung.predicted_us);
  line["bytes"] = scene.report.footprint.bytes();
  line["flops"] = flops;
  line["checked"] = scene.checked;
  if (outcome.verdict) {
    line["error"] = number(outcome.verdict->error);
    line["bound"] = number(outcome.verdict->bound);
  }
  return line;
}

/// The rung that lanky or a vendor's routine stands for.
Rung rung_of(const bench::Outcome& outcome) {
  if (outcome.contestant == "lanky") return {.name = "lanky", .idea = "this library's kernel"};
  return {.name = outcome.contestant + " " + outcome.variant, .idea = "the vendor's"};
}

}  // namespace

const std::vector<GemmLadder>& gemm_ladders() {
  static const std::vector<GemmLadder> ladders = {
      {.name = "tsm2",
       .about = "tall and skinny on a GPU: TSM2's versions, lanky, cuBLAS",
       .on_gpu = true,
       .lanky = true,
       .positive = true,
       .layout = Layout::col,
       .m = {10240, 20480, 30720},
       .n = {2, 4, 8, 16},
       .rungs = tsm2_rungs},
      {.name = "gemm-gpu",
       .about = "a square product on a GPU: a thread an element, up to tensor cores",
       .on_gpu = true,
       .lanky = false,
       .positive = false,
       .layout = Layout::row,
       .m = {2048},
       .n = {},
       .rungs = gemm_gpu_rungs},
      {.name = "gemm-cpu",
       .about = "a square product on the CPU: three loops, up to OpenBLAS",
       .on_gpu = false,
       .lanky = false,
       .positive = false,
       .layout = Layout::row,
       .m = {2048},
       .n = {},
       .rungs = [](const bench::GemmCase& gemm,
                   const Settings& /*settings*/) { return gemm_cpu_rungs(gemm); }},
  };
  return ladders;
}

std::vector<Json> climb(bench::Session& session, const GemmLadder& ladder,
                        const bench::GemmCase& gemm, Settings settings,
                        const ClimbOptions& options) {
  if (ladder.rungs == tsm2_rungs && !settings.card)
    settings.card = measure_card(session, gemm.type.in);
  std::vector<GemmRung> rungs = ladder.rungs(gemm, settings);
  keep_asked(rungs, options.rungs, ladder.name);
  bench::GemmSelection selection{.lanky = ladder.lanky, .vendors = options.vendors};
  for (const GemmRung& rung : rungs) {
    selection.entrants.push_back({.contestant = std::string(ladder.name),
                                  .variant = rung.rung.name,
                                  .math = rung.math,
                                  .build = rung.build});
  }
  const auto workload = bench::make_gemm_workload(session, gemm, selection);
  const bench::CaseReport report = bench::run_workload(session, *workload, options.checks);

  Scene scene{.report = report,
              .ladder = ladder.name,
              .first_us = time_of(report, report.outcomes.front()),
              .vendor_us = std::nullopt,
              .transfer_us = std::nullopt,
              .checked = options.checks == bench::Checks::all};
  for (const bench::Outcome& outcome : report.outcomes) {
    if (outcome.contestant == ladder.name || outcome.contestant == "lanky") continue;
    const std::optional<double> us = time_of(report, outcome);
    if (us && (!scene.vendor_us || *us < *scene.vendor_us)) scene.vendor_us = us;
  }
  if (options.transfers) scene.transfer_us = transfer_us(session, report.footprint);
  std::vector<Json> lines;
  for (std::size_t i = 0; i < report.outcomes.size(); ++i) {
    const bench::Outcome& outcome = report.outcomes[i];
    bench::GemmType type = gemm.type;
    if (i < rungs.size()) type.math = rungs[i].math.value_or(type.math);
    lines.push_back(line_of(scene, outcome, i < rungs.size() ? rungs[i].rung : rung_of(outcome),
                            peak_flops(session, type)));
  }
  return lines;
}

}  // namespace lanky::ladder
