// Results as JSON lines: the names and units of docs/measuring.md.
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <set>
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

/// What a file holds of this program's earlier runs, so that a run can be taken up again.
struct EarlierRuns {
  std::set<std::string> cases;        // record_key() of what did not crash
  std::optional<std::uint64_t> seed;  // that the last of them drew a sample with
};
/// Lines of other programs, by their binary hash, do not count; nothing where there is no file.
EarlierRuns earlier_runs(const std::filesystem::path& path, const std::string& binary_hash);
/// A dense product with all that tells it from others.
std::string record_key(const GemmCase& gemm);
/// A product with a sparse matrix, by the name of its case.
std::string record_key(const std::string& matrix, DType dtype);

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
