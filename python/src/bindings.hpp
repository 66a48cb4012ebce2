// The parts of the module lanky._core, one a source file.
#pragma once

#include <nanobind/nanobind.h>

namespace lanky::python {

void bind_sparse(nanobind::module_& module);
void bind_dense(nanobind::module_& module);
void bind_sampled(nanobind::module_& module);
void bind_operators(nanobind::module_& module);
void bind_eigensolver(nanobind::module_& module);
void bind_linear_solvers(nanobind::module_& module);
void bind_singular_values(nanobind::module_& module);
void bind_files(nanobind::module_& module);
void bind_devices(nanobind::module_& module);
void bind_collection(nanobind::module_& module);

}  // namespace lanky::python
