// An array whose memory can be given back from its beginning on while the rest is still read.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <new>
#include <type_traits>
#include <utility>

namespace lanky::io {

template <class T>
class PagedArray {
  static_assert(std::is_trivially_destructible_v<T>);

 public:
  PagedArray() = default;
  /// `size` elements of zero bytes; throws std::bad_alloc.
  explicit PagedArray(std::size_t size) {
    if (size == 0) return;
    bytes_ = size * sizeof(T);
    void* data = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (data == MAP_FAILED) throw std::bad_alloc();
    data_ = static_cast<T*>(data);
  }
  ~PagedArray() {
    if (data_ != nullptr) munmap(data_, bytes_);
  }
  PagedArray(PagedArray&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)),
        bytes_(std::exchange(other.bytes_, 0)),
        released_(std::exchange(other.released_, 0)) {}
  PagedArray& operator=(PagedArray&&) = delete;

  T* data() noexcept { return data_; }
  const T* data() const noexcept { return data_; }

  /// Gives back the memory of the first `count` elements, but for a page. They are lost.
  void release_before(std::size_t count) noexcept {
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGE_SIZE));
    const std::size_t whole = count * sizeof(T) / page * page;
    if (whole <= released_) return;
    madvise(reinterpret_cast<char*>(data_) + released_, whole - released_, MADV_DONTNEED);
    released_ = whole;
  }

 private:
  T* data_ = nullptr;
  std::size_t bytes_ = 0;
  std::size_t released_ = 0;  // bytes
};

}  // namespace lanky::io
