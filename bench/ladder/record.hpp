// Lines of records from what a ladder's rungs took.
#pragma once

#include <algorithm>
#include <lanky/error.hpp>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bench/cases/case.hpp"
#include "bench/ladder/climb.hpp"
#include "bench/ladder/ladder.hpp"
#include "core/text.hpp"

namespace lanky::ladder {

/// What all lines of a case are formed with.
class Scene {
 public:
  /// `report` must outlive it.
  Scene(bench::Session& session, const bench::CaseReport& report, std::string_view ladder,
        const ClimbOptions& options);

  /// peak_flops: of the device in the rung's arithmetic, where that is what limits it.
  nlohmann::ordered_json line(const bench::Outcome& outcome, const Rung& rung,
                              std::optional<double> peak_flops) const;

 private:
  std::optional<double> time_of(const bench::Outcome& outcome) const;

  const bench::CaseReport& report_;
  std::string_view ladder_;
  std::optional<double> first_us_;     // of the first rung
  std::optional<double> vendor_us_{};  // of the best of the vendor's routines
  std::optional<double> transfer_us_{};
  bool checked_;
};

/// The rung that lanky or a vendor's routine stands for.
Rung rung_of(const bench::Outcome& outcome);

/// Leaves the rungs of these names, all where there are none. Error(invalid_argument) for a name
/// that no rung has.
template <class AnyRung>
void keep_asked(std::vector<AnyRung>& rungs, const std::vector<std::string>& names,
                std::string_view ladder) {
  if (names.empty()) return;
  const auto is_named = [](const std::string& name) {
    return [&name](const AnyRung& rung) { return rung.rung.name == name; };
  };
  for (const std::string& name : names) {
    if (std::any_of(rungs.begin(), rungs.end(), is_named(name))) continue;
    std::string known;
    for (const AnyRung& rung : rungs)
      known += (known.empty() ? "" : ", ") + rung.rung.name;
    throw Error(ErrorCode::invalid_argument,
                concat("ladder ", ladder, " has no rung \"", name, "\"; it has ", known));
  }
  std::erase_if(rungs, [&](const AnyRung& rung) {
    return std::find(names.begin(), names.end(), rung.rung.name) == names.end();
  });
}

}  // namespace lanky::ladder
