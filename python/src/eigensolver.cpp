// lanky::lobpcg() for Python.
#include <nanobind/nanobind.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <lanky/eigensolver.hpp>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "bindings.hpp"
#include "linear_operator.hpp"

namespace lanky::python {

namespace {

using namespace nb::literals;

template <class T>
LinearOperator<T> operator_or_none(const AnyOperator* given) {
  return given == nullptr ? LinearOperator<T>() : given->as<T>();
}

nb::dict lobpcg_of(const std::shared_ptr<const SolverPlace>& place, const AnyOperator& a,
                   const AnyOperator* b, const AnyOperator* preconditioner,
                   const AnyOperator* a_single, nb::handle constraints, nb::handle start,
                   std::int64_t k, bool largest, double tolerance, int max_iterations,
                   std::int64_t block_size, int polynomial_degree, std::uint64_t seed,
                   nb::handle progress) {
  return visit_vector_type(a.dtype(), "A", [&](auto type) {
    using T = typename decltype(type)::type;
    EigenProblem<T> problem{.a = a.as<T>(),
                            .b = operator_or_none<T>(b),
                            .preconditioner = operator_or_none<T>(preconditioner),
                            .a_single = operator_or_none<SingleOf<T>>(a_single)};
    problem.constraints = columns_by_rows<const T>(constraints, "Y", *place);
    problem.start = columns_by_rows<const T>(start, "X", *place);
    EigenOptions options;
    options.k = k;
    options.end = largest ? EigenEnd::largest : EigenEnd::smallest;
    options.tolerance = tolerance;
    if (max_iterations != 0) options.max_iterations = max_iterations;
    options.block_size = block_size;
    options.polynomial_degree = polynomial_degree;
    options.seed = seed;
    options.progress = on_progress(progress);
    options.allocator = place->allocator();
    std::optional<EigenResult<T>> found;
    {
      const nb::gil_scoped_release released;
      found.emplace(lobpcg(place->stream(), problem, options));
    }
    nb::dict told = told_of(*found);
    told["values"] = found->values;
    told["norm"] = found->norm;
    told["vectors"] = std::make_shared<Block>(place, std::move(found->vectors));
    return told;
  });
}

}  // namespace

void bind_eigensolver(nb::module_& module) {
  module.def(
      "eigen_columns", [](std::int64_t k) { return EigenOptions{.k = k}.columns(); }, "k"_a);
  module.def("lobpcg", &lobpcg_of, "place"_a, "a"_a, "b"_a.none(), "preconditioner"_a.none(),
             "a_single"_a.none(), "constraints"_a.none(), "start"_a.none(), nb::kw_only(), "k"_a,
             "largest"_a, "tolerance"_a, "max_iterations"_a, "block_size"_a, "polynomial_degree"_a,
             "seed"_a, "progress"_a.none());
}

}  // namespace lanky::python
