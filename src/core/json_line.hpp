// Lines of JSON that anybody may have written, by whichever of nlohmann's types the caller has.
#pragma once

#include <algorithm>
#include <string_view>

namespace lanky {

/// A record nests three deep. Copying and printing a value recurse, so that a text of 100,000
/// brackets would overflow the stack.
inline constexpr int kDeepestJson = 64;

/// How many brackets of a JSON text are open at once, at most. Those in strings do not count.
constexpr int json_depth(std::string_view text) noexcept {
  int depth = 0;
  int most = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"') in_string = !in_string;
    if (in_string) {
      if (c == '\\') ++i;
    } else if (c == '[' || c == '{') {
      most = std::max(most, ++depth);
    } else if (c == ']' || c == '}') {
      --depth;
    }
  }
  return most;
}

/// The value of a line; discarded where it is no JSON, or nests deeper than kDeepestJson.
template <class Json>
Json parse_json_line(std::string_view text) {
  if (json_depth(text) > kDeepestJson) return Json(Json::value_t::discarded);
  return Json::parse(text, nullptr, false);
}

}  // namespace lanky
