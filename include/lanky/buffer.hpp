// Owning arrays in the memory of a stream's device, allocated and freed in the order of that stream
// (cudaMallocAsync), or through the caller's own allocator.
#pragma once

#include <cstddef>
#include <cstdint>
#include <lanky/export.hpp>
#include <lanky/operation.hpp>
#include <lanky/stream.hpp>
#include <lanky/view.hpp>
#include <span>
#include <type_traits>
#include <vector>

namespace lanky::inline v1 {

/// Where a caller's own memory pool plugs in. Memory is aligned to 256 bytes, usable by work given
/// to `stream` after allocate, and not touched by work given to it after deallocate.
class LANKY_EXPORT Allocator {
 public:
  virtual ~Allocator() = default;
  /// At least `bytes` > 0 bytes; throws Error(out_of_memory).
  virtual void* allocate(std::size_t bytes, const Stream& stream) = 0;
  virtual void deallocate(void* data, std::size_t bytes, const Stream& stream) noexcept = 0;
};

namespace detail {

/// Raw bytes of a Buffer. Copies go through the stream; host memory may be reused on return.
class LANKY_EXPORT Allocation {
 public:
  Allocation(const Stream& stream, std::size_t bytes, Allocator* allocator);
  Allocation(Allocation&& other) noexcept;
  Allocation& operator=(Allocation&& other) noexcept;
  ~Allocation();

  void* data() const noexcept { return data_; }
  std::size_t bytes() const noexcept { return bytes_; }
  const Stream& stream() const noexcept { return stream_; }
  void copy_from_host(const void* source, std::size_t bytes);
  void copy_to_host(void* target, std::size_t bytes) const;
  void fill_zero();

 private:
  Stream stream_;
  void* data_ = nullptr;
  std::size_t bytes_ = 0;
  Allocator* allocator_ = nullptr;
};

/// count * size, or Error(out_of_memory) where that overflows; Error(invalid_argument) below zero.
LANKY_EXPORT std::size_t checked_bytes(std::int64_t count, std::size_t size);

/// `ld`, or what is tight for 0; Error(invalid_argument) for negative extents and too short an
/// `ld`.
LANKY_EXPORT std::int64_t checked_ld(std::int64_t rows, std::int64_t cols, Layout layout,
                                     std::int64_t ld);

/// Elements of `vectors` columns (or rows) `ld` apart; Error(out_of_memory) where that overflows.
LANKY_EXPORT std::int64_t checked_elements(std::int64_t ld, std::int64_t vectors);

}  // namespace detail

/// `size` elements on the stream's device, uninitialized. Move-only; what was moved from is empty.
template <class T>
class Buffer {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  /// Memory of the stream's device, or of `allocator`, which must outlive the buffer. Throws Error:
  /// invalid_argument (negative size), out_of_memory.
  Buffer(const Stream& stream, std::int64_t size, Allocator* allocator = nullptr)
      : allocation_(stream, detail::checked_bytes(size, sizeof(T)), allocator) {}

  /// A copy of host data.
  static Buffer from(const Stream& stream, std::span<const T> host,
                     Allocator* allocator = nullptr) {
    Buffer buffer(stream, static_cast<std::int64_t>(host.size()), allocator);
    buffer.copy_from(host);
    return buffer;
  }
  static Buffer from(const Stream& stream, const std::vector<T>& host,
                     Allocator* allocator = nullptr) {
    return from(stream, std::span<const T>(host), allocator);
  }

  T* data() noexcept { return static_cast<T*>(allocation_.data()); }
  const T* data() const noexcept { return static_cast<const T*>(allocation_.data()); }
  std::int64_t size() const noexcept {
    return static_cast<std::int64_t>(allocation_.bytes() / sizeof(T));
  }
  const Stream& stream() const noexcept { return allocation_.stream(); }
  VectorView<T> view() noexcept { return {data(), size()}; }
  VectorView<const T> view() const noexcept { return {data(), size()}; }
  /// Of a Buffer<std::byte>: memory for one run of a plan.
  operator Workspace() noexcept  // NOLINT: implicit
      requires std::is_same_v<T, std::byte> {
    return {data(), size()};
  }

  /// Copies host.size() elements to the front, in stream order; waits for the copy. Throws
  /// Error(size_mismatch) for more than size().
  void copy_from(std::span<const T> host) {
    allocation_.copy_from_host(host.data(), host.size_bytes());
  }
  /// All elements; waits for the stream.
  std::vector<T> to_host() const {
    std::vector<T> host(static_cast<std::size_t>(size()));
    allocation_.copy_to_host(host.data(), host.size() * sizeof(T));
    return host;
  }
  /// Sets every byte to zero, in stream order.
  void fill_zero() { allocation_.fill_zero(); }

 private:
  detail::Allocation allocation_;
};

/// A dense rows x cols matrix on the stream's device, uninitialized. Move-only.
template <class T>
class Matrix {
 public:
  /// `ld` counts elements from one column (Layout::row: row) to the next; 0 means tight. Throws
  /// Error: invalid_argument (negative extents, `ld` shorter than a column or row), out_of_memory.
  Matrix(const Stream& stream, std::int64_t rows, std::int64_t cols, Layout layout = Layout::col,
         std::int64_t ld = 0, Allocator* allocator = nullptr)
      : rows_(rows),
        cols_(cols),
        ld_(detail::checked_ld(rows, cols, layout, ld)),
        layout_(layout),
        buffer_(stream, detail::checked_elements(ld_, layout == Layout::col ? cols : rows),
                allocator) {}

  MatrixView<T> view() noexcept { return {buffer_.data(), rows_, cols_, ld_, layout_}; }
  MatrixView<const T> view() const noexcept { return {buffer_.data(), rows_, cols_, ld_, layout_}; }
  operator MatrixView<T>() noexcept { return view(); }              // NOLINT: implicit
  operator MatrixView<const T>() const noexcept { return view(); }  // NOLINT: implicit
  Buffer<T>& buffer() noexcept { return buffer_; }
  const Buffer<T>& buffer() const noexcept { return buffer_; }

 private:
  std::int64_t rows_;
  std::int64_t cols_;
  std::int64_t ld_;
  Layout layout_;
  Buffer<T> buffer_;
};

}  // namespace lanky::inline v1
