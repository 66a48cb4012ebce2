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
#include <vector>

#include "bench/cases/case.hpp"
#include "bench/records/content_hash.hpp"

namespace lanky::bench {

/// What a file holds of earlier runs in the same configuration.
struct EarlierRuns {
  std::set<std::string> cases;        // done_key() of what was brought to its end
  std::set<std::string> failed;       // of these, what ended with another status than ok
  std::optional<std::uint64_t> seed;  // that the last of them drew a sample with
  /// Files by their path: what they held when they had this stamp. Of all configurations.
  std::map<std::string, std::pair<FileStamp, std::string>> contents;
  std::vector<std::string> notes;  // "FILE:LINE: what is wrong" of each line that was passed over
};

/// Lines of other configurations, as `config` of their env line tells, do not count. Nothing where
/// there is no file. A line that cannot be used is passed over with a note, but for half a line at
/// the end, which a killed program left.
EarlierRuns earlier_runs(const std::filesystem::path& path, const std::string& config);

/// A dense product with all that tells it from others.
std::string done_key(const GemmCase& gemm);
/// A sparse product, by MatrixRecord::content.
std::string done_key(const std::string& content, DType dtype);

/// Appends lines to a file. Whatever happens to the program, no line but the last is torn.
class Journal {
 public:
  /// "-" is standard output. The file is locked, and stays as it is until the first line is
  /// written. Error(io) where it cannot be written, or its first line is no record of lanky's.
  explicit Journal(const std::filesystem::path& path);
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;
  ~Journal();

  /// The first call cuts off half a line that a killed program left at the end of the file; a
  /// complete one stays. Error(io) where nothing can be written; the file then holds whole lines.
  void write(const nlohmann::ordered_json& line);
  /// All of them with one call of the system.
  void write_all(std::span<const nlohmann::ordered_json> lines);

 private:
  void claim();
  void end_last_line();
  void append(const std::string& text);

  std::filesystem::path path_;
  int descriptor_ = -1;
  bool is_regular_ = false;
  bool ended_ = false;  // what stood in the file ends with a newline
};

}  // namespace lanky::bench
