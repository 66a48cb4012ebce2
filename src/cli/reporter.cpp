#include "cli/reporter.hpp"

#include <lanky/device.hpp>
#include <nlohmann/json.hpp>

#include "bench/table.hpp"

namespace lanky::cli {

namespace {

void warn(const std::string& line) {
  std::fprintf(stderr, "lanky: %s\n", line.c_str());
}

std::string cases(int count) {
  return std::to_string(count) + (count == 1 ? " case" : " cases");
}

std::string terabytes(double tbs) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g TB/s", tbs);
  return text;
}

}  // namespace

Reporter::Reporter(const std::string& json, bool single)
    : table_(json == "-" ? stderr : stdout), single_(single) {
  if (!json.empty()) records_ = std::make_unique<bench::RecordFile>(json);
}

void Reporter::start(const bench::Environment& environment) {
  cuda_ = !environment.gpu.empty();
  if (records_) records_->write(bench::to_json(environment));
  print("device " + environment.device + ": " + (cuda_ ? environment.gpu : environment.cpu) +
        ", reads at " + terabytes(environment.read_floor_tbs));
  if (Device::cuda_count() == 0) print("no GPU is used: " + Device::cuda_absence());
  if (environment.is_void) {
    warn("THIS RUN IS VOID: an H200 that reads at " + terabytes(environment.read_floor_tbs) +
         ", less than 4.4 TB/s, is shared or ill; no time below counts");
  }
  print("");
  print(bench::table_heading());
}

void Reporter::add(const bench::CaseReport& report, bool explain) {
  ++cases_;
  if (!report.all_ok()) ++failures_;
  if (records_) {
    for (const auto& line : bench::to_json(report))
      records_->write(line);
  }
  print(bench::table_line(report));
  for (const bench::Outcome& outcome : report.outcomes) {
    const std::string who = outcome.contestant + " " + outcome.variant;
    if (explain && !outcome.explanation.empty()) print(who + ":\n" + outcome.explanation);
    if (outcome.status == bench::Status::ok || outcome.message.empty()) continue;
    if (!outcome.expected() || explain) warn(who + ": " + outcome.message);
  }
}

void Reporter::add(const bench::FailedCase& failed) {
  ++cases_;
  ++(failed.status == bench::Status::unsupported ? unsupported_ : failures_);
  if (records_) records_->write(bench::to_json(failed));
  if (single_) {
    warn(failed.dtype.empty() ? failed.message
                              : failed.name + " " + failed.dtype + ": " + failed.message);
  } else {
    print(bench::failure_line(failed));
  }
}

void Reporter::stop_early(std::size_t left) {
  print("");
  print("time is up: " + cases(static_cast<int>(left)) + " left, for --resume");
}

void Reporter::finish() {
  const int right = cases_ - failures_ - unsupported_;
  if (right > 0) {
    print("");
    print(bench::table_legend(cuda_));
    print(cases(right) + " measured, every result right");
  }
  if (single_ && cases_ == 1) return;  // what is wrong with it has been said
  if (unsupported_ > 0) warn(cases(unsupported_) + " not supported yet");
  if (failures_ > 0) warn(cases(failures_) + " failed");
}

void Reporter::print(const std::string& line) const {
  std::fprintf(table_, "%s\n", line.c_str());
  std::fflush(table_);
}

}  // namespace lanky::cli
