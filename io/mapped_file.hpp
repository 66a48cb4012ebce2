// A file as bytes in memory, without a copy: the pages stand in the cache of the system.
#pragma once

#include <filesystem>
#include <string_view>

namespace lanky::io {

class MappedFile {
 public:
  MappedFile() = default;
  /// Maps a regular file; maps nothing where the system does not allow it or the file is empty.
  explicit MappedFile(const std::filesystem::path& path) noexcept;
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  std::string_view bytes() const noexcept { return {data_, size_}; }

  /// Gives the memory of the first `size` bytes back to the system. They may be read again, slowly.
  void release_before(std::size_t size) noexcept;

 private:
  char* data_ = nullptr;
  std::size_t size_ = 0;
  std::size_t released_ = 0;
};

}  // namespace lanky::io
