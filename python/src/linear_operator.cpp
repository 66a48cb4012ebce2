// Operators, blocks of vectors and the places of solvers as Python holds them, with types known at
// run time.
#include "linear_operator.hpp"

#include <nanobind/ndarray.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <map>
#include <span>
#include <vector>

#include "bindings.hpp"
#include "csr.hpp"
#include "errors.hpp"
#include "operands.hpp"

namespace lanky::python {

namespace {

using namespace nb::literals;

/// The allocator of the caller's library. Its memory is for the stream that is current there, which
/// is the solver's.
class LibraryAllocator final : public Allocator {
 public:
  LibraryAllocator(Kind kind, int device) : kind_(kind), device_(device) {}

  void* allocate(std::size_t bytes, const Stream&) override {
    const nb::gil_scoped_acquire acquired;
    void* data = nullptr;
    nb::object memory = borrow_memory(kind_, device_, static_cast<std::int64_t>(bytes), &data);
    held_[data] = std::move(memory);
    return data;
  }
  void deallocate(void* data, std::size_t, const Stream&) noexcept override {
    const nb::gil_scoped_acquire acquired;
    held_.erase(data);
  }

 private:
  Kind kind_;
  int device_;
  std::map<void*, nb::object> held_;
};

/// An object of Python that is copied and let go of without the GIL.
std::shared_ptr<nb::object> shared(nb::handle object) {
  return {new nb::object(nb::borrow(object)), [](nb::object* held) {
            const nb::gil_scoped_acquire acquired;
            delete held;
          }};
}

template <class T>
typename LinearOperator<T>::Apply function_of(nb::handle function, int device) {
  if (function.is_none()) return {};
  return [held = shared(function), device](const Stream&, MatrixView<const T> x, MatrixView<T> y) {
    const nb::gil_scoped_acquire acquired;
    const auto array = [&](auto view) {
      return array_over(const_cast<T*>(view.data), view.rows, view.cols, view.ld, kDType<T>, device,
                        {});
    };
    (*held)(array(x), array(y));
  };
}

/// Calls function(X, Y) with arrays of NumPy or DLPack, which are of use in that call alone, and
/// writes to Y.
AnyOperator operator_of_functions(const std::string& name, const SolverPlace& place,
                                  nb::handle dtype, std::int64_t rows, std::int64_t cols,
                                  nb::handle apply, nb::handle adjoint) {
  return visit_vector_type(dtype_from(dtype), name.c_str(), [&](auto type) {
    using T = typename decltype(type)::type;
    return AnyOperator(name, LinearOperator<T>(rows, cols, function_of<T>(apply, place.device()),
                                               function_of<T>(adjoint, place.device())));
  });
}

/// What `make` returns of the stored elements as a CsrView<T>, without Python's lock.
template <class Make>
AnyOperator operator_of_csr(const std::string& name, nb::handle indptr, nb::handle indices,
                            nb::handle data, std::int64_t rows, std::int64_t cols,
                            const Make& make) {
  const CsrArrays csr = read_csr_arrays(indptr, indices, data, rows, cols);
  return visit_vector_type(dtype_of(csr.values), "A", [&](auto type) {
    using T = typename decltype(type)::type;
    const nb::gil_scoped_release released;
    return AnyOperator(name, make(csr.view<T>()));
  });
}

AnyOperator block_jacobi_of(const std::string& name, const SolverPlace& place, nb::handle indptr,
                            nb::handle indices, nb::handle data, std::int64_t rows,
                            std::int64_t cols, std::int64_t block_size) {
  return operator_of_csr(name, indptr, indices, data, rows, cols, [&](const auto& a) {
    return lanky::block_jacobi(place.stream(), a, block_size);
  });
}

AnyOperator single_operator_of(const std::string& name, const SolverPlace& place, nb::handle indptr,
                               nb::handle indices, nb::handle data, std::int64_t rows,
                               std::int64_t cols, std::int64_t columns) {
  return operator_of_csr(name, indptr, indices, data, rows, cols, [&](const auto& a) {
    return make_single_operator(place.stream(), a, columns);
  });
}

std::shared_ptr<Block> new_block(const std::shared_ptr<const SolverPlace>& place, nb::handle dtype,
                                 std::int64_t rows, std::int64_t cols) {
  return visit_vector_type(dtype_from(dtype), "A", [&](auto type) {
    using T = typename decltype(type)::type;
    Matrix<T> made(place->stream(), rows, cols, Layout::row, 0, place->allocator());
    made.buffer().fill_zero();
    return std::make_shared<Block>(place, std::move(made));
  });
}

}  // namespace

void refuse_vector_type(DType dtype, const char* name) {
  throw_type_error(std::string(name) + " is " + numpy_name(dtype) +
                   "; solvers compute in float64, float32, complex64 and complex128");
}

SolverPlace::SolverPlace(nb::handle device, nb::handle like, const char* name) {
  const Array array = read_array(like, name);
  device_ = device.is_none() ? array.device : device_index(device);
  require_place(array, device_, true);
  copies_ = device_ >= 0 && array.on_host();
  lane_ = new_lane(device_, array, nb::none());
  if (!array.on_host() && (array.kind == Kind::cupy || array.kind == Kind::torch))
    allocator_ = std::make_unique<LibraryAllocator>(array.kind, array.device);
}

DType AnyOperator::dtype() const {
  return std::visit([]<class T>(const LinearOperator<T>&) { return kDType<T>; }, made_);
}

void AnyOperator::refuse(DType wanted) const {
  throw_type_error(name_ + " is " + numpy_name(dtype()) + ", and A is " + numpy_name(wanted) +
                   "; both must be of one type");
}

nb::object array_over(void* data, std::int64_t rows, std::int64_t cols, std::int64_t ld,
                      DType dtype, int device, nb::handle owner) {
  const std::array<std::size_t, 2> shape{static_cast<std::size_t>(rows),
                                         static_cast<std::size_t>(cols)};
  const std::array<std::int64_t, 2> strides{ld, 1};
  constexpr int kCpu = 1;
  constexpr int kCuda = 2;
  const nb::dlpack::dtype type{
      static_cast<std::uint8_t>(is_complex(dtype) ? nb::dlpack::dtype_code::Complex
                                                  : nb::dlpack::dtype_code::Float),
      static_cast<std::uint8_t>(8 * size_of(dtype)), 1};
  const auto made = [&](auto framework) {
    using Framework = decltype(framework);
    return nb::cast(nb::ndarray<Framework>(data, 2, shape.data(), owner, strides.data(), type,
                                           device < 0 ? kCpu : kCuda, std::max(0, device)),
                    nb::rv_policy::reference);
  };
  return device < 0 ? made(nb::numpy()) : made(nb::array_api());
}

nb::object Block::array(nb::handle self) {
  return std::visit(
      [&]<class T>(Matrix<T>& made) {
        const MatrixView<T> of = made.view();
        return array_over(of.data, of.rows, of.cols, of.ld, kDType<T>, place_->device(), self);
      },
      made_);
}

void Block::copy_from_host(nb::handle source, const char* name) {
  const Array array = read_array(source, name);
  std::visit(
      [&]<class T>(Matrix<T>& made) {
        require_dtype(array, kDType<T>, {"A"});
        const Dense from = dense(array, Layout::row);
        made.buffer().copy_from(std::span(static_cast<const T*>(from.data),
                                          static_cast<std::size_t>(from.rows * from.cols)));
      },
      made_);
}

nb::object Block::to_host() const {
  return std::visit(
      []<class T>(const Matrix<T>& made) {
        auto values = std::make_unique<std::vector<T>>(made.buffer().to_host());
        T* const data = values->data();
        const nb::capsule owner(values.release(), [](void* held) noexcept {
          delete static_cast<std::vector<T>*>(held);
        });
        const MatrixView<const T> of = made.view();
        return array_over(data, of.rows, of.cols, of.ld, kDType<T>, -1, owner);
      },
      made_);
}

Dense read_columns(nb::handle object, const char* name, const SolverPlace& place, DType dtype,
                   bool writable) {
  const Array array = read_array(object, name);
  require_dtype(array, dtype, {"A"});
  if (array.device != place.device())
    throw_value_error(std::string(name) + " is on " + lanky::python::place(array.device) +
                      ", and A on " + lanky::python::place(place.device()));
  if (writable) require_writable(array);
  const Dense found = dense(array, Layout::row);
  if (found.layout != Layout::row)
    throw_value_error(std::string(name) + " has shape " + shape_text(array) +
                      "; its rows must be contiguous");
  return found;
}

OnProgress on_progress(nb::handle callback) {
  std::shared_ptr<nb::object> held;
  if (!callback.is_none()) held = shared(callback);
  return [held](const SolverProgress& progress) {
    const nb::gil_scoped_acquire acquired;
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
    if (held == nullptr) return true;
    try {
      const nb::object told = (*held)(progress);
      if (told.is_none()) return true;
      const int truth = PyObject_IsTrue(told.ptr());
      if (truth < 0) throw nb::python_error();
      return truth == 1;
    } catch (nb::python_error& error) {
      if (!error.matches(PyExc_StopIteration)) throw;
      return false;
    }
  };
}

void bind_operators(nb::module_& module) {
  nb::class_<SolverProgress>(module, "SolverProgress", "Where a solver stands after an iteration.")
      .def_ro("iteration", &SolverProgress::iteration)
      .def_ro("wanted", &SolverProgress::wanted)
      .def_ro("converged", &SolverProgress::converged)
      .def_ro("residual", &SolverProgress::residual)
      .def_ro("tolerance", &SolverProgress::tolerance)
      .def_ro("seconds", &SolverProgress::seconds);
  nb::class_<SolverPlace>(module, "SolverPlace", "The device and the stream of a solver.")
      .def(nb::init<nb::handle, nb::handle, const char*>(), "device"_a.none(), "like"_a, "name"_a)
      .def_prop_ro("copies", &SolverPlace::copies)
      .def_prop_ro("device", [](const SolverPlace& self) { return place(self.device()); });
  nb::class_<AnyOperator>(module, "Operator", "A linear operator of a solver.")
      .def_prop_ro("dtype_name", [](const AnyOperator& self) { return numpy_name(self.dtype()); });
  nb::class_<Block>(module, "Block", "Vectors of a solver, by rows.")
      .def("array", [](nb::object self) { return nb::cast<Block&>(self).array(self); })
      .def("copy_from_host", &Block::copy_from_host, "source"_a, "name"_a)
      .def("to_host", &Block::to_host);
  module.def(
      "require_type",
      [](nb::handle array, const char* name, nb::handle dtype) {
        require_dtype(read_array(array, name), dtype_from(dtype), {"A"});
      },
      "array"_a.none(), "name"_a, "dtype"_a);
  module.def("new_block", &new_block, "place"_a, "dtype"_a, "rows"_a, "cols"_a);
  module.def("operator_of_functions", &operator_of_functions, "name"_a, "place"_a, "dtype"_a,
             "rows"_a, "cols"_a, "apply"_a, "adjoint"_a.none());
  module.def("block_jacobi", &block_jacobi_of, "name"_a, "place"_a, "indptr"_a, "indices"_a,
             "data"_a, "rows"_a, "cols"_a, "block_size"_a);
  module.def("single_operator", &single_operator_of, "name"_a, "place"_a, "indptr"_a, "indices"_a,
             "data"_a, "rows"_a, "cols"_a, "columns"_a);
}

}  // namespace lanky::python
