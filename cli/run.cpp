// spmv, spmm, sddmm, gemm and tune: measured in this process.
#include <lanky/lanky.hpp>
#include <nlohmann/json.hpp>

#include "bench/records/environment.hpp"
#include "bench/records/record.hpp"
#include "cli/device.hpp"
#include "cli/exit_code.hpp"
#include "cli/measurement.hpp"
#include "cli/reporter.hpp"
#include "cli/signals.hpp"

namespace lanky::cli {

namespace {

/// A listener that passes all on to people and records.
class Report final : public Listener {
 public:
  explicit Report(Reporter& reporter) : reporter_(reporter) {}

  void begin(const std::string& task) override { set_current_task(task); }
  void read(const bench::MatrixRecord& /*record*/) override {}
  void add(const CaseResult& result) override { reporter_.add(result); }

 private:
  Reporter& reporter_;
};

int exit_code_of(const Reporter& reporter, bool single) {
  if (!single) return reporter.failures() == 0 ? kOk : kFailed;
  switch (reporter.last_failure()) {
    case bench::Status::invalid:
    case bench::Status::unsupported:
      return kInput;
    case bench::Status::oom:
    case bench::Status::crash:
      return kBroken;
    default:
      return reporter.failures() == 0 ? kOk : kFailed;
  }
}

}  // namespace

int run_work(const RunOptions& options, const Work& work) {
  const double start = bench::steady_seconds();
  GemmTuning tuning;
  if (!options.tuning.empty()) tuning = GemmTuning::read(options.tuning);
  bench::GridRun grid;
  if (!work.grid.grid.empty()) grid = bench::choose_cases(work.grid);
  grid.cases.insert(grid.cases.begin(), work.products.begin(), work.products.end());
  const Sources sources = find_sources(work, 0);
  const Device device = device_of(options.device);
  Reporter reporter(options.json, work.single);
  Report report(reporter);
  set_current_task("the measurement of the streaming floor");
  bench::Session session(device, timing_of(options, work));
  Measurement measurement(options, session, report);
  bench::Environment environment =
      bench::describe_environment(session, options.argv, !options.no_vendor);
  environment.seed = grid.seed;
  environment.gpu_absence = gpu_absence(options.device);
  reporter.start(to_json(environment));
  for (const bench::MatrixRecord& failed : sources.failed)
    reporter.add(failed);
  for (const Source& source : sources.matrices)
    reporter.add(measurement.multiply(source, content_of(source), dtypes_of(options)));
  std::size_t left = 0;  // cases that there was no time for
  for (const bench::GemmCase& gemm : grid.cases) {
    if (options.seconds > 0 && bench::steady_seconds() - start > options.seconds) {
      ++left;
    } else if (options.tuning.empty()) {
      measurement.multiply_dense(gemm);
    } else {
      measurement.tune_dense(gemm, tuning);
    }
  }
  if (left > 0) reporter.stop_early("time is up", left);
  reporter.finish();
  return exit_code_of(reporter, work.single);
}

}  // namespace lanky::cli
