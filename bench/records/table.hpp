// What a person reads: one aligned line per case, at most 120 columns wide.
#pragma once

#include <string>
#include <string_view>

#include "bench/cases/case.hpp"
#include "bench/records/record.hpp"

namespace lanky::bench {

/// The heading above lines of results, and what its columns mean below them.
std::string table_heading();
std::string table_legend(bool cuda);

/// The case as one line: lanky's time beside the best of the others. SpMV on a GPU is compared by
/// replayed graphs, all else by batches; the share of the floor is formed likewise.
std::string table_line(const CaseReport& report);

/// A line for what never came to be measured; of a whole matrix the type is "".
std::string failure_line(const FailedCase& failed);
std::string failure_line(const std::string& name, const std::string& type, std::string_view status,
                         const std::string& message);

}  // namespace lanky::bench
