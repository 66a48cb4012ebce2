// Where results go: a line of the table for people, JSON lines for programs.
#pragma once

#include <cstddef>
#include <cstdio>
#include <memory>
#include <string>

#include "bench/record.hpp"

namespace lanky::cli {

class Reporter {
 public:
  /// `json`: a file, "-" for standard output (the table then goes to standard error), or "".
  /// `single`: one thing was asked for, and what is wrong with it goes to standard error.
  Reporter(const std::string& json, bool single);

  void start(const bench::Environment& environment);
  void add(const bench::CaseReport& report, bool explain);
  /// A case that never came to be measured.
  void add(const bench::FailedCase& failed);
  /// The time was up before `left` cases.
  void stop_early(std::size_t left);
  void finish();

  /// Cases with a wrong result, or that could not be read or measured.
  int failures() const { return failures_; }

 private:
  void print(const std::string& line) const;

  std::FILE* table_;
  bool single_;
  std::unique_ptr<bench::RecordFile> records_;
  int cases_ = 0;
  int failures_ = 0;
  int unsupported_ = 0;  // such as complex matrices
  bool cuda_ = false;
};

}  // namespace lanky::cli
