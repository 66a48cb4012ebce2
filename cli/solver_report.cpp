#include "cli/solver_report.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <utility>

#include "bench/harness/session.hpp"
#include "bench/records/environment.hpp"
#include "bench/records/matrix_record.hpp"
#include "bench/records/record.hpp"
#include "bench/report/number_text.hpp"
#include "bench/report/output_file.hpp"
#include "cli/convergence_plot.hpp"
#include "cli/device.hpp"
#include "cli/exit_code.hpp"
#include "cli/signals.hpp"

namespace lanky::cli {

namespace {

using Json = nlohmann::ordered_json;

/// JSON has no infinity and no NaN.
Json number(double value) {
  return std::isfinite(value) ? Json(value) : Json(nullptr);
}

Json numbers(const std::vector<double>& values) {
  Json list = Json::array();
  for (const double value : values)
    list.push_back(number(value));
  return list;
}

/// An array a column, as a table of them is read.
Json history_of(const std::vector<SolverProgress>& history) {
  Json columns = {{"iteration", Json::array()},
                  {"converged", Json::array()},
                  {"residual", Json::array()},
                  {"seconds", Json::array()}};
  for (const SolverProgress& each : history) {
    columns["iteration"].push_back(each.iteration);
    columns["converged"].push_back(each.converged);
    columns["residual"].push_back(number(each.residual));
    columns["seconds"].push_back(number(each.seconds));
  }
  return columns;
}

std::string seconds_text(double seconds) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g s", seconds);
  return text;
}

bool is_single(DType dtype) {
  return dtype == DType::f32 || dtype == DType::c64;
}

std::string cell(const SolverColumn& column, std::size_t at, DType dtype) {
  char text[48];
  const double value = column.numbers[at];
  if (!std::isfinite(value)) {
    std::snprintf(text, sizeof text, "%s", "-");
  } else if (column.is_result) {
    std::snprintf(text, sizeof text, "%.*g", is_single(dtype) ? 8 : 16, value);
  } else {
    std::snprintf(text, sizeof text, "%.2e", value);
  }
  return text;
}

/// Why a solver ended that did not reach what was wanted.
std::string reason(const SolverOutcome& outcome) {
  switch (outcome.status) {
    case SolverStatus::iterations_exhausted:
      return "it ended after " + std::to_string(outcome.iterations) +
             " iterations; --max-iterations allows more";
    case SolverStatus::stagnated:
      return "residuals no longer decrease, as rounding allows no less";
    case SolverStatus::stopped:
      return "a signal ended it";
    case SolverStatus::converged:
      break;
  }
  return "";
}

}  // namespace

SolverReport::SolverReport(const SolverOptions& options, std::string kind, Device device)
    : options_(options), kind_(std::move(kind)), device_(device) {
  const std::string absence = gpu_absence(options.device);
  if (!absence.empty())
    std::fprintf(stderr, "lanky: warning: no GPU is used: %s\n", absence.c_str());
  if (options.json.empty()) return;
  records_ = std::make_unique<bench::Journal>(options.json);
  bench::Session session(device, bench::MeasureOptions::quick());
  bench::Environment environment = bench::describe_environment(session, options.argv, false);
  environment.gpu_absence = absence;
  environment.seed = options.seed;
  records_->write(bench::to_json(environment));
}

void SolverReport::print(const std::string& line) const {
  std::FILE* const table = options_.writes_to_stdout() ? stderr : stdout;
  std::fprintf(table, "%s\n", line.c_str());
  std::fflush(table);
}

void SolverReport::begin(const SolverSubject& subject) {
  print(subject.source->shown() + ": " + std::to_string(subject.rows) + " rows, " +
        std::to_string(subject.cols) + " columns, " + std::to_string(subject.nnz) + " nonzeros; " +
        subject.values);
  print("in " + std::string(to_string(subject.dtype)) + " on " + device_.name());
}

