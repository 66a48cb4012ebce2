// lanky's exceptions as Python's: ValueError, MemoryError, and lanky.Error with its code.
#pragma once

#include <Python.h>

#include <string>

namespace lanky::python {

/// From now on what lanky throws becomes: ValueError (invalid_argument, size_mismatch,
/// wrong_memory), MemoryError (out_of_memory), lanky.Error (all others).
void translate_errors();

[[noreturn]] void throw_type_error(const std::string& message);
[[noreturn]] void throw_value_error(const std::string& message);

}  // namespace lanky::python
