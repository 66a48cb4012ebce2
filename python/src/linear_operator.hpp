// Operators, blocks of vectors and the places of solvers as Python holds them, with types known at
// run time.
#pragma once

#include <nanobind/nanobind.h>

#include <complex>
#include <cstdint>
#include <lanky/buffer.hpp>
#include <lanky/dtype.hpp>
#include <lanky/linear_operator.hpp>
#include <lanky/solver.hpp>
#include <lanky/stream.hpp>
#include <lanky/view.hpp>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>

#include "array.hpp"
#include "lanes.hpp"

namespace lanky::python {

/// One of a kind for each type that solvers compute in.
template <template <class> class Of>
using ForVectorTypes =
    std::variant<Of<double>, Of<float>, Of<std::complex<float>>, Of<std::complex<double>>>;

/// Calls f(type_identity<T>); TypeError for a type that solvers do not compute in.
template <class F>
decltype(auto) visit_vector_type(DType dtype, const char* name, F&& f);
[[noreturn]] void refuse_vector_type(DType dtype, const char* name);

/// The device and the stream that a solver runs on, and whose memory it takes there: that of the
/// library of `like`, where that library has an allocator.
class SolverPlace {
 public:
  /// `device`: "cpu" or "cuda:0", None for that of `like`. Where `like` is on that GPU, the current
  /// stream of its library. `name`: of `like`, in messages.
  SolverPlace(nb::handle device, nb::handle like, const char* name);

  const Stream& stream() const noexcept { return lane_->stream; }
  int device() const noexcept { return device_; }
  /// Whether arrays are in host memory, and the solver is on a GPU because the caller asked for it.
  bool copies() const noexcept { return copies_; }
  Allocator* allocator() const noexcept { return allocator_.get(); }

 private:
  std::shared_ptr<Lane> lane_;
  int device_;
  bool copies_ = false;
  std::unique_ptr<Allocator> allocator_;
};

/// A LinearOperator of any type.
class AnyOperator {
 public:
  template <class T>
  AnyOperator(std::string name, LinearOperator<T> made)
      : name_(std::move(name)), made_(std::move(made)) {}

  /// TypeError where it is of another type.
  template <class T>
  const LinearOperator<T>& as() const {
    const auto* const found = std::get_if<LinearOperator<T>>(&made_);
    if (found == nullptr) refuse(kDType<T>);
    return *found;
  }
  DType dtype() const;

 private:
  [[noreturn]] void refuse(DType wanted) const;

  std::string name_;
  ForVectorTypes<LinearOperator> made_;
};

/// Vectors side by side, by rows, in the memory of a place; a solver's results, or the copy of an
/// operand.
class Block {
 public:
  template <class T>
  Block(std::shared_ptr<const SolverPlace> place, Matrix<T> made)
      : place_(std::move(place)), made_(std::move(made)) {}

  template <class T>
  MatrixView<T> view() {
    return std::get<Matrix<T>>(made_).view();
  }
  /// An array over the memory, which `self` holds: of NumPy in host memory, else one of DLPack.
  nb::object array(nb::handle self);
  /// As many vectors as the block has, by rows.
  void copy_from_host(nb::handle source, const char* name);
  /// A new array of NumPy.
  nb::object to_host() const;

 private:
  std::shared_ptr<const SolverPlace> place_;  // frees last
  ForVectorTypes<Matrix> made_;
};

/// An array of DLPack or NumPy over columns by rows. `owner`: null for a view that is of use in one
/// call alone.
nb::object array_over(void* data, std::int64_t rows, std::int64_t cols, std::int64_t ld,
                      DType dtype, int device, nb::handle owner);

/// Columns by rows in the memory of the place; nothing for None. ValueError and TypeError where
/// they are not.
template <class T>
MatrixView<T> columns_by_rows(nb::handle object, const char* name, const SolverPlace& place);
Dense read_columns(nb::handle object, const char* name, const SolverPlace& place, DType dtype,
                   bool writable);

/// Asks for signals of Python after each iteration, and calls `callback`, where it is not None: its
/// False or StopIteration ends the solver.
OnProgress on_progress(nb::handle callback);

/// The numbers that all solvers' results have.
template <class Result>
nb::dict told_of(const Result& result) {
  nb::dict told;
  told["status"] = std::string(to_string(result.status));
  told["iterations"] = result.iterations;
  told["converged"] = result.converged;
  told["residuals"] = result.residuals;
  return told;
}

template <class F>
decltype(auto) visit_vector_type(DType dtype, const char* name, F&& f) {
  switch (dtype) {
    case DType::f64:
      return f(std::type_identity<double>{});
    case DType::f32:
      return f(std::type_identity<float>{});
    case DType::c64:
      return f(std::type_identity<std::complex<float>>{});
    case DType::c128:
      return f(std::type_identity<std::complex<double>>{});
    default:
      refuse_vector_type(dtype, name);
  }
}

template <class T>
MatrixView<T> columns_by_rows(nb::handle object, const char* name, const SolverPlace& place) {
  if (object.is_none()) return {};
  const Dense found =
      read_columns(object, name, place, kDType<std::remove_const_t<T>>, !std::is_const_v<T>);
  return {static_cast<T*>(found.data), found.rows, found.cols, found.ld, Layout::row};
}

}  // namespace lanky::python
