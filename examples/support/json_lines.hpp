// Results of an example as JSON lines (docs/applications.md names their fields).
#pragma once

#include <fstream>
#include <lanky/error.hpp>
#include <nlohmann/json.hpp>
#include <string>

namespace lanky::examples {

/// Appends `line` to the file; nothing where `path` is "". Throws Error(io).
inline void append_line(const std::string& path, const nlohmann::ordered_json& line) {
  if (path.empty()) return;
  std::ofstream file(path, std::ios::app);
  file << line.dump() << '\n';
  if (!file.flush()) throw Error(ErrorCode::io, path + " cannot be written");
}

}  // namespace lanky::examples
