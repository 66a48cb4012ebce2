// Non-owning views of dense and sparse operands: trivially copyable, a pointer with its extents.
// A view of const elements is made implicitly from one of mutable elements.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace lanky {

enum class Layout : std::uint8_t { col, row };

/// `size` contiguous elements, in host or in device memory.
template <class T>
struct VectorView {
  T* data = nullptr;
  std::int64_t size = 0;

  template <class U>  // const T: of a plain function nvcc warns where T is const
  requires(std::is_same_v<U, const T> && !std::is_const_v<T>) operator VectorView<U>()
      const noexcept {
    return {data, size};
  }
};

/// rows x cols elements. Element (i, j) is data[i + j * ld] in column-major layout and
/// data[i * ld + j] in row-major layout; ld counts elements.
template <class T>
struct MatrixView {
  T* data = nullptr;
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  std::int64_t ld = 0;
  Layout layout = Layout::col;

  template <class U>  // const T: of a plain function nvcc warns where T is const
  requires(std::is_same_v<U, const T> && !std::is_const_v<T>) operator MatrixView<U>()
      const noexcept {
    return {data, rows, cols, ld, layout};
  }
};

/// Row offsets of a CSR matrix, 32 or 64 bits wide: entries of row i stand at
/// [offset(i) - base, offset(i + 1) - base).
class RowOffsets {
 public:
  RowOffsets() = default;
  RowOffsets(std::nullptr_t) noexcept {}  // NOLINT: implicit; of a matrix without rows
  RowOffsets(const std::int32_t* data) noexcept : data_(data), wide_(false) {}  // NOLINT: implicit
  RowOffsets(const std::int64_t* data) noexcept : data_(data), wide_(true) {}   // NOLINT: implicit

  const void* data() const noexcept { return data_; }
  bool wide() const noexcept { return wide_; }
  int bytes_per_offset() const noexcept { return wide_ ? 8 : 4; }
  /// Offset i; only where the offsets are in host memory.
  std::int64_t operator[](std::int64_t i) const noexcept {
    return wide_ ? static_cast<const std::int64_t*>(data_)[i]
                 : static_cast<const std::int32_t*>(data_)[i];
  }

 private:
  const void* data_ = nullptr;
  bool wide_ = true;
};

/// A sparse rows x cols matrix in compressed sparse rows. All three arrays are in host memory, or
/// all three in the memory of one device. Columns may be unsorted and repeated within a row
/// (repeated entries add up).
template <class T>
struct CsrView {
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  std::int64_t nnz = 0;
  RowOffsets row_offsets{};                   // [rows + 1]
  const std::int32_t* col_indices = nullptr;  // [nnz]
  const T* values = nullptr;                  // [nnz]
  int index_base = 0;                         // of offsets and columns alike: 0 or 1
};

}  // namespace lanky
