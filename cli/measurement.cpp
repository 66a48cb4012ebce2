#include "cli/measurement.hpp"

#include <algorithm>
#include <array>
#include <lanky/lanky.hpp>
#include <utility>

#include "bench/cases/grid.hpp"
#include "bench/cases/sddmm_case.hpp"
#include "bench/cases/sparse_path.hpp"
#include "bench/harness/measure.hpp"

namespace lanky::cli {

namespace {

bench::SpmvSelection selection_of(const RunOptions& options) {
  bench::SpmvSelection selection{{}, !options.no_vendor, options.tuned};
  for (const std::string& path : options.paths_of_rows)
    selection.paths.push_back(bench::parse_sparse_path(path));
  for (const std::string& path : options.peers)
    selection.peers.push_back(std::make_shared<const bench::Peer>(path));
  return selection;
}

bench::GemmCase named(bench::GemmCase gemm) {
  if (gemm.name.empty()) gemm.name = bench::gemm_case_name(gemm);
  return gemm;
}

/// "cant f64", "cant f64 x 8 row"
std::string task_name(const Source& source, const bench::SpmvCase& spmv) {
  std::string task = source.shown() + " " + std::string(lanky::to_string(spmv.dtype));
  if (spmv.is_vector()) return task;
  task += " x " + std::to_string(spmv.columns.count) + " ";
  return task.append(bench::to_string(spmv.columns.layout));
}

std::string task_name(const bench::GemmCase& gemm) {
  return gemm.name + " " + std::string(bench::to_string(gemm.type));
}

}  // namespace

Measurement::Measurement(const RunOptions& options, bench::Session& session, Listener& listener)
    : options_(options),
      session_(session),
      listener_(listener),
      selection_(selection_of(options)),
      columns_(columns_of(options)) {}

std::vector<std::string> Measurement::peers() const {
  std::vector<std::string> names;
  for (const auto& peer : selection_.peers)
    names.push_back(peer->name() + " " + peer->version());
  return names;
}

bench::MatrixRecord Measurement::multiply(const Source& source, const std::string& content,
                                          const std::vector<DType>& dtypes) {
  bench::MatrixRecord record = record_of(source);
  record.origin.content = content;
  record.dtypes = dtypes;
  const double start = bench::steady_seconds();
  CsrMatrix<double> pattern;
  std::optional<bench::SpmvMatrix> matrix;
  try {
    listener_.begin("reading " + source.shown());
    pattern = source.read(record.warnings);
    record.read_seconds = bench::steady_seconds() - start;
    record.facts = bench::facts_of(pattern);
    listener_.read(record);
    matrix.emplace(session_.stream, source.name, source.matrix_class, pattern);
  } catch (const std::exception&) {
    record.status = bench::status_of_current_exception(record.reason);
  }
  current_ = &record;
  for (const DType dtype : dtypes) {
    if (!matrix) break;
    bench::SpmvCase subject{.name = source.name,
                            .m = pattern.rows,
                            .n = pattern.cols,
                            .nnz = pattern.nnz(),
                            .dtype = dtype,
                            .matrix_class = source.matrix_class,
                            .origin = record.origin,
                            .label = source.label,
                            .sampled = options_.sddmm};
    bench::SpmvWorkloads made;  // by the first product
    for (const bench::SpmvColumns& columns : columns_) {
      subject.columns = columns;
      listener_.begin(task_name(source, subject));
      guarded(subject, [&] {
        if (!made) made = workloads(*matrix, dtype);
        bench::CaseReport found = bench::run_workload(session_, *made(columns));
        found.subject = subject;
        report(found);
      });
    }
  }
  current_ = nullptr;
  record.seconds = bench::steady_seconds() - start;
  return record;
}

bench::SpmvWorkloads Measurement::workloads(bench::SpmvMatrix& matrix, DType dtype) {
  if (!options_.sddmm) return bench::spmv_workloads(session_, matrix, dtype, selection_);
  return [this, &matrix, dtype](bench::SpmvColumns columns) {
    return bench::make_sddmm_workload(session_, matrix, dtype, columns, !options_.no_vendor);
  };
}

void Measurement::multiply_dense(const bench::GemmCase& gemm) {
  const bench::GemmCase subject = named(gemm);
  guarded(subject, [&] {
    listener_.begin(task_name(subject));
    report(bench::run_workload(
        session_, *bench::make_gemm_workload(session_, gemm, {.vendors = !options_.no_vendor})));
  });
}

void Measurement::tune_dense(const bench::GemmCase& gemm, GemmTuning& tuning) {
  const bench::GemmCase subject = named(gemm);
  guarded(subject, [&] {
    listener_.begin("tuning " + task_name(subject));
    for (const bench::GemmCase& each : bench::with_each_beta(session_, gemm)) {
      bench::TunedGemm tuned = bench::tune_gemm(session_, each, options_.candidates);
      report(tuned.report);
      if (!tuned.fastest || tuned.gain < options_.least_gain) continue;
      tuning.set(tuned.query, *std::move(tuned.fastest));
      tuning.write(options_.tuning);
    }
  });
}

template <class Task>
void Measurement::guarded(const std::variant<bench::SpmvCase, bench::GemmCase>& subject,
                          Task task) {
  try {
    task();
  } catch (const std::exception&) {
    bench::FailedCase failed{subject, bench::Status::crash, ""};
    failed.status = bench::status_of_current_exception(failed.message);
    report(result_of(failed));
  }
}

void Measurement::report(const bench::CaseReport& report) {
  this->report(result_of(report, options_.explain));
}

void Measurement::report(const CaseResult& result) {
  if (current_ != nullptr && current_->status == bench::Status::ok) {
    current_->status = result.lanky;
    current_->reason = result.reason;
  }
  listener_.add(result);
}

std::vector<DType> dtypes_of(const RunOptions& options) {
  std::vector<DType> dtypes;
  for (const std::string& text : options.dtypes)
    dtypes.push_back(parse_dtype(text));
  return dtypes;
}

std::vector<bench::SpmvColumns> columns_of(const RunOptions& options) {
  std::vector<bench::SpmvColumns> all;
  const auto add = [&all](const bench::SpmvColumns& columns) {
    if (std::find(all.begin(), all.end(), columns) == all.end()) all.push_back(columns);
  };
  for (const std::string& text : options.columns) {
    const std::int64_t count = std::stoll(text);
    if (count == 1) {
      add({});
      continue;
    }
    for (const std::string& layout : options.layouts)
      add({count, bench::parse_layout(layout)});
  }
  return all;
}

bench::MeasureOptions timing_of(const RunOptions& options, const Work& work) {
  if (options.quick) return bench::MeasureOptions::quick();
  const auto is_named = [&](const char* name) { return work.grid.grid == name; };
  constexpr std::array kNamed = {"core", "sample", "scattered", "scattered-cpu"};
  const bool many = !work.set.set.empty() || std::any_of(kNamed.begin(), kNamed.end(), is_named);
  return many ? bench::MeasureOptions::grid() : bench::MeasureOptions();
}

}  // namespace lanky::cli
