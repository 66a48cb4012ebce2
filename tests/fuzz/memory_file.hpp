// Files for what reads files: bytes in memory, and a folder in shared memory.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <filesystem>
#include <stdexcept>
#include <string>

#include "fuzz/target.hpp"

namespace lanky::fuzz {

/// A file in memory, which can be opened by its path.
class MemoryFile {
 public:
  explicit MemoryFile(Bytes bytes) : file_(memfd_create("lanky-fuzz", MFD_CLOEXEC)) {
    if (file_ < 0 || write(file_, bytes.data(), bytes.size()) != std::ssize(bytes)) {
      throw std::runtime_error("no file in memory can be made");
    }
  }
  ~MemoryFile() { close(file_); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  std::filesystem::path path() const { return "/proc/self/fd/" + std::to_string(file_); }

 private:
  int file_;
};

/// A folder of this process alone, for what is written; it goes when the process ends.
inline const std::filesystem::path& scratch_folder() {
  struct Folder {
    Folder() { std::filesystem::create_directories(path); }
    ~Folder() {
      std::error_code ignored;
      std::filesystem::remove_all(path, ignored);
    }
    std::filesystem::path path = "/dev/shm/lanky-fuzz-" + std::to_string(getpid());
  };
  static const Folder folder;
  return folder.path;
}

}  // namespace lanky::fuzz
