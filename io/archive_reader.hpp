// The text of a matrix file as a stream of bytes, whatever it is wrapped in: nothing, gzip, xz,
// zstd, bzip2, or a tar in one of these. The wrapping is found by content, not by name.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

namespace lanky::inline v1::io {

class ArchiveReader {
 public:
  /// Opens the file; in a tar, goes to the first member NAME.mtx or NAME.rb that is in a folder
  /// NAME or in an archive named NAME.*. Throws Error(io) with the file's name and the cause.
  explicit ArchiveReader(const std::filesystem::path& path);
  ~ArchiveReader();
  ArchiveReader(const ArchiveReader&) = delete;
  ArchiveReader& operator=(const ArchiveReader&) = delete;

  /// Up to `size` further bytes into `buffer`; 0 at the end, when all checksums have been compared.
  std::size_t read(char* buffer, std::size_t size);
  /// The name for messages: the file's, and the member's in a tar ("a.tar.gz/a/a.mtx").
  const std::string& name() const noexcept;
  /// Bytes of the whole text, known where a plain file holds it.
  std::optional<std::int64_t> plain_size() const noexcept;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace lanky::inline v1::io
