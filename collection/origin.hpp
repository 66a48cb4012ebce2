// Where a file came from and how it was checked, kept beside it as FILE.origin: lines of a key, a
// blank and a value.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace lanky::collection {

struct Origin {
  std::string url;
  std::string etag;           // as the server sent it; "" where it sent none
  std::string last_modified;  // likewise
  std::string md5;            // in hexadecimal; "" while the file is not whole
  std::string checked;        // what the file was held against: "md5" of the server, or "gzip"
  std::int64_t bytes = -1;    // of the whole file; -1 where the server did not tell

  /// For If-Range: the ETag if it is a strong one, else Last-Modified, else "".
  std::string validator() const;
};

std::filesystem::path origin_path(const std::filesystem::path& file);
/// Nothing where none is kept, or it cannot be understood.
std::optional<Origin> read_origin(const std::filesystem::path& file);
/// Error(io) where it cannot be written.
void write_origin(const std::filesystem::path& file, const Origin& origin);

}  // namespace lanky::collection
