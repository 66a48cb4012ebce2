// A line of results as a value.
#pragma once

#include <nlohmann/json.hpp>
#include <string_view>

#include "core/json_line.hpp"

namespace lanky::bench {

/// Discarded where the text is no JSON, or nests deeper than any record does.
inline nlohmann::ordered_json parse_line(std::string_view text) {
  return parse_json_line<nlohmann::ordered_json>(text);
}

}  // namespace lanky::bench
