// lanky's exceptions as Python's: ValueError, MemoryError, and lanky.Error with its code.
#include "errors.hpp"

#include <nanobind/nanobind.h>

#include <array>
#include <cctype>
#include <cstddef>
#include <exception>
#include <lanky/error.hpp>
#include <string>

namespace lanky::python {

namespace nb = nanobind;

namespace {

/// A name of C++ that messages of the library have, up to the word that it qualifies, and what
/// stands around that word in Python.
struct Spelling {
  const char* cpp;
  const char* before;
  const char* after;
};
constexpr std::array<Spelling, 12> kSpellings{{
    {"Engine::automatic", "engine='auto'", ""},
    {"Engine::", "engine='", "'"},
    {"Math::", "math='", "'"},
    {"Duplicates::", "duplicates='", "'"},
    {"ReadOptions::", "the option ", ""},
    {"SparseOptions::", "the option ", ""},
    {"SddmmOptions::", "the option ", ""},
    {"GemmOptions::", "the option ", ""},
    {"EigenOptions::", "the option ", ""},
    {"LinearOptions::", "the option ", ""},
    {"SvdOptions::", "the option ", ""},
    {" (lanky::Buffer)", "", ""},
}};

/// The library's message in Python's words.
std::string in_python(std::string text) {
  for (const Spelling& spelling : kSpellings) {
    const std::string cpp = spelling.cpp;
    for (std::size_t at = text.find(cpp); at != std::string::npos; at = text.find(cpp, at)) {
      std::size_t end = at + cpp.size();
      if (cpp.ends_with("::")) {
        while (end < text.size() &&
               (std::isalnum(static_cast<unsigned char>(text[end])) != 0 || text[end] == '_'))
          ++end;
      }
      const std::string word = text.substr(at + cpp.size(), end - at - cpp.size());
      const std::string spelled = spelling.before + word + spelling.after;
      text.replace(at, end - at, spelled);
      at += spelled.size();
    }
  }
  return text;
}

void set_lanky_error(const Error& error) {
  const nb::object type = nb::module_::import_("lanky._errors").attr("Error");
  const std::string code(to_string(error.code()));
  const nb::object value = type(in_python(error.what()).c_str(), code.c_str());
  PyErr_SetObject(type.ptr(), value.ptr());
}

void set_error(const Error& error) {
  switch (error.code()) {
    case ErrorCode::invalid_argument:
    case ErrorCode::size_mismatch:
    case ErrorCode::wrong_memory:
      return PyErr_SetString(PyExc_ValueError, in_python(error.what()).c_str());
    case ErrorCode::out_of_memory:
      return PyErr_SetString(PyExc_MemoryError, in_python(error.what()).c_str());
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
