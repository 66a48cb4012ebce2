#include "collection/origin.hpp"

#include <charconv>
#include <fstream>

#include "collection/text_file.hpp"
#include "core/text.hpp"

namespace lanky::collection {

namespace {

void set(Origin& origin, const std::string& key, const std::string& value) {
  if (key == "url") origin.url = value;
  if (key == "etag") origin.etag = value;
  if (key == "last-modified") origin.last_modified = value;
  if (key == "md5") origin.md5 = value;
  if (key == "checked") origin.checked = value;
  if (key == "bytes") std::from_chars(value.data(), value.data() + value.size(), origin.bytes);
}

}  // namespace

std::string Origin::validator() const {
  return etag.empty() || etag.starts_with("W/") ? last_modified : etag;
}

std::filesystem::path origin_path(const std::filesystem::path& file) {
  return file.string() + ".origin";
}

std::optional<Origin> read_origin(const std::filesystem::path& file) {
  std::ifstream lines(origin_path(file));
  Origin origin;
  for (std::string line; std::getline(lines, line);) {
    const std::size_t blank = line.find(' ');
    if (blank != std::string::npos) set(origin, line.substr(0, blank), line.substr(blank + 1));
  }
  if (origin.url.empty()) return std::nullopt;
  return origin;
}

void write_origin(const std::filesystem::path& file, const Origin& origin) {
  std::string text = concat("url ", origin.url, "\n", "bytes ", origin.bytes, "\n");
  const auto add = [&](const char* key, const std::string& value) {
    if (!value.empty()) text += concat(key, " ", value, "\n");
  };
  add("etag", origin.etag);
  add("last-modified", origin.last_modified);
  add("md5", origin.md5);
  add("checked", origin.checked);
  write_text(origin_path(file), text);
}

}  // namespace lanky::collection
