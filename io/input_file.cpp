#include "io/input_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "core/text.hpp"

namespace lanky::inline v1::io {

Error became_shorter(const std::string& name, std::int64_t from, std::int64_t to) {
  return Error(ErrorCode::io,
               concat(name, ": became shorter while it was read, from ", from, " bytes to ", to,
                      " bytes; read it again when no program writes it"));
}

InputFile::InputFile(const std::filesystem::path& path)
    : name_(path.string()), file_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
  if (file_ < 0) fail("opened", errno);
}

InputFile::~InputFile() {
  ::close(file_);
}

std::int64_t InputFile::size() const {
  struct stat status {};
  if (::fstat(file_, &status) != 0) fail("read", errno);
  return status.st_size;
}

std::size_t InputFile::read_some(void* data, std::size_t bytes, std::int64_t offset) const {
  while (true) {
    const ssize_t count = ::pread(file_, data, bytes, offset);
    if (count >= 0) return static_cast<std::size_t>(count);
    if (errno != EINTR) fail("read", errno);
  }
}

bool InputFile::read_all(void* data, std::size_t bytes, std::int64_t offset) const {
  auto* at = static_cast<std::byte*>(data);
  while (bytes > 0) {
    const std::size_t count = read_some(at, bytes, offset);
    if (count == 0) return false;
    at += count;
    bytes -= count;
    offset += static_cast<std::int64_t>(count);
  }
  return true;
}

void InputFile::fail(const char* what, int cause) const {
  throw Error(ErrorCode::io,
              concat(name_, ": cannot be ", what, ": ", std::generic_category().message(cause)));
}

}  // namespace lanky::inline v1::io
