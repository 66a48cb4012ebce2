// spmv, gemm and batch: one matrix or product after another, none of which ends the others.
#include <algorithm>
#include <filesystem>
#include <lanky/io.hpp>
#include <lanky/lanky.hpp>

#include "bench/gemm_case.hpp"
#include "bench/grid.hpp"
#include "bench/spmv_case.hpp"
#include "cli/exit_code.hpp"
#include "cli/options.hpp"
#include "cli/reporter.hpp"
#include "cli/signals.hpp"

namespace lanky::cli {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view kEndings[] = {".mtx",     ".mtx.gz",  ".mtx.xz",
                                         ".mtx.zst", ".mtx.bz2", ".tar.gz"};

bool is_matrix_file(const fs::path& path) {
  const std::string file = path.filename().string();
  return std::any_of(std::begin(kEndings), std::end(kEndings),
                     [&](std::string_view ending) { return file.ends_with(ending); });
}

/// "cant" of "path/cant.mtx.gz".
std::string matrix_name(const fs::path& path) {
  std::string file = path.filename().string();
  for (const std::string_view ending : kEndings) {
    if (file.ends_with(ending)) return file.substr(0, file.size() - ending.size());
  }
  return file;
}

/// What is found below a folder.
struct Found {
  std::vector<fs::path> matrices;
  std::vector<std::string> failures;  // folders that cannot be read, and why
};

void search(const fs::path& folder, Found& found) {
  std::error_code error;
  std::error_code unknown;  // of a broken link, say: then it is neither folder nor file
  for (fs::directory_iterator entry(folder, error); !error && entry != fs::directory_iterator();
       entry.increment(error)) {
    if (entry->is_directory(unknown)) {
      if (!entry->is_symlink(unknown)) search(entry->path(), found);
    } else if (entry->is_regular_file(unknown) && is_matrix_file(entry->path())) {
      found.matrices.push_back(entry->path());
    }
  }
  if (error) found.failures.push_back(folder.string() + ": cannot be read: " + error.message());
}

/// The matrices that a path means: itself, or all below a folder in the order of their names.
Found matrices_at(const fs::path& path) {
  std::error_code unknown;  // reading it will tell
  if (!fs::is_directory(path, unknown)) return {{path}, {}};
  Found found;
  search(path, found);
  std::sort(found.matrices.begin(), found.matrices.end());
  if (found.matrices.empty() && found.failures.empty())
    found.failures.push_back(path.string() + ": holds no .mtx, compressed .mtx or .tar.gz");
  return found;
}

SpmvPath parse_path(const std::string& text) {
  for (const SpmvPath path : {SpmvPath::automatic, SpmvPath::mma, SpmvPath::cuda}) {
    if (text == bench::name(path)) return path;
  }
  throw Error(ErrorCode::invalid_argument, "\"" + text + "\" is not auto, mma or cuda");
}

bench::SpmvSelection selection_of(const RunOptions& options) {
  bench::SpmvSelection selection{{}, !options.no_vendor};
  for (const std::string& path : options.paths_of_rows)
    selection.paths.push_back(parse_path(path));
  return selection;
}

std::vector<DType> dtypes_of(const RunOptions& options) {
  std::vector<DType> dtypes;
  for (const std::string& text : options.dtypes)
    dtypes.push_back(parse_dtype(text));
  return dtypes;
}

/// The measuring of everything in one Work.
class Batch {
 public:
  Batch(const RunOptions& options, bench::Session& session, Reporter& reporter)
      : options_(options),
        session_(session),
        reporter_(reporter),
        selection_(selection_of(options)) {}

  void multiply_path(const std::string& path) {
    const Found found = matrices_at(path);
    for (const std::string& failure : found.failures)
      guarded("spmv", path, "", [&] { throw Error(ErrorCode::io, failure); });
    for (const fs::path& file : found.matrices) {
      multiply(matrix_name(file), [&] { return io::read_csr<double>(file); });
    }
  }

  void multiply_generated(const std::string& spec) {
    multiply(spec, [&] { return io::generate<double>(spec); });
  }

  void multiply_dense(const bench::GemmCase& gemm) {
    const std::string name = bench::gemm_case_name(gemm);
    const std::string_view dtype = bench::name(gemm.type);
    guarded("gemm", name, dtype, [&] {
      set_current_task(name + " " + std::string(dtype));
      measure(*bench::make_gemm_workload(session_, gemm, !options_.no_vendor));
    });
  }

