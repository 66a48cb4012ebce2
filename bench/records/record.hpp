// Results as JSON lines: the names and units of docs/measuring.md.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <variant>
#include <vector>

#include "bench/cases/case.hpp"
#include "bench/records/environment.hpp"

namespace lanky::bench {

nlohmann::ordered_json to_json(const Environment& environment);

/// Those of source, content and collection that are known.
nlohmann::ordered_json to_json(const Origin& origin);

/// The fields that tell one case from others.
nlohmann::ordered_json head(const SpmvCase& spmv);
nlohmann::ordered_json head(const GemmCase& gemm);

/// One object per contestant, lanky's last: where a file has it, the case is whole.
std::vector<nlohmann::ordered_json> to_json(const CaseReport& report);

/// A case that never came to contestants: its operands did not fit, say.
struct FailedCase {
  std::variant<SpmvCase, GemmCase> subject;
  Status status = Status::crash;
  std::string message;
};
nlohmann::ordered_json to_json(const FailedCase& failed);

}  // namespace lanky::bench
