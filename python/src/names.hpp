// Attributes by interned names: a look-up of one that is known when the module is written makes no
// string.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>

namespace lanky::python {

namespace nb = nanobind;

/// An interned attribute name, made once and never freed.
class Name {
 public:
  explicit Name(const char* text) : text_(PyUnicode_InternFromString(text)) {}
  PyObject* ptr() const { return text_; }

 private:
  PyObject* text_;
};

inline nb::object get(nb::handle object, const Name& name) {
  PyObject* value = PyObject_GetAttr(object.ptr(), name.ptr());
  if (value == nullptr) throw nb::python_error();
  return nb::steal(value);
}

inline std::int64_t integer(nb::handle value) {
  const long long number = PyLong_AsLongLong(value.ptr());
  if (number == -1 && PyErr_Occurred() != nullptr) throw nb::python_error();
  return number;
}

}  // namespace lanky::python
