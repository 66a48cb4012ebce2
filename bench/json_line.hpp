// A line of results as a value.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "core/json_line.hpp"

namespace lanky::bench {

/// Discarded where the text is no JSON, or nests deeper than any record does.
inline nlohmann::ordered_json parse_line(std::string_view text) {
  return parse_json_line<nlohmann::ordered_json>(text);
}

/// A field of a record that is text; "" where there is none.
inline std::string text_of(const nlohmann::ordered_json& line, const char* field) {
  const auto found = line.find(field);
  return found != line.end() && found->is_string() ? found->get<std::string>() : "";
}

}  // namespace lanky::bench
