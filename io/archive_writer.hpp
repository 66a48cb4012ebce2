// A file that appears at its path only when it is complete, compressed as its ending says.
#pragma once

#include <filesystem>
#include <memory>
#include <string_view>

namespace lanky::inline v1::io {

class ArchiveWriter {
 public:
  /// Starts a file beside `path`; .gz .xz .zst .bz2 compress. Throws Error(io).
  explicit ArchiveWriter(const std::filesystem::path& path);
  /// Deletes what was written, unless commit() has been called.
  ~ArchiveWriter();
  ArchiveWriter(const ArchiveWriter&) = delete;
  ArchiveWriter& operator=(const ArchiveWriter&) = delete;

  void write(std::string_view bytes);
  /// Completes the file and renames it to its path.
  void commit();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace lanky::inline v1::io
