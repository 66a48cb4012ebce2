// Results as JSON lines: the names and units of docs/measuring.md.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "bench/case.hpp"
#include "bench/environment.hpp"

namespace lanky::bench {

nlohmann::ordered_json to_json(const Environment& environment);
/// One object per contestant.
std::vector<nlohmann::ordered_json> to_json(const CaseReport& report);
/// A case that never came to contestants: a file that could not be read, a size that did not fit.
struct FailedCase {
  std::string kind;  // "spmv", "gemm"
  std::string name;
  std::string dtype;  // "" where it failed in all
  Status status = Status::invalid;
  std::string message;
};
nlohmann::ordered_json to_json(const FailedCase& failed);

/// Appends lines to a file; a line is there whole or not at all, whatever happens to the program.
class RecordFile {
 public:
  /// "-" is standard output. Error(io) where the file cannot be written, or ends in half a line.
  explicit RecordFile(const std::filesystem::path& path);
  RecordFile(const RecordFile&) = delete;
  RecordFile& operator=(const RecordFile&) = delete;
  ~RecordFile();

  void write(const nlohmann::ordered_json& line);

 private:
  std::filesystem::path path_;
  int descriptor_ = -1;
};

}  // namespace lanky::bench
