#include "collection/cache.hpp"

#include <cstdint>
#include <cstdlib>
#include <lanky/error.hpp>

#include "collection/origin.hpp"

namespace lanky::collection {

namespace {

namespace fs = std::filesystem;

/// "" where it is not set, or empty.
fs::path folder_of_variable(const char* variable) {
  const char* value = std::getenv(variable);
  return value == nullptr ? "" : value;
}

}  // namespace

fs::path cache_folder() {
  if (fs::path own = folder_of_variable("LANKY_CACHE"); !own.empty()) return own;
  // The XDG base directory specification: a relative path is to be ignored.
  if (const fs::path xdg = folder_of_variable("XDG_CACHE_HOME"); xdg.is_absolute())
    return xdg / "lanky";
  if (const fs::path home = folder_of_variable("HOME"); !home.empty())
    return home / ".cache" / "lanky";
  throw Error(ErrorCode::io,
              "no folder for the cache: LANKY_CACHE, XDG_CACHE_HOME and HOME are not set");
}

fs::path index_path(const fs::path& folder) {
  return folder / "suitesparse" / "ssstats.csv";
}

fs::path cache_path(const Entry& entry, const fs::path& folder) {
  return folder / "suitesparse" / entry.group / (entry.name + ".tar.gz");
}

bool is_cached(const Entry& entry, const fs::path& folder) {
  const fs::path path = cache_path(entry, folder);
  std::error_code error;
  const std::uintmax_t bytes = fs::file_size(path, error);
  if (error) return false;
  const std::optional<Origin> origin = read_origin(path);
  return !origin || origin->bytes == static_cast<std::int64_t>(bytes);
}

}  // namespace lanky::collection
