#include <sys/mman.h>

#include <cstring>
#include <lanky/buffer.hpp>
#include <lanky/error.hpp>
#include <limits>
#include <new>
#include <utility>

#include "core/arguments.hpp"
#include "core/runtime.hpp"
#include "core/text.hpp"

namespace lanky::inline v1::detail {

namespace {

constexpr std::size_t kHostAlignment = 256;
// From so many bytes on, host memory is asked for in huge pages. Two threads of an EPYC read 512
// MiB of them at 22.6 GB/s, and of ordinary pages at 17.6 (docs/lab/cpu.md): fewer misses of the
// TLB, and prefetchers that go on past 4 KiB.
constexpr std::size_t kHugeLeast = std::size_t{4} << 20;
constexpr std::size_t kHugePage = std::size_t{2} << 20;

std::align_val_t host_alignment(std::size_t bytes) {
  return std::align_val_t{bytes >= kHugeLeast ? kHugePage : kHostAlignment};
}

/// A hint: where the system has no huge pages, nothing happens.
void advise_huge_pages([[maybe_unused]] void* data, [[maybe_unused]] std::size_t bytes) {
#ifdef MADV_HUGEPAGE
  if (bytes >= kHugeLeast) madvise(data, bytes, MADV_HUGEPAGE);
#endif
}

void* allocate_on(const Stream& stream, std::size_t bytes) {
  if (stream.device().is_cuda()) {
    return runtime::allocate(bytes, stream.native(), stream.device().index());
  }
  void* data = ::operator new(bytes, host_alignment(bytes), std::nothrow);
  if (data == nullptr) {
    throw Error(ErrorCode::out_of_memory, concat("cannot allocate ", bytes, " bytes on the cpu"));
  }
  advise_huge_pages(data, bytes);
  return data;
}

void deallocate_on(const Stream& stream, void* data, std::size_t bytes) noexcept {
  if (stream.device().is_cuda()) {
    runtime::deallocate(data, stream.native(), stream.device().index());
  } else {
    ::operator delete(data, host_alignment(bytes));
  }
}

void check_fits(std::size_t bytes, std::size_t size) {
  if (bytes > size) {
    throw Error(ErrorCode::size_mismatch,
                concat("cannot copy ", bytes, " bytes: the buffer holds ", size));
  }
}

}  // namespace

std::size_t checked_bytes(std::int64_t count, std::size_t size) {
  if (count < 0) {
    throw Error(ErrorCode::invalid_argument, concat("a buffer cannot hold ", count, " elements"));
  }
  if (static_cast<std::uint64_t>(count) > std::numeric_limits<std::int64_t>::max() / size) {
    throw Error(ErrorCode::out_of_memory,
                concat("a buffer of ", count, " elements of ", size, " bytes fits no memory"));
  }
  return static_cast<std::size_t>(count) * size;
}

std::int64_t checked_ld(std::int64_t rows, std::int64_t cols, Layout layout, std::int64_t ld) {
  if (rows < 0 || cols < 0) {
    throw Error(ErrorCode::invalid_argument, concat("a matrix cannot be ", rows, " x ", cols));
  }
  const std::int64_t tight = layout == Layout::col ? rows : cols;
  if (ld == 0) return tight;
  if (ld < tight) {
    throw Error(ErrorCode::invalid_argument,
                concat("a leading dimension of ", ld, " is too short for a ",
                       layout == Layout::col ? "column-major " : "row-major ", rows, " x ", cols,
                       " matrix, which needs ", tight));
  }
  return ld;
}

std::int64_t checked_elements(std::int64_t ld, std::int64_t vectors) {
  std::int64_t elements = 0;
  if (__builtin_mul_overflow(ld, vectors, &elements)) {
    throw Error(ErrorCode::out_of_memory,
                concat("a matrix of ", ld, " x ", vectors, " elements fits no memory"));
  }
  return elements;
}

Allocation::Allocation(const Stream& stream, std::size_t bytes, Allocator* allocator)
    : stream_(stream), bytes_(bytes), allocator_(allocator) {
  if (bytes == 0) return;
  data_ =
      allocator_ != nullptr ? allocator_->allocate(bytes, stream_) : allocate_on(stream_, bytes);
}

Allocation::Allocation(Allocation&& other) noexcept
    : stream_(other.stream_),
      data_(std::exchange(other.data_, nullptr)),
      bytes_(std::exchange(other.bytes_, 0)),
      allocator_(other.allocator_) {}

Allocation& Allocation::operator=(Allocation&& other) noexcept {
  std::swap(stream_, other.stream_);
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
  std::swap(allocator_, other.allocator_);
  return *this;
}

Allocation::~Allocation() {
  if (data_ == nullptr) return;
  if (allocator_ != nullptr) {
    allocator_->deallocate(data_, bytes_, stream_);
  } else {
    deallocate_on(stream_, data_, bytes_);
  }
}

void Allocation::copy_from_host(const void* source, std::size_t bytes) {
  check_fits(bytes, bytes_);
  if (bytes == 0) return;
  if (stream_.device().is_cuda()) {
    refuse_capture(stream_, "a copy from host memory");
    runtime::copy(data_, source, bytes, stream_.native(), stream_.device().index());
    stream_.synchronize();  // pinned sources are read after the call returns otherwise
  } else {
    std::memcpy(data_, source, bytes);
  }
}

void Allocation::copy_to_host(void* target, std::size_t bytes) const {
  check_fits(bytes, bytes_);
  if (bytes == 0) return;
  if (stream_.device().is_cuda()) {
    refuse_capture(stream_, "a copy to host memory");
    runtime::copy(target, data_, bytes, stream_.native(), stream_.device().index());
    stream_.synchronize();
  } else {
    std::memcpy(target, data_, bytes);
  }
}

void Allocation::fill_zero() {
  if (bytes_ == 0) return;
  if (stream_.device().is_cuda()) {
    runtime::zero(data_, bytes_, stream_.native(), stream_.device().index());
  } else {
    std::memset(data_, 0, bytes_);
  }
}

}  // namespace lanky::inline v1::detail
