// Files of JSON lines that anybody may have written, by whichever of nlohmann's types the caller
// has.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
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

/// A field of a record that is text; "" where there is none.
template <class Json>
std::string text_of(const Json& line, const char* field) {
  const auto found = line.find(field);
  return found != line.end() && found->is_string() ? found->template get<std::string>() : "";
}

/// No line of lanky's is nearly as long, so a longer one is somebody else's.
inline constexpr std::size_t kLongestLine = std::size_t{1} << 26;

/// The lines of a file in turn, without blank ones, a byte order mark and carriage returns.
class LineReader {
 public:
  /// Error(io) where the file cannot be opened.
  explicit LineReader(const std::filesystem::path& path);

  /// False after the last line. Error(io) where reading fails, Error(parse) where a line is longer
  /// than kLongestLine.
  bool next();

  const std::string& text() const noexcept { return text_; }
  /// Whether a newline ends the line. Where none does, what wrote it may have been ended.
  bool is_whole() const noexcept { return is_whole_; }
  /// "FILE:LINE".
  std::string place() const;

 private:
  bool read_line();

  std::filesystem::path path_;
  std::ifstream file_;
  std::string text_;
  std::int64_t number_ = 0;
  bool is_whole_ = false;
};

}  // namespace lanky
