// lanky::svds() for Python.
#include <nanobind/nanobind.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <lanky/svd.hpp>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "bindings.hpp"
#include "linear_operator.hpp"

namespace lanky::python {

namespace {

using namespace nb::literals;

nb::dict svds_of(const std::shared_ptr<const SolverPlace>& place, const AnyOperator& a,
                 std::int64_t k, bool randomized, double tolerance, int max_iterations,
                 std::int64_t oversampling, int power_iterations, bool center, std::uint64_t seed,
                 nb::handle progress) {
  return visit_vector_type(a.dtype(), "A", [&](auto type) {
    using T = typename decltype(type)::type;
    SvdOptions options;
    options.k = k;
    options.method = randomized ? SvdMethod::randomized : SvdMethod::golub_kahan;
    options.tolerance = tolerance;
    if (max_iterations != 0) options.max_iterations = max_iterations;
    options.oversampling = oversampling;
    options.power_iterations = power_iterations;
    options.center = center;
    options.seed = seed;
    options.progress = on_progress(progress);
    options.allocator = place->allocator();
    const LinearOperator<T>& of = a.as<T>();
    std::optional<SvdResult<T>> found;
    {
      const nb::gil_scoped_release released;
      found.emplace(svds(place->stream(), of, options));
    }
    nb::dict told = told_of(*found);
    told["values"] = found->values;
    told["means"] = found->means;
    told["u"] = std::make_shared<Block>(place, std::move(found->u));
    told["v"] = std::make_shared<Block>(place, std::move(found->v));
    return told;
  });
}

}  // namespace

void bind_singular_values(nb::module_& module) {
  module.def("svds", &svds_of, "place"_a, "a"_a, nb::kw_only(), "k"_a, "randomized"_a,
             "tolerance"_a, "max_iterations"_a, "oversampling"_a, "power_iterations"_a, "center"_a,
             "seed"_a, "progress"_a.none());
}

}  // namespace lanky::python
