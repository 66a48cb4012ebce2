// What tells a matrix from others, wherever it stands and whatever it is called.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace lanky::bench {

/// "xxh3:" and 32 hexadecimal digits of XXH3 (128 bits) over the bytes of the file; "" where it
/// cannot be read.
std::string content_hash(const std::filesystem::path& path);

/// What changes when a file does; cheaper than its hash.
struct FileStamp {
  std::int64_t bytes = 0;
  std::int64_t modified_ns = 0;  // since 1970

  bool operator==(const FileStamp&) const = default;
};
/// Nothing where there is no such file.
std::optional<FileStamp> file_stamp(const std::filesystem::path& path);

/// Where a matrix comes from. Two matrices are the same where collection and content are.
struct Origin {
  std::string source{};      // path of a file, spec of a generated matrix
  std::string content{};     // content_hash() of a file, "spec:..." of a generated matrix
  std::string collection{};  // "GROUP/NAME" in the SuiteSparse collection; "" for any other
};

/// 16 hexadecimal digits of XXH3 (64 bits) over the text.
std::string text_hash(std::string_view text);

}  // namespace lanky::bench
