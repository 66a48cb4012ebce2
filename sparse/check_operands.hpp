// Checks of the operands of sparse products, and how these stand in memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <lanky/device.hpp>
#include <lanky/dtype.hpp>
#include <lanky/error.hpp>
#include <lanky/operation.hpp>
#include <lanky/view.hpp>
#include <new>
#include <string_view>
#include <type_traits>
#include <utility>

#include "core/arguments.hpp"
#include "core/text.hpp"
#include "sparse/product.hpp"

namespace lanky::sparse {

/// f(); where the host's memory ends, the Error that tells so.
template <class F>
auto within_host_memory(std::string_view what, F&& f) {
  try {
    return std::forward<F>(f)();
  } catch (const std::bad_alloc&) {
    throw Error(ErrorCode::out_of_memory, concat("the host has not the memory to ", what));
  }
}

/// The memory of a matrix: `lines` lines of `length` bytes, `pitch` bytes from one to the next.
struct Lines {
  std::uintptr_t begin;
  std::int64_t lines = 0;
  std::int64_t length = 0;
  std::int64_t pitch = 0;

  template <class E>
  explicit Lines(const MatrixView<E>& view) : begin(reinterpret_cast<std::uintptr_t>(view.data)) {
    lines = view.layout == Layout::col ? view.cols : view.rows;
    length = (view.layout == Layout::col ? view.rows : view.cols) * std::int64_t{sizeof(E)};
    pitch = view.ld * std::int64_t{sizeof(E)};
  }
  template <class E>
  explicit Lines(const VectorView<E>& view)
      : begin(reinterpret_cast<std::uintptr_t>(view.data)),
        lines(1),
        length(view.size * std::int64_t{sizeof(E)}),
        pitch(length) {}

  bool empty() const { return lines == 0 || length == 0; }
  std::uintptr_t end() const { return begin + (lines - 1) * pitch + length; }
};

/// Lines of one pitch may lie between each other: two ranges of columns of one matrix by rows. A
/// single line has any pitch.
inline bool overlap(const Lines& a, const Lines& b) {
  if (a.empty() || b.empty() || a.end() <= b.begin || b.end() <= a.begin) return false;
  if (a.pitch != b.pitch && a.lines > 1 && b.lines > 1) return true;
  const std::int64_t pitch = a.lines > 1 ? a.pitch : b.pitch;
  const Lines& low = a.begin <= b.begin ? a : b;
  const Lines& high = a.begin <= b.begin ? b : a;
  const auto distance = static_cast<std::int64_t>((high.begin - low.begin) % pitch);
  return distance < low.length || distance + high.length > pitch;
}

template <class E>
Strides strides_of(const MatrixView<E>& view) {
  if (view.layout == Layout::col) return {.row = 1, .column = view.ld};
  return {.row = view.ld, .column = 1};
}

template <class E>
void check_matrix(const MatrixView<E>& view, Device device, std::string_view what) {
  if (view.cols < 0) {
    throw Error(ErrorCode::invalid_argument, concat(what, " has ", view.cols, " columns"));
  }
  const std::int64_t line = view.layout == Layout::col ? view.rows : view.cols;
  if (view.ld < line) {
    throw Error(
        ErrorCode::invalid_argument,
        concat(what, " has leading dimension ", view.ld, ", but its ",
               view.layout == Layout::col ? "columns have " : "rows have ", line, " elements"));
  }
  const std::int64_t lines = view.layout == Layout::col ? view.cols : view.rows;
  if (!within_memory(view.ld, lines, sizeof(E))) {
    throw Error(
        ErrorCode::invalid_argument,
        concat(what, " of ", view.rows, " x ", view.cols, " elements with leading dimension ",
               view.ld, " exceeds the ", kPhysicalAddressBits, " bits of addresses"));
  }
  check_on_device(view.data, view.rows * view.cols, device, what);
}

/// A GPU loads whole elements; the C++ type of complex ones promises the alignment of a part only.
template <class E>
void check_alignment(const E* data, Device device, std::string_view what) {
  if (!device.is_cuda() || reinterpret_cast<std::uintptr_t>(data) % sizeof(E) == 0) return;
  throw Error(ErrorCode::invalid_argument,
              concat(what, " is not aligned to the ", sizeof(E), " bytes of an element of ",
                     to_string(kDType<std::remove_const_t<E>>)));
}

template <class Sum>
void check_scalar(const Scalar<Sum>& scalar, Device device, std::string_view what) {
  if (scalar.pointer() != nullptr) check_on_device(scalar.pointer(), 1, device, what);
}

/// The memory of a caller's workspace, of `needed` bytes, for elements of type Sum.
template <class Sum>
std::byte* checked_workspace(const Workspace& workspace, std::int64_t needed, Device device) {
  check_workspace(workspace.data, workspace.bytes, needed, device);
  if (reinterpret_cast<std::uintptr_t>(workspace.data) % alignof(Sum) != 0) {
    throw Error(ErrorCode::invalid_argument, concat("the workspace at ", workspace.data,
                                                    " is not aligned to ", alignof(Sum), " bytes"));
  }
  return static_cast<std::byte*>(workspace.data);
}

}  // namespace lanky::sparse
