// What came of one case, as records and people get it; it travels from a worker to its supervisor.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "bench/cases/case.hpp"
#include "bench/records/record.hpp"

namespace lanky::cli {

struct CaseResult {
  std::vector<nlohmann::ordered_json> lines;  // records, lanky's last
  std::string name;
  std::string dtype;
  std::string table;        // its line for people; "" where it never came to contestants
  std::string explanation;  // what plans say of themselves, where asked for
  std::vector<std::string> warnings{};      // what contestants failed of
  bench::Status lanky = bench::Status::ok;  // the first status of lanky's that is another
  std::string reason{};                     // why
  bool right = true;                        // all contestants are ok, or fail as expected
  std::optional<double> speedup{};          // the best rival's time over lanky's
};

CaseResult result_of(const bench::CaseReport& report, bool explain);
CaseResult result_of(const bench::FailedCase& failed);

nlohmann::ordered_json to_json(const CaseResult& result);
CaseResult case_result(const nlohmann::ordered_json& json);

}  // namespace lanky::cli
