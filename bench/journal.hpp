// The file of results: JSON lines that are only ever appended, so that a run can be killed at any
// moment and taken up again.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>

#include "bench/case.hpp"
#include "bench/content_hash.hpp"

namespace lanky::bench {

/// What a file holds of earlier runs in the same configuration.
struct EarlierRuns {
  std::set<std::string> cases;        // done_key() of what was brought to its end
  std::set<std::string> failed;       // of these, what ended with another status than ok
  std::optional<std::uint64_t> seed;  // that the last of them drew a sample with
  /// Files by their path: what they held when they had this stamp. Of all configurations.
  std::map<std::string, std::pair<FileStamp, std::string>> contents;
};

/// Lines of other configurations, as `config` of their env line tells, do not count. Nothing where
/// there is no file.
EarlierRuns earlier_runs(const std::filesystem::path& path, const std::string& config);

/// A dense product with all that tells it from others.
std::string done_key(const GemmCase& gemm);
/// A sparse product, by MatrixRecord::content.
std::string done_key(const std::string& content, DType dtype);

/// Appends lines to a file. Whatever happens to the program, no line but the last is torn.
class Journal {
 public:
  /// "-" is standard output. A torn line at the end, which a killed program left, is cut off.
  /// Error(io) where the file cannot be written, or does not hold JSON lines.
  explicit Journal(const std::filesystem::path& path);
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;
  ~Journal();

  void write(const nlohmann::ordered_json& line);
  /// All of them with one call of the system.
  void write_all(std::span<const nlohmann::ordered_json> lines);

 private:
  void append(const std::string& text);

  std::filesystem::path path_;
  int descriptor_ = -1;
};

}  // namespace lanky::bench
