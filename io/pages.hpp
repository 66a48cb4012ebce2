// Memory of a size that is known, which can be given back to the system part by part.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <new>
#include <utility>

namespace lanky::inline v1::io {

class Pages {
 public:
  /// `size` bytes of 0; throws std::bad_alloc.
  explicit Pages(std::size_t size) : size_(size) {
    if (size == 0) return;
    // Not MAP_POPULATE: while it fills pages, no other thread can map any.
    void* data = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (data == MAP_FAILED) throw std::bad_alloc();
    data_ = static_cast<char*>(data);
  }
  ~Pages() {
    if (data_ != nullptr) munmap(data_, size_);
  }
  Pages(Pages&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  Pages& operator=(Pages&&) = delete;

  char* data() const noexcept { return data_; }

  /// Gives back bytes start..end, where start..before went already. Pages that reach beyond stay.
  void release(std::size_t start, std::size_t before, std::size_t end) noexcept {
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGE_SIZE));
    const std::size_t from = std::max((start + page - 1) / page, before / page) * page;
    const std::size_t to = end / page * page;
    if (from < to) madvise(data_ + from, to - from, MADV_DONTNEED);
  }

 private:
  char* data_ = nullptr;
  std::size_t size_;
};

}  // namespace lanky::inline v1::io
