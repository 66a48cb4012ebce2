// A file on its way: TARGET.part grows, is checked, and becomes TARGET in one step. It is locked
// (flock) by the process that writes it; what its bytes are of stands in TARGET.part.origin.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string_view>

#include "collection/file_descriptor.hpp"
#include "collection/origin.hpp"

namespace lanky::collection {

/// Every function: Error(io) with the system's reason, such as a full disk.
class PartFile {
 public:
  /// Opens or creates the part of `target`, and its folder. Nothing where another process has it.
  static std::optional<PartFile> lock(const std::filesystem::path& target);
  PartFile(PartFile&&) = default;
  PartFile& operator=(PartFile&&) = default;
  /// An empty part is deleted, others stay for the next process.
  ~PartFile();

  const std::filesystem::path& path() const noexcept { return path_; }
  std::int64_t size() const noexcept { return size_; }
  const Origin& origin() const noexcept { return origin_; }
  /// All bytes are there, as many as the server said the file has.
  bool whole() const noexcept { return size_ > 0 && size_ == origin_.bytes; }

  /// Drops all bytes; those to come are of `origin`.
  void restart(const Origin& origin);
  void append(std::string_view bytes);
  /// Writes what the system still holds back to the disk.
  void sync() const;
  /// Becomes the target, with `origin` beside it.
  void publish(const Origin& origin);
  /// Deletes the part and its origin.
  void discard() noexcept;

 private:
  PartFile(const std::filesystem::path& target, FileDescriptor file);
  void take_up();

  std::filesystem::path target_;
  std::filesystem::path path_;
  FileDescriptor file_;  // -1 once published or discarded
  std::int64_t size_ = 0;
  Origin origin_;
};

}  // namespace lanky::collection