void SolverReport::print_columns(const SolverSubject& subject, const SolverOutcome& outcome) const {
  std::size_t rows = 0;
  for (const SolverColumn& column : outcome.columns)
    rows = std::max(rows, column.numbers.size());
  if (rows == 0) return;
  constexpr std::size_t kWidth = 26;
  constexpr std::size_t kNarrow = 11;
  const auto padded = [](const std::string& text, std::size_t width) {
    return std::string(width - std::min(width, text.size()), ' ') + text;
  };
  const auto width = [&](const SolverColumn& column) {
    return column.is_result ? kWidth : std::max(kNarrow, column.heading.size() + 2);
  };
  std::string heading = padded("#", 5);
  for (const SolverColumn& column : outcome.columns)
    heading += padded(column.heading, width(column));
  print("");
  print(heading);
  for (std::size_t i = 0; i < rows; ++i) {
    std::string line = padded(std::to_string(i + 1), 5);
    for (const SolverColumn& column : outcome.columns)
      line += padded(cell(column, i, subject.dtype), width(column));
    print(line);
  }
  print("");
}

Json SolverReport::record(const SolverSubject& subject, const SolverOutcome& outcome) const {
  Json line = {{"kind", kind_}, {"matrix", subject.source->name}};
  line.update(bench::to_json(bench::Origin{.source = subject.source->place,
                                           .content = content_of(*subject.source),
                                           .collection = subject.source->collection}));
  line.update({{"rows", subject.rows},
               {"cols", subject.cols},
               {"nnz", subject.nnz},
               {"dtype", to_string(subject.dtype)},
               {"device", device_.name()},
               {"laplacian", options_.laplacian},
               {"shift", options_.shift},
               {"k", outcome.wanted},
               {"method", outcome.method},
               {"preconditioner", options_.preconditioner},
               {"seed", options_.seed},
               {"tolerance", outcome.tolerance > 0 ? Json(outcome.tolerance) : Json(nullptr)},
               {"status", to_string(outcome.status)},
               {"converged", outcome.converged},
               {"iterations", outcome.iterations},
               {"seconds", outcome.seconds},
               {"setup_seconds", outcome.setup_seconds},
               {"read_seconds", outcome.read_seconds},
               {"product_seconds",
                outcome.product_seconds ? Json(*outcome.product_seconds) : Json(nullptr)}});
  line.update(outcome.more);
  for (const SolverColumn& column : outcome.columns)
    line[column.field] = numbers(column.numbers);
  line["history"] = history_of(outcome.history);
  return line;
}

void SolverReport::draw(const SolverSubject& subject, const SolverOutcome& outcome) const {
  if (options_.plot.empty()) return;
  if (outcome.history.empty()) {
    std::fprintf(stderr,
                 "lanky: the drawing has no curve: the matrix was solved without iterations\n");
  }
  report::write_whole(
      options_.plot,
      convergence_plot(kind_ + " of " + subject.source->shown() + ", " + outcome.method,
                       outcome.residual_axis, outcome.history, outcome.tolerance));
}

int SolverReport::end(const SolverSubject& subject, const SolverOutcome& outcome) {
  print_columns(subject, outcome);
  std::string summary = std::to_string(outcome.wanted) + " " + outcome.what;
  if (outcome.tolerance > 0)
    summary = std::to_string(outcome.converged) + " of " + summary + " converged";
  summary += outcome.iterations == 0
                 ? " without iterations"
                 : " after " + std::to_string(outcome.iterations) +
                       (outcome.iterations == 1 ? " iteration of " : " iterations of ") +
                       outcome.method;
  summary += " in " + seconds_text(outcome.seconds);
  if (outcome.product_seconds && outcome.seconds > 0) {
    char share[64];
    std::snprintf(share, sizeof share, ", %.0f %% of it products with A",
                  100 * *outcome.product_seconds / outcome.seconds);
    summary += share;
  }
  print(summary);
  print("read in " + seconds_text(outcome.read_seconds) + ", set up in " +
        seconds_text(outcome.setup_seconds));
  if (records_) records_->write(record(subject, outcome));
  draw(subject, outcome);
  const bool is_stopped = outcome.status == SolverStatus::stopped;
  if (outcome.status == SolverStatus::converged || (outcome.tolerance == 0 && !is_stopped))
    return kOk;
  const std::string left = std::to_string(outcome.wanted - outcome.converged) + " of " +
                           std::to_string(outcome.wanted) + " " + outcome.what;
  const std::string goal =
      outcome.tolerance > 0 ? " to " + report::shortest(outcome.tolerance) : "";
  std::fprintf(stderr, "lanky: %s have not converged%s: %s\n", left.c_str(), goal.c_str(),
               reason(outcome).c_str());
  return is_stopped ? kSignalled + stop_signal() : kFailed;
}

}  // namespace lanky::cli
