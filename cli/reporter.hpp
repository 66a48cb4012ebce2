// Where results go: a line of the table for people, JSON lines for programs.
#pragma once

#include <cstddef>
#include <cstdio>
#include <map>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "bench/records/journal.hpp"
#include "bench/records/matrix_record.hpp"
#include "cli/case_result.hpp"
#include "cli/progress.hpp"

namespace lanky::cli {

class Reporter {
 public:
  /// `json`: a file, "-" for standard output (the table then goes to standard error), or "".
  /// `single`: one thing was asked for, and what is wrong with it goes to standard error.
  Reporter(const std::string& json, bool single);

  /// The first line of records, of bench::Environment.
  void start(const nlohmann::ordered_json& environment);
  void add(const CaseResult& result);
  /// A matrix is done, its cases added.
  void add(const bench::MatrixRecord& record);
  /// Ended with `left` cases or matrices still to do: "time is up", "interrupted".
  void stop_early(const std::string& why, std::size_t left);
  void finish();
  /// On standard error.
  void warn(const std::string& line);

  Progress& progress() { return progress_; }
  /// Cases with a wrong result, or that could not be read or measured.
  int failures() const { return failures_; }
  /// The status of the last case that lanky could not do.
  bench::Status last_failure() const { return last_failure_; }

 private:
  void print(const std::string& line);
  void count_failure(bench::Status status);
  void print_means();

  std::FILE* table_;
  bool single_;
  std::unique_ptr<bench::Journal> records_;
  Progress progress_;
  std::map<std::string, std::vector<double>> speedups_;  // by type, of several vectors and layout
  bench::Status last_failure_ = bench::Status::ok;
  bool case_failed_ = false;  // of the matrix whose cases are being added
  int cases_ = 0;
  int failures_ = 0;
  int unsupported_ = 0;  // such as complex matrices
  bool cuda_ = false;
};

}  // namespace lanky::cli
