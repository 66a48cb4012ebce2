#include "bench/ladder/climb.hpp"

#include <nlohmann/json.hpp>

#include "bench/cases/gemm_case.hpp"
#include "bench/harness/gpu.hpp"
#include "bench/ladder/cpu_peak.hpp"
#include "bench/ladder/record.hpp"

namespace lanky::ladder {

namespace {

using Json = nlohmann::ordered_json;

/// Flops per second of the device in this arithmetic.
double peak_flops(bench::Session& session, const bench::GemmType& type) {
  const auto [known, is_new] = session.peaks.try_emplace(std::string(bench::to_string(type)), 0.0);
  if (is_new) {
    known->second = session.stream.device().is_cuda() ? bench::gpu::peak_flops(session.stream, type)
                                                      : cpu_peak_flops(type.in);
  }
  return known->second;
}

/// What the model was told, and the columns below which it takes a pass for bound by memory.
Json card_json(const Tsm2Card& card, DType dtype) {
  return {{"memory_latency_clocks", card.memory_latency},
          {"arithmetic_latency_clocks", card.arithmetic_latency},
          {"clock_mhz", card.clock_hz * 1e-6},
          {"tb_per_second", card.bytes_per_second * 1e-12},
          {"tflops", card.flops_per_second * 1e-12},
          {"t2_threshold", tsm2_threshold(card, static_cast<int>(size_of(dtype)))}};
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
  if (const DType dtype = gemm.type.in; dtype != DType::f32 && dtype != DType::f64) {
    throw Error(ErrorCode::unsupported,
                concat("ladder ", ladder.name, ": f32 or f64, not ", bench::to_string(gemm.type)));
  }
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

  const Scene scene(session, report, ladder.name, options);
  std::vector<Json> lines;
  for (std::size_t i = 0; i < report.outcomes.size(); ++i) {
    const bench::Outcome& outcome = report.outcomes[i];
    bench::GemmType type = gemm.type;
    if (i < rungs.size()) type.math = rungs[i].math.value_or(type.math);
    lines.push_back(scene.line(outcome, i < rungs.size() ? rungs[i].rung : rung_of(outcome),
                               peak_flops(session, type)));
    if (ladder.rungs == gemm_gpu_rungs)
      lines.back()["block"] = concat(settings.block.rows, "x", settings.block.cols);
    if (settings.card) lines.back()["card"] = card_json(*settings.card, gemm.type.in);
  }
  return lines;
}

}  // namespace lanky::ladder
