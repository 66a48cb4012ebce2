// What a batch says of a whole matrix, after the lines of its products: how it ended, and what kind
// of rows it has. This line is what tells that a matrix is done.
#pragma once

#include <cstdint>
#include <lanky/csr.hpp>
#include <lanky/dtype.hpp>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bench/harness/contestant.hpp"
#include "bench/records/content_hash.hpp"

namespace lanky::bench {

/// Rows by their length, in the classes of DASP (Lu and Liu, SC '23).
struct MatrixFacts {
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  std::int64_t nnz = 0;
  std::int64_t empty_rows = 0;
  std::int64_t short_rows = 0;   // 1 to 4 entries
  std::int64_t medium_rows = 0;  // 5 to 255
  std::int64_t long_rows = 0;    // 256 or more
  std::int64_t longest_row = 0;
};
MatrixFacts facts_of(const CsrMatrix<double>& matrix);

struct MatrixRecord {
  std::string name;
  std::string matrix_class;
  Origin origin{};
  std::optional<FileStamp> stamp{};  // of the file, when it was read
  std::vector<DType> dtypes{};
  Status status = Status::ok;           // the worst of lanky's products, or of the worker
  std::string reason{};                 // where it is not ok
  std::vector<std::string> warnings{};  // "FILE:LINE: ...", faults that the file may have
  int signal = 0;                       // that ended the worker
  double seconds = 0;                   // all of it, reading included
  double read_seconds = 0;
  std::int64_t memory_bytes = 0;  // of main memory, the worker's most
  std::optional<MatrixFacts> facts{};
  std::string label{};  // what people see it called, where that is not its name
};

/// As records of matrices spell it: "unreadable" and "skipped" for invalid and unsupported input.
std::string_view matrix_status_name(Status status) noexcept;

nlohmann::ordered_json to_json(const MatrixFacts& facts);
nlohmann::ordered_json to_json(const MatrixRecord& record);
nlohmann::ordered_json to_json(const FileStamp& stamp);
FileStamp stamp_of(const nlohmann::ordered_json& json);
/// The inverse of to_json(MatrixFacts).
MatrixFacts matrix_facts(const nlohmann::ordered_json& json);

}  // namespace lanky::bench
