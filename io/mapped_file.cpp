#include "io/mapped_file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace lanky::io {

MappedFile::MappedFile(const std::filesystem::path& path) noexcept {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return;
  struct stat status {};
  if (fstat(file, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0) {
    const auto size = static_cast<std::size_t>(status.st_size);
    void* data = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file, 0);
    if (data != MAP_FAILED) {
      data_ = static_cast<char*>(data);
      size_ = size;
      madvise(data, size, MADV_SEQUENTIAL);
    }
  }
  close(file);
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) munmap(data_, size_);
}

void MappedFile::release_before(std::size_t size) noexcept {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGE_SIZE));
  const std::size_t whole = size / page * page;
  if (whole <= released_) return;
  madvise(data_ + released_, whole - released_, MADV_DONTNEED);
  released_ = whole;
}

}  // namespace lanky::io
