// An open file of the system, closed with its owner.
#pragma once

#include <unistd.h>

#include <utility>

namespace lanky::collection {

class FileDescriptor {
 public:
  explicit FileDescriptor(int value = -1) noexcept : value_(value) {}
  ~FileDescriptor() {
    if (value_ >= 0) close(value_);
  }
  FileDescriptor(FileDescriptor&& other) noexcept : value_(std::exchange(other.value_, -1)) {}
  FileDescriptor& operator=(FileDescriptor&& other) noexcept {
    const FileDescriptor closed(std::exchange(value_, std::exchange(other.value_, -1)));
    return *this;
  }

  /// -1 where none is open.
  int get() const noexcept { return value_; }

 private:
  int value_;
};

}  // namespace lanky::collection
