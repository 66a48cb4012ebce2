#include "cli/case_result.hpp"

#include <utility>

#include "bench/records/table.hpp"

namespace lanky::cli {

namespace {

using Json = nlohmann::ordered_json;

/// The type as records spell it, and the name as people see it.
CaseResult named(std::vector<Json> lines,
                 const std::variant<bench::SpmvCase, bench::GemmCase>& subject) {
  CaseResult result;
  if (!lines.empty()) {
    result.name = lines.front().at("case");
    result.dtype = lines.front().at("dtype");
  }
  const auto* const spmv = std::get_if<bench::SpmvCase>(&subject);
  if (spmv != nullptr && !spmv->label.empty()) result.name = spmv->label;
  result.lines = std::move(lines);
  return result;
}

}  // namespace

CaseResult result_of(const bench::CaseReport& report, bool explain) {
  CaseResult result = named(bench::to_json(report), report.subject);
  result.table = bench::table_line(report);
  result.right = report.all_ok();
  result.speedup = report.speedup();
  for (const bench::Outcome& outcome : report.outcomes) {
    const std::string who = outcome.contestant + " " + outcome.variant;
    if (explain && !outcome.explanation.empty())
      result.explanation += who + ":\n" + outcome.explanation;
    if (outcome.status == bench::Status::ok) continue;
    if (outcome.contestant == "lanky" && result.lanky == bench::Status::ok) {
      result.lanky = outcome.status;
      result.reason = outcome.message;
    }
    if (!outcome.message.empty() && (!outcome.expected() || explain))
      result.warnings.push_back(who + ": " + outcome.message);
  }
  return result;
}

CaseResult result_of(const bench::FailedCase& failed) {
  CaseResult result = named({bench::to_json(failed)}, failed.subject);
  result.lanky = failed.status;
  result.reason = failed.message;
  result.right = false;
  return result;
}

Json to_json(const CaseResult& result) {
  Json json = {{"lines", result.lines},
               {"name", result.name},
               {"dtype", result.dtype},
               {"table", result.table},
               {"explanation", result.explanation},
               {"warnings", result.warnings},
               {"lanky", static_cast<int>(result.lanky)},
               {"reason", result.reason},
               {"right", result.right}};
  if (result.speedup) json["speedup"] = *result.speedup;
  return json;
}

CaseResult case_result(const Json& json) {
  CaseResult result;
  result.lines = json.at("lines").get<std::vector<Json>>();
  result.name = json.at("name");
  result.dtype = json.at("dtype");
  result.table = json.at("table");
  result.explanation = json.at("explanation");
  result.warnings = json.at("warnings").get<std::vector<std::string>>();
  result.lanky = static_cast<bench::Status>(json.at("lanky").get<int>());
  result.reason = json.at("reason");
  result.right = json.at("right");
  if (json.contains("speedup")) result.speedup = json["speedup"].get<double>();
  return result;
}

}  // namespace lanky::cli
