#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <utility>

#include "bench/cases/spmv_case.hpp"
#include "bench/harness/stopwatch.hpp"
#include "bench/ladder/climb.hpp"
#include "bench/ladder/record.hpp"
#include "bench/ladder/spmm.hpp"
#include "bench/ladder/spmv.hpp"

namespace lanky::ladder {

namespace {

using Json = nlohmann::ordered_json;

/// A rung with what is built of it last: its parts are timed once the whole has been checked.
struct Step {
  Rung rung;
  std::shared_ptr<SpmvRung> (*make)(const Stream& stream, const bench::SpmvOperands& operands,
                                    std::string& explanation);
  std::shared_ptr<SpmvRung> built{};
  const void* x = nullptr;
  void* y = nullptr;
};

DeviceCsr csr_of(const bench::SpmvOperands& operands) {
  const bench::SpmvRows a = operands.matrix.on_device();
  return {.dtype = operands.dtype,
          .rows = a.rows,
          .cols = operands.matrix.cols(),
          .nnz = operands.matrix.nnz(),
          .offsets = a.offsets,
          .columns = a.columns,
          .values = operands.values};
}

std::vector<Step> spmv_steps() {
  return {
      {{.name = "csr-scalar", .idea = "a thread a row"},
       [](const Stream& stream, const bench::SpmvOperands& operands, std::string& /*explanation*/)
           -> std::shared_ptr<SpmvRung> { return make_csr_scalar(stream, csr_of(operands)); }},
      {{.name = "csr-warp", .idea = "a warp a row: neighbours read neighbouring entries"},
       [](const Stream& stream, const bench::SpmvOperands& operands, std::string& /*explanation*/)
           -> std::shared_ptr<SpmvRung> { return make_csr_warp(stream, csr_of(operands)); }},
      {{.name = "dasp", .idea = "long, medium and short rows shaped for tensor cores"},
       [](const Stream& stream, const bench::SpmvOperands& operands,
          std::string& explanation) -> std::shared_ptr<SpmvRung> {
         const DaspPattern dasp =
             to_dasp(operands.matrix.pattern().view(), dasp_tile_width(operands.dtype));
         explanation = summarize(dasp).text();
         return make_dasp(stream, dasp, operands.dtype, operands.values);
       }},
  };
}

/// Times of all rungs that are right, each whole and with a part left out, in one interleaved run;
/// into their lines.
void add_parts(bench::Session& session, const std::vector<Step>& steps, std::vector<Json>& lines) {
  constexpr std::array kParts = {Leave::nothing, Leave::gathers, Leave::arithmetic};
  std::vector<bench::Lap> laps;
  std::vector<std::size_t> timed;
  for (std::size_t s = 0; s < steps.size(); ++s) {
    if (lines[s]["status"] != "ok") continue;
    timed.push_back(s);
    for (const Leave leave : kParts) {
      laps.push_back({.product =
                          [&step = steps[s], leave](const Stream& stream, int /*slot*/) {
                            step.built->run(stream, step.x, step.y, leave);
                          },
                      .cold = false});
    }
  }
  if (laps.empty()) return;
  const std::vector<bench::Timing> timings = bench::time_laps(session, laps);
  for (std::size_t t = 0; t < timed.size(); ++t) {
    std::array<double, kParts.size()> us{};
    for (std::size_t p = 0; p < kParts.size(); ++p) {
      const bench::Timing& timing = timings[t * kParts.size() + p];
      us[p] = (timing.graph ? *timing.graph : timing.warm).median_us;
    }
    Json& line = lines[timed[t]];
    line["gathers_us"] = us[0] - us[1];
    line["arithmetic_us"] = us[0] - us[2];
    line["rest_us"] = us[1] + us[2] - us[0];
  }
}

}  // namespace

std::vector<Json> climb_spmv(bench::Session& session, bench::SpmvMatrix& matrix, DType dtype,
                             const ClimbOptions& options) {
  std::vector<Step> steps = spmv_steps();
  keep_asked(steps, options.rungs, kSpmvLadder);
  std::vector<SparseRung> rungs;
  rungs.reserve(steps.size());
  for (Step& step : steps) {
    rungs.push_back({.rung = step.rung,
                     .build = [&step](const Stream& stream, const bench::SpmvOperands& operands) {
                       std::string explanation;
                       step.built = step.make(stream, operands, explanation);
                       step.x = operands.x;
                       step.y = operands.y;
                       return bench::BuiltSpmv{
                           [built = step.built, x = operands.x, y = operands.y](const Stream& on) {
                             built->run(on, x, y, Leave::nothing);
                           },
                           step.built->bytes(), std::move(explanation)};
                     }});
  }
  std::vector<Json> lines = climb_sparse(session, matrix, dtype, {}, kSpmvLadder, rungs, options);
  add_parts(session, steps, lines);
  return lines;
}

}  // namespace lanky::ladder
