// Eigenproblems so small that operators are multiplied with the identity, and solved whole on the
// host.
#pragma once

#include <lanky/eigensolver.hpp>

namespace lanky::solvers {

template <class T>
EigenResult<T> dense_solution(const Stream& stream, const EigenProblem<T>& problem,
                              const EigenOptions& options);

}  // namespace lanky::solvers
