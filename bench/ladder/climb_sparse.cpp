#include <nlohmann/json.hpp>

#include "bench/ladder/record.hpp"
#include "bench/ladder/spmm.hpp"

namespace lanky::ladder {

std::vector<nlohmann::ordered_json> climb_sparse(bench::Session& session, bench::SpmvMatrix& matrix,
                                                 DType dtype, bench::SpmvColumns columns,
                                                 std::string_view ladder,
                                                 const std::vector<SparseRung>& rungs,
                                                 const ClimbOptions& options) {
  bench::SpmvSelection selection{.vendors = options.vendors};
  for (const SparseRung& rung : rungs) {
    selection.entrants.push_back(
        {.contestant = std::string(ladder), .variant = rung.rung.name, .build = rung.build});
  }
  const auto workload = bench::make_spmv_workload(session, matrix, dtype, selection, columns);
  const bench::CaseReport report = bench::run_workload(session, *workload, options.checks);
  const Scene scene(session, report, ladder, options);
  std::vector<nlohmann::ordered_json> lines;
  for (std::size_t i = 0; i < report.outcomes.size(); ++i) {
    const bench::Outcome& outcome = report.outcomes[i];
    lines.push_back(scene.line(outcome, i < rungs.size() ? rungs[i].rung : rung_of(outcome), {}));
  }
  return lines;
}

std::vector<nlohmann::ordered_json> climb_spmm(bench::Session& session, bench::SpmvMatrix& matrix,
                                               DType dtype, std::int64_t columns,
                                               const ClimbOptions& options) {
  std::vector<SparseRung> rungs = spmm_rungs();
  keep_asked(rungs, options.rungs, kSpmmLadder);
  return climb_sparse(session, matrix, dtype, {columns, Layout::row}, kSpmmLadder, rungs, options);
}

}  // namespace lanky::ladder
