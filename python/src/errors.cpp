// lanky's exceptions as Python's: ValueError, MemoryError, and lanky.Error with its code.
#include "errors.hpp"

#include <nanobind/nanobind.h>

#include <exception>
#include <lanky/error.hpp>

namespace lanky::python {

namespace nb = nanobind;

namespace {

void set_lanky_error(const Error& error) {
  const nb::object type = nb::module_::import_("lanky._errors").attr("Error");
  const std::string code(to_string(error.code()));
  const nb::object value = type(error.what(), code.c_str());
  PyErr_SetObject(type.ptr(), value.ptr());
}

void set_error(const Error& error) {
  switch (error.code()) {
    case ErrorCode::invalid_argument:
    case ErrorCode::size_mismatch:
    case ErrorCode::wrong_memory:
      return PyErr_SetString(PyExc_ValueError, error.what());
    case ErrorCode::out_of_memory:
      return PyErr_SetString(PyExc_MemoryError, error.what());
    default:
      return set_lanky_error(error);
  }
}

}  // namespace

void translate_errors() {
  nb::register_exception_translator([](const std::exception_ptr& thrown, void*) {
    try {
      std::rethrow_exception(thrown);
    } catch (const Error& error) {
      set_error(error);
    }
  });
}

void throw_type_error(const std::string& message) {
  throw nb::type_error(message.c_str());
}

void throw_value_error(const std::string& message) {
  throw nb::value_error(message.c_str());
}

}  // namespace lanky::python
