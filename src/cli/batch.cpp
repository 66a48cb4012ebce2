// spmv, gemm and batch: one matrix or product after another, none of which ends the others.
#include <algorithm>
#include <array>
#include <filesystem>
#include <functional>
#include <lanky/io.hpp>
#include <lanky/lanky.hpp>
#include <optional>

#include "bench/full_grid.hpp"
#include "bench/gemm_case.hpp"
#include "bench/grid.hpp"
#include "bench/spmv_case.hpp"
#include "bench/spmv_set.hpp"
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
  for (const SpmvPath path :
       {SpmvPath::automatic, SpmvPath::mma, SpmvPath::cuda, SpmvPath::tf32, SpmvPath::tf32x3}) {
    if (text == name(path)) return path;
  }
  throw Error(ErrorCode::invalid_argument,
              "\"" + text + "\" is not auto, mma, cuda, tf32 or tf32x3");
}

bench::SpmvSelection selection_of(const RunOptions& options) {
  bench::SpmvSelection selection{{}, !options.no_vendor, options.tuned};
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

/// A sparse matrix that is still to be read or generated.
struct SparseSource {
  std::string name;
  std::string matrix_class;
  std::function<CsrMatrix<double>()> read;
};

/// The measuring of everything in one Work.
class Batch {
 public:
  Batch(const RunOptions& options, bench::Session& session, Reporter& reporter)
      : options_(options),
        session_(session),
        reporter_(reporter),
        selection_(selection_of(options)) {}

  /// Reports what cannot be read as a failure.
  std::vector<SparseSource> sources(const Work& work, std::uint64_t seed) {
    std::vector<SparseSource> all;
    for (const std::string& path : work.files) {
      const Found found = matrices_at(path);
      for (const std::string& failure : found.failures)
        guarded("spmv", path, "", [&] { throw Error(ErrorCode::io, failure); });
      for (const fs::path& file : found.matrices)
        all.push_back({matrix_name(file), std::string(bench::kRealMatrix),
                       [file] { return io::read_csr<double>(file); }});
    }
    std::vector<std::string> specs = work.generators;
    for (std::string& spec : bench::choose_matrices({work.set.set, seed}))
      specs.push_back(std::move(spec));
    for (const std::string& spec : specs)
      all.push_back(
          {spec, bench::matrix_class(spec), [spec] { return io::generate<double>(spec); }});
    return all;
  }

  /// Reads once, multiplies in every one of these types.
  void multiply(const SparseSource& source, const std::vector<DType>& dtypes) {
    std::optional<CsrMatrix<double>> pattern;
    std::optional<bench::SpmvMatrix> matrix;
    guarded("spmv", source.name, "", [&] {
      set_current_task("reading " + source.name);
      pattern = source.read();
      matrix.emplace(session_.stream, source.name, source.matrix_class, *pattern);
    });
    if (!matrix) return;
    for (const DType dtype : dtypes) {
      guarded("spmv", source.name, lanky::name(dtype), [&] {
        set_current_task(source.name + " " + std::string(lanky::name(dtype)));
        measure(*bench::make_spmv_workload(session_, *matrix, dtype, selection_));
      });
    }
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

/// The named grids and sets have thousands of cases: each gets less time.
bench::MeasureOptions timing_of(const RunOptions& options, const Work& work) {
  if (options.quick) return bench::MeasureOptions::quick();
  const auto is_named = [&](const char* name) { return work.grid.grid == name; };
  constexpr std::array kNamed = {"core", "sample", "scattered"};
  const bool many = !work.set.set.empty() || std::any_of(kNamed.begin(), kNamed.end(), is_named);
  return many ? bench::MeasureOptions::grid() : bench::MeasureOptions();
}

/// That drawn matrices and the sample of the grid follow from; none where nothing is drawn so far.
std::optional<std::uint64_t> chosen_seed(const Work& work, const bench::EarlierRuns& earlier) {
  if (work.grid.seed) return work.grid.seed;
  if (earlier.seed) return earlier.seed;
  return work.set.set == "drawn" ? std::optional(bench::draw_seed()) : std::nullopt;
}

/// The grid's cases that earlier runs do not have.
bench::GridRun chosen_grid(const Work& work, std::optional<std::uint64_t> seed,
                           const bench::EarlierRuns& earlier) {
  if (work.grid.grid.empty()) return {};
  bench::GridChoice choice = work.grid;
  choice.seed = seed;
  bench::GridRun grid = bench::choose_cases(choice);
  std::erase_if(grid.cases, [&](const bench::GemmCase& gemm) {
    return earlier.cases.count(bench::record_key(gemm)) == 1;
  });
  return grid;
}

/// A matrix, and the types that it is still to be multiplied in.
struct SparseTask {
  SparseSource source;
  std::vector<DType> dtypes;
};

/// Every `shards`-th matrix, in the types that earlier runs do not have.
std::vector<SparseTask> sparse_tasks(const RunOptions& options, const Work& work,
                                     const bench::EarlierRuns& earlier,
                                     std::vector<SparseSource> sources) {
  std::vector<SparseTask> tasks;
  for (std::size_t i = work.grid.shard; i < sources.size(); i += work.grid.shards) {
    std::vector<DType> dtypes = dtypes_of(options);
    std::erase_if(dtypes, [&](DType dtype) {
      return earlier.cases.count(bench::record_key(sources[i].name, dtype)) == 1;
    });
    if (!dtypes.empty()) tasks.push_back({std::move(sources[i]), std::move(dtypes)});
  }
  return tasks;
}

}  // namespace

int run_work(const RunOptions& options, const Work& work) {
  const double start = bench::steady_seconds();
  GemmTuning tuning;
  if (!options.tuning.empty()) tuning = GemmTuning::read(options.tuning);
  bench::EarlierRuns earlier;
  if (options.resume) earlier = bench::earlier_runs(options.json, bench::program_hash());
  const std::optional<std::uint64_t> seed = chosen_seed(work, earlier);
  bench::GridRun grid = chosen_grid(work, seed, earlier);
  grid.cases.insert(grid.cases.begin(), work.products.begin(), work.products.end());
  const Device device = options.device.empty() ? Device::best() : Device::parse(options.device);
  Reporter reporter(options.json, work.single);
  set_current_task("the measurement of the streaming floor");
  bench::Session session(device, timing_of(options, work));
  Batch batch(options, session, reporter);
  bench::Environment environment =
      bench::describe_environment(session, options.argv, !options.no_vendor);
  environment.seed = work.set.set == "drawn" ? seed : grid.seed;
  reporter.start(environment);
  std::size_t left = 0;  // cases that there was no time for
  const auto time_is_up = [&] {
    return options.seconds > 0 && bench::steady_seconds() - start > options.seconds;
  };
  for (const SparseTask& task :
       sparse_tasks(options, work, earlier, batch.sources(work, seed.value_or(0)))) {
    if (time_is_up()) {
      left += task.dtypes.size();
    } else {
      batch.multiply(task.source, task.dtypes);
    }
  }
  for (const bench::GemmCase& gemm : grid.cases) {
    if (time_is_up()) {
      ++left;
    } else if (options.tuning.empty()) {
      batch.multiply_dense(gemm);
    } else {
      batch.tune_dense(gemm, tuning);
    }
  }
  if (left > 0) reporter.stop_early(left);
  reporter.finish();
  return exit_code_of(batch, reporter, work.single);
}

}  // namespace lanky::cli
