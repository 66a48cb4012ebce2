// From what C callers pass to the types of the C++ interface, and back. All checks that C++ leaves
// to the compiler are made here: null pointers, unknown constants, pairs of types.
#pragma once

#include <lanky/lanky.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <lanky/device.hpp>
#include <lanky/dtype.hpp>
#include <lanky/error.hpp>
#include <lanky/operation.hpp>
#include <lanky/symmetry.hpp>
#include <lanky/view.hpp>
#include <lanky/visit_dtype.hpp>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "capi/status.hpp"

namespace lanky::capi {

/// *pointer; Error(invalid_argument) for null that names the parameter.
template <class T>
T& require(T* pointer, const char* name) {
  if (pointer == nullptr) {
    throw Error(ErrorCode::invalid_argument, std::string(name) + " is NULL");
  }
  return *pointer;
}

/// The text that `pointer` begins.
inline const char* require_text(const char* pointer, const char* name) {
  return &require(pointer, name);
}

/// f(handle) for functions that return what they read; of a null handle `of_null`, with a message
/// that names the parameter.
template <class Handle, class Value, class F>
Value property(const Handle* handle, const char* name, Value of_null, F&& f) noexcept {
  Value value = of_null;
  guarded([&] { value = static_cast<Value>(f(require(handle, name))); });
  return value;
}

/// *result = make().release(), or null where that fails.
template <class Handle, class Make>
lanky_status make_handle(Handle** result, const char* name, Make&& make) noexcept {
  return guarded([&] {
    require(result, name) = nullptr;
    std::unique_ptr<Handle> made = make();
    *result = made.release();
  });
}

/// *result = make(), or Value() where that fails.
template <class Value, class Make>
lanky_status make_value(Value* result, const char* name, Make&& make) noexcept {
  return guarded([&] {
    require(result, name) = Value();
    *result = static_cast<Value>(make());
  });
}

/// Copies the text that make() returns into `size` bytes, as snprintf does.
template <class Make>
lanky_status make_text(char* text, std::size_t size, std::size_t* length, Make&& make) noexcept {
  return guarded([&] {
    if (length != nullptr) *length = 0;
    if (size != 0) require(text, "text") = '\0';
    const std::string made = make();
    if (length != nullptr) *length = made.size();
    if (size == 0) return;
    const std::size_t copied = made.size() < size ? made.size() : size - 1;
    std::memcpy(text, made.data(), copied);
    text[copied] = '\0';
  });
}

/// A name that fits a struct's array. Names are never cut.
template <std::size_t kSize>
void copy_name(char (&target)[kSize], std::string_view name) {
  if (name.size() >= kSize) {
    throw Error(ErrorCode::unsupported, "a name of " + std::to_string(name.size()) +
                                            " bytes does not fit the " + std::to_string(kSize) +
                                            " of its struct: " + std::string(name));
  }
  std::memcpy(target, name.data(), name.size());
  target[name.size()] = '\0';
}

/// Throws Error(invalid_argument) unless 0 <= value < count, for constants of a type of the header.
void check_constant(std::int32_t value, int count, const char* name, const char* type);

/// Throws Error(invalid_argument) unless 0 <= index < count.
void check_index(std::int64_t index, std::size_t count, const char* of);

/// Throws Error(invalid_argument) for members that are to be 0.
void check_reserved(std::int32_t value, const char* type);

DType to_dtype(lanky_dtype value, const char* name);
Op to_op(lanky_op value, const char* name);
Layout to_layout(lanky_layout value, const char* name);
Math to_math(lanky_math value);
Engine to_engine(lanky_engine value);
Symmetry to_symmetry(lanky_symmetry value);
/// Throws Error(no_device), too.
Device to_device(lanky_device device);
lanky_device from_device(Device device) noexcept;
/// What functions return as the device of a null handle.
inline constexpr lanky_device kNoDevice = {-1, 0};

/// Throws Error(unsupported) where products of `in` are not written as `out`.
void check_types(DType in, DType out);

/// f(std::type_identity<T>{}, std::type_identity<TOut>{}) for operands and results of these types.
template <class F>
auto visit_types(lanky_dtype type, lanky_dtype out, F&& f) {
  using Result = std::invoke_result_t<F, std::type_identity<double>, std::type_identity<double>>;
  const DType from = to_dtype(type, "type");
  const DType to = to_dtype(out, "out");
  check_types(from, to);
  return visit_dtype(from, [&]<class T>(std::type_identity<T> tag) -> Result {
    if constexpr (is_half(kDType<T>)) {
      if (to == DType::f32) return f(tag, std::type_identity<float>{});
    }
    return f(tag, tag);
  });
}

/// The same of dense products, whose results may be f64.
template <class F>
auto visit_gemm_types(lanky_dtype type, lanky_dtype out, F&& f) {
  const DType from = to_dtype(type, "type");
  if (!has_wide_sums(from, to_dtype(out, "out"))) return visit_types(type, out, f);
  const std::type_identity<double> wide;
  if (from == DType::f32) return f(std::type_identity<float>{}, wide);
  if (from == DType::f16) return f(std::type_identity<half>{}, wide);
  return f(std::type_identity<bfloat16>{}, wide);
}

template <class T>
VectorView<T> to_vector(const lanky_vector_view* view, const char* name) {
  const lanky_vector_view& given = require(view, name);
  return {static_cast<T*>(given.data), given.size};
}

template <class T>
MatrixView<T> to_matrix(const lanky_matrix_view* view, const char* name) {
  const lanky_matrix_view& given = require(view, name);
  return {static_cast<T*>(given.data), given.rows, given.cols, given.ld,
          to_layout(given.layout, name)};
}

/// Throws Error(invalid_argument) for offsets of other widths than 4 and 8 bytes.
RowOffsets to_row_offsets(const lanky_csr_view& view);

template <class T>
CsrView<T> to_csr(const lanky_csr_view* view, const char* name) {
  const lanky_csr_view& given = require(view, name);
  return {.rows = given.rows,
          .cols = given.cols,
          .nnz = given.nnz,
          .row_offsets = to_row_offsets(given),
          .col_indices = given.col_indices,
          .values = static_cast<const T*>(given.values),
          .index_base = given.index_base};
}

/// alpha or beta in host memory; null is `otherwise`.
template <class T>
Accumulator<T> to_host_scalar(const void* value, int otherwise) {
  Accumulator<T> scalar = static_cast<float>(otherwise);
  if (value != nullptr) std::memcpy(&scalar, value, sizeof(scalar));
  return scalar;
}

/// What lanky_run_options say, checked.
struct RunOptions {
  explicit RunOptions(const lanky_run_options* options);

  bool alpha_on_device;
  bool beta_on_device;
  bool lends;  // whether the caller lends a workspace
  Workspace workspace;
};

/// alpha or beta of a run; null is `otherwise`, but no device memory.
template <class T>
Scalar<Accumulator<T>> to_scalar(const void* value, bool on_device, int otherwise) {
  if (!on_device) return to_host_scalar<T>(value, otherwise);
  return Scalar<Accumulator<T>>::on_device(static_cast<const Accumulator<T>*>(value));
}

}  // namespace lanky::capi
