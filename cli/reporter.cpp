#include "cli/reporter.hpp"

#include <cmath>
#include <lanky/device.hpp>
#include <nlohmann/json.hpp>
#include <utility>

#include "bench/harness/statistics.hpp"
#include "bench/records/table.hpp"

namespace lanky::cli {

namespace {

std::string cases(int count) {
  return std::to_string(count) + (count == 1 ? " case" : " cases");
}

/// What the means are of: "f64", of sparse products of several vectors "f64 row".
std::string group_of(const CaseResult& result) {
  if (result.lines.empty() || !result.lines.front().contains("columns")) return result.dtype;
  return result.dtype + " " + result.lines.front().at("layout").get<std::string>();
}

std::string digits(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g", value);
  return text;
}

}  // namespace

Reporter::Reporter(const std::string& json, bool single)
    : table_(json == "-" ? stderr : stdout), single_(single) {
  if (!json.empty()) records_ = std::make_unique<bench::Journal>(json);
}

void Reporter::start(const nlohmann::ordered_json& environment) {
  cuda_ = environment.at("gpu") != "";
  if (records_) records_->write(environment);
  const auto text = [&](const char* key) { return environment.at(key).get<std::string>(); };
  const auto& floor = environment.at("read_floor_tbs");
  const std::string rate = floor.is_number() ? digits(floor.get<double>()) + " TB/s" : "any speed";
  print("device " + text("device") + ": " + text(cuda_ ? "gpu" : "cpu") + ", reads at " + rate);
  if (!cuda_ && Device::cuda_count() == 0) print("no GPU is used: " + Device::cuda_absence());
  if (environment.contains("gpu_absence")) warn("warning: no GPU is used: " + text("gpu_absence"));
  if (environment.at("void").get<bool>())
    warn("THIS RUN IS VOID: an H200 that reads at " + rate +
         ", less than 4.4 TB/s, is shared or ill; no time below counts");
  print("operands: random numbers; a matrix file gives its pattern alone, not its values");
  print("");
  print(bench::table_heading());
}

void Reporter::count_failure(bench::Status status) {
  ++(status == bench::Status::unsupported ? unsupported_ : failures_);
  if (status != bench::Status::ok) last_failure_ = status;
}

void Reporter::add(const CaseResult& result) {
  ++cases_;
  if (records_) records_->write_all(result.lines);
  if (!result.table.empty()) {
    if (!result.right) ++failures_;
    if (result.lanky != bench::Status::ok) last_failure_ = result.lanky;
    print(result.table);
    if (!result.explanation.empty()) print(result.explanation);
  } else {
    count_failure(result.lanky);
    if (single_) {
      warn(result.name + " " + result.dtype + ": " + result.reason);
    } else {
      print(bench::failure_line(result.name, result.dtype, bench::to_string(result.lanky),
                                result.reason));
    }
  }
  for (const std::string& warning : result.warnings)
    warn(warning);
  case_failed_ = case_failed_ || result.lanky != bench::Status::ok;
  if (!result.speedup) return;
  speedups_[group_of(result)].push_back(*result.speedup);
  progress_.add_speedup(*result.speedup);
}

void Reporter::add(const bench::MatrixRecord& record) {
  if (records_) records_->write(to_json(record));
  for (const std::string& warning : record.warnings)
    warn("warning: " + warning);
  const bool told = std::exchange(case_failed_, false);
  if (record.status == bench::Status::ok || told) return;
  ++cases_;
  count_failure(record.status);
  if (single_) {
    warn(record.reason);
  } else {
    const std::string& name = record.label.empty() ? record.name : record.label;
    print(bench::failure_line(name, "", bench::matrix_status_name(record.status), record.reason));
  }
}

void Reporter::stop_early(const std::string& why, std::size_t left) {
  print("");
  print(why + ": " + cases(static_cast<int>(left)) + " left, for --resume");
}

void Reporter::print_means() {
  std::string text;
  for (const auto& [dtype, values] : speedups_) {
    double logarithms = 0;
    for (const double value : values)
      logarithms += std::log(value);
    text += (text.empty() ? "" : ", ") + dtype + " " +
            digits(std::exp(logarithms / static_cast<double>(values.size())));
  }
  if (!text.empty() && !single_) print("ratio, geometric mean: " + text);
}

void Reporter::finish() {
  progress_.end();
  const int right = cases_ - failures_ - unsupported_;
  if (right > 0) {
    print("");
    print(bench::table_legend(cuda_));
    print_means();
    print(cases(right) + " measured, every result right");
  }
  if (single_ && cases_ == 1) return;  // what is wrong with it has been said
  if (unsupported_ > 0) warn(cases(unsupported_) + " skipped");
  if (failures_ > 0) warn(cases(failures_) + " failed");
}

void Reporter::print(const std::string& line) {
  progress_.hide();
  std::fprintf(table_, "%s\n", line.c_str());
  std::fflush(table_);
  progress_.show();
}

void Reporter::warn(const std::string& line) {
  progress_.hide();
  std::fprintf(stderr, "lanky: %s\n", line.c_str());
  progress_.show();
}

}  // namespace lanky::cli
