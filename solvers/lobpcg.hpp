// LOBPCG as the benchmark measures it.
#pragma once

#include <lanky/eigensolver.hpp>

namespace lanky::solvers {

/// lobpcg() whose dense products are those of the vendor's library, by its heuristic.
template <class T>
EigenResult<T> lobpcg_by_vendor(const Stream& stream, const EigenProblem<T>& problem,
                                const EigenOptions& options);

}  // namespace lanky::solvers
