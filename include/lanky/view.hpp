// Non-owning views of dense and sparse operands: trivially copyable, a pointer with its extents.
// Views are made implicitly from owners (Buffer, Matrix, contiguous ranges, mdspan), and views of
// const elements from views of mutable ones.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <lanky/error.hpp>
#include <string>
#include <type_traits>

namespace lanky::inline v1 {

enum class Layout : std::uint8_t { col, row };  // col: column-major, row: row-major

namespace detail {

/// Whether a T* may be made from a pointer to From: the same type, or one that is less const.
template <class From, class T>
concept ElementsOf = std::is_convertible_v<From (*)[], T (*)[]>;

/// std::vector, std::array, std::span, Buffer. Temporaries serve where they are read alone, as for
/// std::span.
template <class R, class T>
concept ContiguousOf = (std::is_lvalue_reference_v<R> || std::is_const_v<T>)&&requires(R&& range) {
  { std::size(range) } -> std::convertible_to<std::int64_t>;
  requires ElementsOf<std::remove_pointer_t<decltype(std::data(range))>, T>;
};

/// std::mdspan and what looks like it.
template <class M, class T>
concept MdspanOf = requires(const M& array) {
  { M::rank() } -> std::convertible_to<std::size_t>;
  { array.extent(0) } -> std::convertible_to<std::int64_t>;
  { array.stride(0) } -> std::convertible_to<std::int64_t>;
  { array.data_handle() } -> std::convertible_to<T*>;
  requires ElementsOf<typename M::element_type, T>;
};

}  // namespace detail

/// `size` contiguous elements, in host or in device memory.
template <class T>
struct VectorView {
  T* data = nullptr;
  std::int64_t size = 0;

  constexpr VectorView() noexcept = default;
  constexpr VectorView(T* elements, std::int64_t count) noexcept : data(elements), size(count) {}
  /// All elements of a contiguous range, or of a Buffer.
  template <class R>
  requires detail::ContiguousOf<R, T>
  constexpr VectorView(R&& range) noexcept  // NOLINT: implicit
      : data(std::data(range)), size(static_cast<std::int64_t>(std::size(range))) {}
  /// Throws Error(invalid_argument) where the elements are not contiguous.
  template <class M>
  requires(detail::MdspanOf<M, T>&& M::rank() == 1) constexpr VectorView(const M& array)  // NOLINT
      : data(array.data_handle()), size(static_cast<std::int64_t>(array.extent(0))) {
    if (array.stride(0) != 1 && size > 1) {
      throw Error(ErrorCode::invalid_argument, "a vector of stride " +
                                                   std::to_string(array.stride(0)) +
                                                   "; lanky's vectors are contiguous");
    }
  }

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

  constexpr MatrixView() noexcept = default;
  /// Columns (Layout::row: rows) one after the other.
  constexpr MatrixView(T* elements, std::int64_t row_count, std::int64_t col_count,
                       Layout order = Layout::col) noexcept
      : MatrixView(elements, row_count, col_count, order == Layout::col ? row_count : col_count,
                   order) {}
  constexpr MatrixView(T* elements, std::int64_t row_count, std::int64_t col_count,
                       std::int64_t leading, Layout order = Layout::col) noexcept
      : data(elements), rows(row_count), cols(col_count), ld(leading), layout(order) {}
  /// By columns where they are contiguous, else by rows. Throws Error(invalid_argument) where
  /// neither are.
  template <class M>
  requires(detail::MdspanOf<M, T>&& M::rank() == 2) constexpr MatrixView(const M& array)  // NOLINT
      : data(array.data_handle()),
        rows(static_cast<std::int64_t>(array.extent(0))),
        cols(static_cast<std::int64_t>(array.extent(1))) {
    const auto down = static_cast<std::int64_t>(array.stride(0));
    const auto across = static_cast<std::int64_t>(array.stride(1));
    if (down == 1 || rows <= 1) {
      ld = cols > 1 ? across : rows;
    } else if (across == 1 || cols <= 1) {
      layout = Layout::row;
      ld = down;
    } else {
      throw Error(ErrorCode::invalid_argument, "a matrix of strides " + std::to_string(down) +
                                                   " and " + std::to_string(across) +
                                                   "; one of them must be 1");
    }
  }

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

}  // namespace lanky::inline v1