  /// Measures every way to compute a product; the fastest goes into `tuning`, which is saved.
  void tune_dense(const bench::GemmCase& gemm, GemmTuning& tuning) {
    const std::string name = bench::gemm_case_name(gemm);
    const std::string_view dtype = bench::name(gemm.type);
    guarded("gemm", name, dtype, [&] {
      set_current_task("tuning " + name + " " + std::string(dtype));
      for (const bench::GemmCase& each : bench::with_each_beta(session_, gemm)) {
        bench::TunedGemm tuned = bench::tune_gemm(session_, each);
        report(tuned.report);
        if (!tuned.fastest || tuned.gain < options_.least_gain) continue;
        tuning.set(tuned.query, *std::move(tuned.fastest));
        tuning.write(options_.tuning);
      }
    });
  }

  /// The status of the last case that lanky could not do.
  bench::Status last_failure() const { return last_failure_; }

 private:
  /// Reads once, multiplies in every type.
  template <class Source>
  void multiply(const std::string& name, Source source) {
    CsrMatrix<double> matrix;
    bool read = false;
    guarded("spmv", name, "", [&] {
      set_current_task("reading " + name);
      matrix = source();
      read = true;
    });
    if (!read) return;
    for (const DType dtype : dtypes_of(options_)) {
      guarded("spmv", name, lanky::name(dtype), [&] {
        set_current_task(name + " " + std::string(lanky::name(dtype)));
        measure(*bench::make_spmv_workload(session_, name, matrix, dtype, selection_));
      });
    }
  }

  void measure(bench::Workload& workload) { report(bench::run_workload(session_, workload)); }

  void report(const bench::CaseReport& report) {
    for (const bench::Outcome& outcome : report.outcomes) {
      if (outcome.contestant == "lanky" && outcome.status != bench::Status::ok)
        last_failure_ = outcome.status;
    }
    reporter_.add(report, options_.explain);
  }

  /// Runs `task`; what it throws becomes a line of the results.
  template <class Task>
  void guarded(const char* kind, const std::string& name, std::string_view dtype, Task task) {
    try {
      task();
    } catch (const std::exception&) {
      bench::FailedCase failed{kind, name, std::string(dtype), bench::Status::ok, ""};
      last_failure_ = failed.status = bench::status_of_current_exception(failed.message);
      reporter_.add(failed);
    }
  }

  const RunOptions& options_;
  bench::Session& session_;
  Reporter& reporter_;
  bench::SpmvSelection selection_;
  bench::Status last_failure_ = bench::Status::ok;
};

int exit_code_of(const Batch& batch, const Reporter& reporter, bool single) {
  if (!single) return reporter.failures() == 0 ? kOk : kFailed;
  switch (batch.last_failure()) {
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

/// The named grids have thousands of cases: each gets less time.
bench::MeasureOptions timing_of(const RunOptions& options, const Work& work) {
  if (options.quick) return bench::MeasureOptions::quick();
  for (const char* named : {"core", "sample", "scattered"}) {
    if (work.grid.grid == named) return bench::MeasureOptions::grid();
  }
  return {};
}

/// The grid's cases that earlier runs do not have.
bench::GridRun chosen_grid(const Work& work, const bench::EarlierRuns& earlier) {
  if (work.grid.grid.empty()) return {};
  bench::GridChoice choice = work.grid;
  if (!choice.seed) choice.seed = earlier.seed;
  bench::GridRun grid = bench::choose_cases(choice);
  std::erase_if(grid.cases, [&](const bench::GemmCase& gemm) {
    return earlier.cases.count(bench::record_key(gemm)) == 1;
  });
  return grid;
}

}  // namespace

int run_work(const RunOptions& options, const Work& work) {
  const double start = bench::steady_seconds();
  GemmTuning tuning;
  if (!options.tuning.empty()) tuning = GemmTuning::read(options.tuning);
  bench::EarlierRuns earlier;
  if (options.resume) earlier = bench::earlier_runs(options.json, bench::program_hash());
  bench::GridRun grid = chosen_grid(work, earlier);
  grid.cases.insert(grid.cases.begin(), work.products.begin(), work.products.end());
  const Device device = options.device.empty() ? Device::best() : Device::parse(options.device);
  Reporter reporter(options.json, work.single);
  set_current_task("the measurement of the streaming floor");
  bench::Session session(device, timing_of(options, work));
  Batch batch(options, session, reporter);
  bench::Environment environment =
      bench::describe_environment(session, options.argv, !options.no_vendor);
  environment.seed = grid.seed;
  reporter.start(environment);
  for (const std::string& path : work.files)
    batch.multiply_path(path);
  for (const std::string& spec : work.generators)
    batch.multiply_generated(spec);
  for (std::size_t i = 0; i < grid.cases.size(); ++i) {
    if (options.seconds > 0 && bench::steady_seconds() - start > options.seconds) {
      reporter.stop_early(grid.cases.size() - i);
      break;
    }
    if (options.tuning.empty()) {
      batch.multiply_dense(grid.cases[i]);
    } else {
      batch.tune_dense(grid.cases[i], tuning);
    }
  }
  reporter.finish();
  return exit_code_of(batch, reporter, work.single);
}

}  // namespace lanky::cli
