// Arrays of NumPy, CuPy, PyTorch and others, read in place: their memory, type, extents and
// strides. Everything here is called with the GIL held.
#pragma once

#include <Python.h>
#include <nanobind/nanobind.h>

#include <array>
#include <cstdint>
#include <lanky/dtype.hpp>
#include <lanky/view.hpp>
#include <string>

namespace lanky::python {

namespace nb = nanobind;

/// Whose array it is, hence whose the result is.
enum class Kind : std::uint8_t { numpy, cupy, torch, other };

/// Types of elements that lanky knows; indices among them.
enum class Element : std::uint8_t { f64, f32, f16, bf16, c64, c128, i32, i64, unknown };

/// An array, in place: a pointer with extents. It lives as long as `object` and `keep` do.
struct Array {
  const char* name = "";  // in messages: "x"
  nb::handle object;
  nb::object keep;  // what holds the memory, where `object` alone does not
  Kind kind = Kind::numpy;
  Element element = Element::unknown;
  bool writable = false;
  int device = -1;  // of CUDA; -1: host memory
  int rank = 1;
  void* data = nullptr;
  std::array<std::int64_t, 2> shape{1, 1};
  std::array<std::int64_t, 2> strides{1, 1};  // in elements

  bool on_host() const { return device < 0; }
  std::int64_t size() const { return rank == 0 ? 1 : rank == 1 ? shape[0] : shape[0] * shape[1]; }
};

/// Rows and columns of a dense operand as lanky takes them.
struct Dense {
  void* data;
  std::int64_t rows;
  std::int64_t cols;
  std::int64_t ld;
  Layout layout;
};

/// Reads an array of 1 or 2 dimensions (0, too, with `scalars`). TypeError for what is no array,
/// ValueError for other dimensions, and for strides that count no whole elements.
Array read_array(nb::handle object, const char* name, bool scalars = false);

/// The DType of elements; TypeError that names the array where lanky does not multiply them, and
/// what converts integers and bools: `conversion`, or else a cast of the array.
DType dtype_of(const Array& array, const char* conversion = nullptr);
/// The other side of a product.
struct Partner {
  const char* name;              // "A"
  const Array* array = nullptr;  // where a cast makes it complex; else a dtype, when it is made
};
/// TypeError where the operand is not of that type: "x is float32, and A needs float64; ...", with
/// the conversion. That of a complex operand of a real product is one of the other side.
void require_dtype(const Array& array, DType dtype, const Partner& other);
/// TypeError where the array that a product writes to is not of that type. It names no cast, which
/// would make a copy and lose the result.
void require_result_dtype(const Array& array, DType dtype);
/// ValueError where the array may not be written to.
void require_writable(const Array& array);
bool is_complex(const Array& array);
/// Whether it is on a GPU, and its library has no stream by which what it frees waits for lanky's.
bool is_foreign(const Array& array);
/// Whether the elements of a vector are one after the other.
bool is_contiguous(const Array& array);
/// ValueError where they are not, or it is no vector.
void require_contiguous(const Array& array);

/// Whether rows (Layout::row) or columns are contiguous, `preferred` where both are. ValueError
/// where neither are. A vector is a matrix of one column, whatever its stride.
Dense dense(const Array& array, Layout preferred = Layout::row);

/// NumPy's name of a type: "float64", "bfloat16".
const char* numpy_name(DType dtype);
/// The DType that NumPy's name (or a NumPy dtype, or a torch dtype) says; TypeError for others.
DType dtype_from(nb::handle dtype);
/// "cpu", "cuda:0": where the memory is.
std::string place(int device);
/// "(3, 4)".
std::string shape_text(const Array& array);

/// A new array, and what there is to read of it.
struct NewArray {
  nb::object object;
  Array array;
};

/// An array of the kind and in the memory of `like`; by rows or by columns, rank 1 or 2.
NewArray empty_like(const Array& like, DType dtype, int rank, std::int64_t rows, std::int64_t cols,
                    Layout layout);

/// A result of empty_like() for the caller: of kinds that lanky does not know, it is made an array
/// of theirs by way of DLPack; on a GPU a copy in their memory, which is there on return.
nb::object to_caller(const Array& like, nb::object result);

/// Memory of `bytes` from the allocator of the kind, for the current stream of that kind; the
/// pointer is in `data`. A null object for Kind::other.
nb::object borrow_memory(Kind kind, int device, std::int64_t bytes, void** data);

/// An array of NumPy over `data`, which `owner` holds. Halves come as NumPy's or ml_dtypes' types.
nb::object numpy_array(void* data, std::int64_t size, Element element, nb::handle owner);

/// A module that is loaded already; null where it is not.
nb::object loaded_module(const char* name);

}  // namespace lanky::python
