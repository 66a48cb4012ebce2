// Where results go: a line of the table for people, JSON lines for programs.
#pragma once

#include <cstdio>
#include <memory>
#include <string>

#include "bench/record.hpp"

namespace lanky::cli {

class Reporter {
 public:
  /// `json`: a file, "-" for standard output (the table then goes to standard error), or "".
  explicit Reporter(const std::string& json);

  void start(const bench::Environment& environment);
  void add(const bench::CaseReport& report, bool explain);
  /// A case that never came to be measured.
  void add(const bench::FailedCase& failed);
  void finish();

  /// Cases with a wrong result, or that could not be read or measured.
  int failures() const { return failures_; }
  /// Cases that lanky does not support yet, such as complex matrices.
  int unsupported() const { return unsupported_; }

 private:
  void print(const std::string& line) const;

  std::FILE* table_;
  std::unique_ptr<bench::RecordFile> records_;
  int cases_ = 0;
  int failures_ = 0;
  int unsupported_ = 0;
  bool cuda_ = false;
};

}  // namespace lanky::cli
