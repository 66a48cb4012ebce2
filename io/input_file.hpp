// A regular file, read at any place.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <lanky/error.hpp>
#include <string>

namespace lanky::inline v1::io {

/// A file had `from` bytes when reading began, and has `to` bytes now that more are wanted.
Error became_shorter(const std::string& name, std::int64_t from, std::int64_t to);

class InputFile {
 public:
  /// Throws Error(io), as all of it does.
  explicit InputFile(const std::filesystem::path& path);
  ~InputFile();
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  std::int64_t size() const;
  /// Up to `bytes` bytes from `offset` on; 0 at the end. Threads may call it side by side.
  std::size_t read_some(void* data, std::size_t bytes, std::int64_t offset) const;
  /// All of them; false where the file ends before.
  bool read_all(void* data, std::size_t bytes, std::int64_t offset) const;
  const std::string& name() const noexcept { return name_; }

 private:
  [[noreturn]] void fail(const char* what, int cause) const;

  std::string name_;
  int file_;
};

}  // namespace lanky::inline v1::io
