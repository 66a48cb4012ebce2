#include "bench/records/matrix_record.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "bench/records/record.hpp"

namespace lanky::bench {

MatrixFacts facts_of(const CsrMatrix<double>& matrix) {
  constexpr std::int64_t kShortest = 1;
  constexpr std::int64_t kMedium = 5;
  constexpr std::int64_t kLong = 256;
  MatrixFacts facts{.rows = matrix.rows, .cols = matrix.cols, .nnz = matrix.nnz()};
  for (std::size_t i = 1; i < matrix.row_offsets.size(); ++i) {
    const std::int64_t length = matrix.row_offsets[i] - matrix.row_offsets[i - 1];
    facts.longest_row = std::max(facts.longest_row, length);
    ++(length < kShortest ? facts.empty_rows
       : length < kMedium ? facts.short_rows
       : length < kLong   ? facts.medium_rows
                          : facts.long_rows);
  }
  return facts;
}

std::string_view matrix_status_name(Status status) noexcept {
  switch (status) {
    case Status::invalid:
      return "unreadable";
    case Status::unsupported:
      return "skipped";
    default:
      return to_string(status);
  }
}

nlohmann::ordered_json to_json(const MatrixFacts& facts) {
  return {{"m", facts.rows},
          {"n", facts.cols},
          {"nnz", facts.nnz},
          {"rows",
           {{"empty", facts.empty_rows},
            {"short", facts.short_rows},
            {"medium", facts.medium_rows},
            {"long", facts.long_rows}}},
          {"max_row", facts.longest_row}};
}

MatrixFacts matrix_facts(const nlohmann::ordered_json& json) {
  const auto& rows = json.at("rows");
  return {.rows = json.at("m"),
          .cols = json.at("n"),
          .nnz = json.at("nnz"),
          .empty_rows = rows.at("empty"),
          .short_rows = rows.at("short"),
          .medium_rows = rows.at("medium"),
          .long_rows = rows.at("long"),
          .longest_row = json.at("max_row")};
}

nlohmann::ordered_json to_json(const FileStamp& stamp) {
  return {{"bytes", stamp.bytes}, {"modified_ns", stamp.modified_ns}};
}

FileStamp stamp_of(const nlohmann::ordered_json& json) {
  return {json.at("bytes"), json.at("modified_ns")};
}

nlohmann::ordered_json to_json(const MatrixRecord& record) {
  nlohmann::ordered_json line = {
      {"kind", "matrix"}, {"case", record.name}, {"class", record.matrix_class}};
  line.update(to_json(record.origin));
  if (record.stamp) line["stamp"] = to_json(*record.stamp);
  if (record.facts) line.update(to_json(*record.facts));
  line["dtypes"] = nlohmann::ordered_json::array();
  for (const DType dtype : record.dtypes)
    line["dtypes"].push_back(to_string(dtype));
  line["status"] = matrix_status_name(record.status);
  if (!record.reason.empty()) line["reason"] = record.reason;
  if (!record.warnings.empty()) line["warnings"] = record.warnings;
  if (record.signal != 0) line["signal"] = record.signal;
  line["seconds"] = record.seconds;
  line["read_seconds"] = record.read_seconds;
  line["memory_bytes"] = record.memory_bytes;
  return line;
}

}  // namespace lanky::bench
