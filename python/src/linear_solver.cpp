// lanky::cg(), block_cg() and minres() for Python.
#include <nanobind/nanobind.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <lanky/linear_solver.hpp>
#include <memory>
#include <string>

#include "bindings.hpp"
#include "errors.hpp"
#include "linear_operator.hpp"

namespace lanky::python {

namespace {

using namespace nb::literals;

/// X, a Block, holds the first approximations and then the solutions.
nb::dict solve(const std::string& method, const std::shared_ptr<const SolverPlace>& place,
               const AnyOperator& a, nb::handle b, Block& x, const AnyOperator* preconditioner,
               double tolerance, double absolute_tolerance, int max_iterations,
               nb::handle progress) {
  return visit_vector_type(a.dtype(), "A", [&](auto type) {
    using T = typename decltype(type)::type;
    const auto solver = method == "cg"         ? &cg<T>
                        : method == "block_cg" ? &block_cg<T>
                        : method == "minres"   ? &minres<T>
                                               : nullptr;
    if (solver == nullptr) throw_value_error("no linear solver is named \"" + method + "\"");
    const LinearOperator<T> operators[2]{
        a.as<T>(), preconditioner == nullptr ? LinearOperator<T>() : preconditioner->as<T>()};
    const MatrixView<const T> sides = columns_by_rows<const T>(b, "b", *place);
    LinearOptions options;
    options.tolerance = tolerance;
    options.absolute_tolerance = absolute_tolerance;
    options.max_iterations = max_iterations;
    options.progress = on_progress(progress);
    options.allocator = place->allocator();
    LinearResult found;
    {
      const nb::gil_scoped_release released;
      found = solver(place->stream(), operators[0], sides, x.view<T>(), options, operators[1]);
    }
    return told_of(found);
  });
}

}  // namespace

void bind_linear_solvers(nb::module_& module) {
  module.def("solve", &solve, "method"_a, "place"_a, "a"_a, "b"_a, "x"_a, "preconditioner"_a.none(),
             nb::kw_only(), "tolerance"_a, "absolute_tolerance"_a, "max_iterations"_a,
             "progress"_a.none());
}

}  // namespace lanky::python
