#include "bench/records/record.hpp"
#include "bench/cases/sparse_path.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

namespace lanky::bench {

namespace {

using Json = nlohmann::ordered_json;

/// JSON has no infinity and no NaN.
Json number(double value) {
  return std::isfinite(value) ? Json(value) : Json(nullptr);
}

Json median_of(const std::optional<Estimate>& estimate) {
  return estimate ? number(estimate->median_us) : Json(nullptr);
}

/// What says how far the times can be trusted: the worst of the estimates.
void add_quality(Json& line, const Timing& timing) {
  double noise = timing.warm.noise;
  int samples = timing.warm.samples;
  bool throttled = timing.warm.throttled;
  for (const auto& estimate : {timing.graph, timing.cold}) {
    if (!estimate) continue;
    noise = std::max(noise, estimate->noise);
    samples = std::min(samples, estimate->samples);
    throttled = throttled || estimate->throttled;
  }
  line["noise"] = number(noise);
  line["samples"] = samples;
  line["throttled"] = throttled;
  if (!timing.graph_failure.empty()) line["graph_failure"] = timing.graph_failure;
}

/// The products after which a plan has paid for what its setup takes longer than the best rival's:
/// 0 where it takes no longer; null where the rival multiplies as fast, or is not known.
Json pays_off_after(const CaseReport& report, const Outcome& outcome) {
  const Outcome* const rival = report.best(false);
  const Estimate* const own = report.counted(outcome.timing);
  const Estimate* const others = rival == nullptr ? nullptr : report.counted(rival->timing);
  if (own == nullptr || others == nullptr || others->median_us <= own->median_us) return nullptr;
  const double debt_us = outcome.setup_us - rival->setup_us;
  return std::max(0.0, std::ceil(debt_us / (others->median_us - own->median_us)));
}

/// What follows from the time that counts: rates, and the share of the floor.
void add_rates(Json& line, const CaseReport& report, const Outcome& outcome) {
  const Estimate* const time = report.counted(outcome.timing);
  const Estimate* const floor = report.counted(report.floor);
  const auto bytes = static_cast<double>(report.footprint.bytes());
  const auto rate = [&](double amount) {
    return time != nullptr ? number(amount / time->median_us) : Json(nullptr);
  };
  line["gflops"] = rate(report.footprint.flops / 1e3);
  line["gbs"] = rate(bytes / 1e3);
  line["floor_share"] = floor != nullptr ? rate(floor->median_us) : Json(nullptr);
}

/// What a sparse plan says of itself.
void add_plan(Json& line, const CaseReport& report, const Outcome& outcome) {
  if (const std::optional<SparseInfo>& info = outcome.decision.sparse) {
    line["path"] =
        info->engine == Engine::automatic ? "cpu" : to_string(SparsePath{info->engine, info->math});
    line["padding"] = number(info->padding);
    for (const SparseTrial& trial : info->trials) {
      line["trials"].push_back({{"shape", trial.shape},
                                {"path", to_string(SparsePath{trial.engine, trial.math})},
                                {"ratio", number(trial.ratio)}});
    }
  }
  line["pays_off_after"] = pays_off_after(report, outcome);
  const std::int64_t nnz = std::get<SpmvCase>(report.subject).nnz;
  const auto plan_bytes = static_cast<double>(outcome.plan_bytes);
  line["bytes_per_entry"] = nnz > 0 ? Json(plan_bytes / static_cast<double>(nnz)) : Json(nullptr);
}

/// Whether a line tells of columns: of sparse products, those with one vector do not.
bool has_columns(const CaseReport& report) {
  const auto* const spmv = std::get_if<SpmvCase>(&report.subject);
  return spmv != nullptr && !spmv->is_vector();
}

Json outcome_line(Json line, const CaseReport& report, const Outcome& outcome) {
  line["contestant"] = outcome.contestant;
  line["variant"] = outcome.variant;
  line["status"] = to_string(outcome.status);
  const std::optional<Timing>& timing = outcome.timing;
  line["warm_us"] = timing ? number(timing->warm.median_us) : Json(nullptr);
  line["graph_us"] = timing ? median_of(timing->graph) : Json(nullptr);
  line["cold_us"] = timing ? median_of(timing->cold) : Json(nullptr);
  line["setup_us"] = timing ? number(outcome.setup_us) : Json(nullptr);
  if (std::holds_alternative<SpmvCase>(report.subject)) {
    line["update_us"] = timing && outcome.update_us ? number(*outcome.update_us) : Json(nullptr);
    line["setup_bytes"] = outcome.setup_bytes ? Json(*outcome.setup_bytes) : Json(nullptr);
  }
  line["floor_us"] = report.floor ? median_of(report.floor->graph) : Json(nullptr);
  line["floor_batch_us"] = report.floor ? number(report.floor->warm.median_us) : Json(nullptr);
  if (std::holds_alternative<GemmCase>(report.subject))
    line["peak_us"] = report.peak_us ? number(*report.peak_us) : Json(nullptr);
  line["bytes"] = report.footprint.bytes();
  line["flops"] = report.footprint.flops;
  line["plan_bytes"] = outcome.plan_bytes;
  line["error"] = outcome.verdict ? number(outcome.verdict->error) : Json(nullptr);
  line["bound"] = outcome.verdict ? number(outcome.verdict->bound) : Json(nullptr);
  if (has_columns(report))
    line["reproducible"] = outcome.reproducible ? Json(*outcome.reproducible) : Json(nullptr);
  add_rates(line, report, outcome);
  if (std::holds_alternative<SpmvCase>(report.subject) && outcome.contestant == "lanky")
    add_plan(line, report, outcome);
  if (timing) add_quality(line, *timing);
  const Decision& decision = outcome.decision;
  if (!decision.kernel.empty()) line["kernel"] = decision.kernel;
  if (!decision.algorithm.empty()) line["algorithm"] = decision.algorithm;
  if (decision.predicted_us > 0) line["predicted_us"] = number(decision.predicted_us);
  if (decision.chosen) line["chosen"] = true;
  if (!outcome.message.empty()) line["message"] = outcome.message;
  return line;
}

}  // namespace

Json to_json(const Origin& origin) {
  Json fields = Json::object();
  for (const auto& [field, text] : {std::pair{"source", &origin.source},
                                    {"content", &origin.content},
                                    {"collection", &origin.collection}})
    if (!text->empty()) fields[field] = *text;
  return fields;
}

Json head(const SpmvCase& spmv) {
  Json line = {{"kind", spmv.sampled       ? "sddmm"
                        : spmv.is_vector() ? "spmv"
                                           : "spmm"},
               {"case", spmv.name},
               {"class", spmv.matrix_class}};
  line.update(to_json(spmv.origin));
  line.update({{"m", spmv.m},
               {"n", spmv.n},
               {"nnz", spmv.nnz},
               {"dtype", to_string(spmv.dtype)},
               {"op", "n"}});
  if (!spmv.is_vector())
    line.update({{"columns", spmv.columns.count}, {"layout", to_string(spmv.columns.layout)}});
  return line;
}

Json head(const GemmCase& gemm) {
  return {{"kind", "gemm"},
          {"case", gemm.name},
          {"family", family_name(gemm)},
          {"m", gemm.m},
          {"n", gemm.n},
          {"k", gemm.k},
          {"op_a", to_string(gemm.op_a)},
          {"op_b", to_string(gemm.op_b)},
          {"layout", to_string(gemm.layout)},
          {"ld", gemm.padded ? "padded" : "tight"},
          {"alpha", gemm.alpha},
          {"beta", gemm.beta},
          {"dtype", to_string(gemm.type)},
          {"out", to_string(gemm.type.out)}};
}

Json to_json(const Environment& e) {
  Json line = {{"kind", "env"},
               {"schema", 1},
               {"gpu", e.gpu},
               {"driver", e.driver},
               {"cuda", e.cuda},
               {"cublas", e.cublas},
               {"cusparse", e.cusparse},
               {"lanky", e.lanky},
               {"commit", e.commit},
               {"argv", e.argv},
               {"utc", e.utc},
               {"sm_clock_mhz", number(std::round(e.sm_clock_mhz))},
               {"l2_bytes", e.l2_bytes},
               {"read_floor_tbs", number(e.read_floor_tbs)},
               {"void", e.is_void},
               {"device", e.device},
               {"cpu", e.cpu},
               {"threads", e.threads},
               {"openblas", e.openblas},
               {"mkl", e.mkl},
               {"sources_hash", e.sources_hash},
               {"binary_hash", e.binary_hash},
               {"config", e.config}};
  if (e.seed) line["seed"] = *e.seed;
  if (!e.code.empty()) line["code"] = e.code;
  if (!e.gpu_absence.empty()) line["gpu_absence"] = e.gpu_absence;
  return line;
}

std::vector<Json> to_json(const CaseReport& report) {
  const Json start = std::visit([](const auto& subject) { return head(subject); }, report.subject);
  std::vector<Json> lines;
  for (const Outcome& outcome : report.outcomes)
    lines.push_back(outcome_line(start, report, outcome));
  std::stable_partition(lines.begin(), lines.end(),
                        [](const Json& line) { return line["contestant"] != "lanky"; });
  return lines;
}

Json to_json(const FailedCase& failed) {
  Json line = std::visit([](const auto& subject) { return head(subject); }, failed.subject);
  line["contestant"] = "lanky";
  line["status"] = to_string(failed.status);
  line["message"] = failed.message;
  return line;
}

}  // namespace lanky::bench
